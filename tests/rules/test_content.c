/* SPDX-License-Identifier: Apache-2.0 */
/* GM105 and GM106: whether the device still holds the bytes, how sure that is, and what it costs. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "analyzer/base/kernel_name.h"
#include "analyzer/memory/content.h"
#include "tests/rules/fixture.h"

static struct gmt_fixture fixture;

static const struct gmt_finding *only_finding(const char *name, const char *rule, const char *sql)
{
    gmt_fixture_load(&fixture, name);
    if (sql != NULL) {
        gmt_fixture_sql(&fixture, sql);
    }
    gmt_fixture_analyze(&fixture, rule);
    if (rule == NULL) { /* all rules: some have notes about the fixture */
        fixture.report.note_count = 0;
    }
    cr_assert_eq(fixture.report.finding_count + fixture.report.note_count, 1, "%s: %s", rule,
                 gmt_fixture_found(&fixture.report));
    return fixture.report.finding_count == 1 ? &fixture.report.findings[0]
                                             : &fixture.report.notes[0];
}

static void expect_nothing(const char *name, const char *rule, const char *sql,
                           enum gmt_outcome outcome)
{
    gmt_fixture_load(&fixture, name);
    gmt_fixture_sql(&fixture, sql);
    gmt_fixture_analyze(&fixture, rule);
    cr_expect_eq(fixture.report.finding_count + fixture.report.note_count, 0, "%s: %s", rule,
                 gmt_fixture_found(&fixture.report));
    cr_expect_eq(fixture.report.rules[0].outcome, outcome, "%d",
                 (int)fixture.report.rules[0].outcome);
    gmt_fixture_free(&fixture);
}

static void expect_same_by_sql(const struct gmt_finding *f, double copies, double bytes)
{
    sqlite3_stmt *row;
    cr_assert_eq(sqlite3_prepare_v2(fixture.db, f->sql, -1, &row, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_step(row), SQLITE_ROW);
    cr_expect_float_eq(sqlite3_column_double(row, 0), copies, 0.1);
    cr_expect_float_eq(sqlite3_column_double(row, 1), bytes, 0.1);
    sqlite3_finalize(row);
}

Test(content, prices_verified_repeats_with_what_they_took)
{
    const struct gmt_finding *f = only_finding("fixtures/GM105_positive", "GM105", NULL);
    cr_expect_float_eq(gmt_fixture_evidence(f, "repeated_copies"), 19, 0);
    cr_expect_float_eq(gmt_fixture_evidence(f, "uploads"), 20, 0);
    cr_expect_float_eq(gmt_fixture_evidence(f, "places"), 1, 0);
    cr_expect_float_eq(gmt_fixture_evidence(f, "verified_copies"), 19, 0);
    cr_expect_float_eq(gmt_fixture_evidence(f, "doubtful_copies"), 0, 0);
    cr_expect_null(strstr(f->headline, "samples"), "%s", f->headline);
    cr_expect_float_eq(f->saving.best_ns, 19 * 300e3, 1);
    cr_expect_eq(f->confidence, GMT_CONFIDENCE_MEASURED);
    expect_same_by_sql(f, 19, 19 * 16777216.0);
    gmt_fixture_free(&fixture);
}

Test(content, doubts_what_a_kernel_may_have_written)
{
    const struct gmt_finding *f = only_finding(
        "fixtures/GM105_positive", "GM105",
        "DELETE FROM launch WHERE seq > 10;"
        "UPDATE kernel SET name = 'work' WHERE id = 1"); /* extern "C": no signature */
    cr_expect_float_eq(gmt_fixture_evidence(f, "doubtful_copies"), 10, 0);
    cr_expect_float_eq(f->saving.low_ns, 9 * 300e3, 1);
    cr_expect_float_eq(f->saving.best_ns, 19 * 300e3, 1);
    cr_expect_eq(f->confidence, GMT_CONFIDENCE_HEURISTIC);
    cr_expect_not_null(strstr(f->fix, "work got a pointer to it"), "%s", f->fix);
    gmt_fixture_free(&fixture);
}

Test(content, doubts_everything_after_a_launch_of_unknown_arguments)
{
    const struct gmt_finding *f = only_finding(
        "fixtures/GM105_positive", "GM105",
        "UPDATE launch SET arguments = 'unknown', argument_set_id = NULL WHERE seq > 15");
    cr_expect_float_eq(gmt_fixture_evidence(f, "doubtful_copies"), 4,
                       0); /* the last launch comes last */
    cr_expect_not_null(strstr(f->fix, "unknown arguments"), "%s", f->fix);
    gmt_fixture_free(&fixture);
}

Test(content, is_silent_where_the_kernel_writes_what_is_read_back)
{
    expect_nothing(
        "fixtures/GM105_positive", "GM105",
        "UPDATE launch_argument SET parameter = 0 WHERE allocation_id = 7;"
        "DELETE FROM transfer WHERE id > 10; INSERT INTO transfer (id, api_id, begin_ns,"
        "end_ns, result, capturing, direction, blocking, bytes, dst, src, dst_class,"
        "src_class, src_allocation_id) VALUES (99, 2, 50000000, 50000100, 0, 0, 'd2h', 1,"
        "64, 8, 1048640, 'pageable', 'device', 7)",
        GMT_OUTCOME_PASS);
}

/* A download shows that the kernel wrote nothing: no doubt is left. */
Test(content, believes_a_download_of_the_same_bytes)
{
    const struct gmt_finding *f = only_finding(
        "fixtures/GM105_positive", "GM105",
        "UPDATE kernel SET name = 'work' WHERE id = 1; DELETE FROM transfer WHERE id > 2;"
        "INSERT INTO transfer (id, api_id, begin_ns, end_ns, result, capturing, direction, "
        "blocking, stream_id,"
        "bytes, dst, src, dst_class, src_class, src_allocation_id) VALUES (99, 2, 2900000, 2950000,"
        "0, 0, 'd2h', 1, 1, 16777216, 999999488, 1048576, 'pageable', 'device', 7);"
        "INSERT INTO fingerprint (transfer_id, hash, bytes_hashed, whole) VALUES"
        "(99, '000102030405060708090a0b0c0d0e0f', 16777216, 1)");
    cr_expect_float_eq(gmt_fixture_evidence(f, "repeated_copies"), 1, 0);
    cr_expect_float_eq(gmt_fixture_evidence(f, "doubtful_copies"), 0, 0);
    gmt_fixture_free(&fixture);
}

Test(content, verifies_nothing_by_samples)
{
    const struct gmt_finding *f = only_finding(
        "fixtures/GM105_positive", "GM105",
        "UPDATE fingerprint SET whole = 0, bytes_hashed = 262144");
    cr_expect_float_eq(gmt_fixture_evidence(f, "verified_copies"), 0, 0);
    cr_expect_not_null(strstr(f->headline, "judged by samples"), "%s", f->headline);
    cr_expect_float_eq(f->saving.low_ns, 0, 0);
    cr_expect_eq(f->confidence, GMT_CONFIDENCE_HEURISTIC);
    gmt_fixture_free(&fixture);
}

Test(content, compares_no_sample_with_a_whole)
{
    expect_nothing(
        "fixtures/GM105_positive", "GM105",
        "UPDATE fingerprint SET whole = 0, bytes_hashed = 262144 WHERE transfer_id % 2 = 1",
        GMT_OUTCOME_COULD_NOT_CHECK);
}

Test(content, cannot_be_checked_without_fingerprints)
{
    static const char *const none[] = {
        "DELETE FROM fingerprint", "DROP VIEW v_fingerprint; DROP TABLE fingerprint",
        "UPDATE fingerprint SET hash = NULL, whole = NULL, bytes_hashed = NULL, "
        "skipped = 'over_budget'"};
    for (size_t i = 0; i < 3; i++) {
        expect_nothing("fixtures/GM105_positive", "GM105", none[i], GMT_OUTCOME_COULD_NOT_CHECK);
        expect_nothing("fixtures/GM106_positive", "GM106", none[i], GMT_OUTCOME_COULD_NOT_CHECK);
    }
}

/* Nothing is uploaded twice to a place: nothing is missing, either. */
Test(content, needs_no_fingerprints_of_copies_to_different_places)
{
    expect_nothing("fixtures/GM105_positive", "GM105",
                   "DELETE FROM fingerprint; UPDATE transfer SET dst = dst + 16 * id, bytes = 16",
                   GMT_OUTCOME_NOT_APPLICABLE);
}

Test(content, saves_nothing_behind_kernels)
{
    /* Asynchronous: 0.3 ms on the device each, 0.2 ms of it while a kernel runs; 284.4 us by the model,
     * as the buffer would not have been hashed. */
    const struct gmt_finding *f = only_finding(
        "fixtures/GM105_positive", "GM105",
        "DELETE FROM transfer WHERE id > 11; UPDATE transfer SET blocking = 0, end_ns = begin_ns + "
        "2000, device_start_ns = 2410000 + (id - 2) * 2000000, device_end_ns = 2710000 + (id - 2) "
        "* "
        "2000000; UPDATE launch SET device_end_ns = 2610000 + (seq - 1) * 2000000, device_start_ns "
        "="
        "1510000 + (seq - 1) * 2000000 WHERE seq > 0; UPDATE launch SET measured = NULL");
    cr_expect_float_eq(gmt_fixture_evidence(f, "hidden_behind_kernels"), 10 * 200e3, 1);
    cr_expect_float_eq(f->saving.best_ns, 10 * (284400 - 200e3), 1);
    cr_expect_float_eq(f->saving.high_ns, 1.05 * 10 * (284400 - 200e3), 1);
    cr_expect_float_eq(f->saving.low_ns, 0, 0);
    cr_expect_not_null(strstr(f->method, "overlap with kernels"), "%s", f->method);
    gmt_fixture_free(&fixture);
}

Test(content, counts_both_ways_of_a_round_trip)
{
    const struct gmt_finding *f = only_finding("fixtures/GM106_positive", "GM106", NULL);
    cr_expect_float_eq(gmt_fixture_evidence(f, "round_trips"), 10, 0);
    cr_expect_float_eq(gmt_fixture_evidence(f, "downloads"), 10, 0);
    cr_expect_float_eq(f->saving.low_ns, 10 * 300e3, 1);
    cr_expect_float_eq(f->saving.best_ns, 20 * 300e3, 1);
    cr_expect_eq(f->confidence, GMT_CONFIDENCE_MEASURED);
    expect_same_by_sql(f, 10, 10 * 16777216.0);
    gmt_fixture_free(&fixture);
}

/* Back to the same place: one finding, of the rule that names both copies. */
Test(content, reports_a_round_trip_to_the_same_place_once)
{
    const struct gmt_finding *f = only_finding(
        "fixtures/GM106_positive", NULL,
        "UPDATE transfer SET dst = 1048576, dst_allocation_id = 7 WHERE direction = 'h2d'");
    cr_expect_str_eq(f->rule, "GM106");
    cr_expect_float_eq(gmt_fixture_evidence(f, "back_to_the_same_place"), 10, 0);
    gmt_fixture_free(&fixture);
}

/* The host did not wait for the download: the upload's fingerprint may be of older bytes. */
Test(content, distrusts_a_buffer_that_a_stream_may_still_write)
{
    const char *late =
        "INSERT INTO host_allocation (id, kind, address, bytes) VALUES (9, 'pinned', "
        "4294967296, 16777216); UPDATE transfer SET blocking = 0; UPDATE transfer SET "
        "dst_allocation_id = 9 WHERE direction = 'd2h'; UPDATE transfer SET "
        "src_allocation_id = 9 WHERE direction = 'h2d'";
    expect_nothing("fixtures/GM106_positive", "GM106", late, GMT_OUTCOME_COULD_NOT_CHECK);
    gmt_fixture_load(&fixture, "fixtures/GM106_positive");
    gmt_fixture_sql(&fixture, late);
    gmt_fixture_sql(&fixture,
                    "INSERT INTO sync (id, begin_ns, end_ns, result, capturing, stream_id, kind) "
                    "SELECT 1000 + id, end_ns + 1, end_ns + 2, 0, 0, 1, 'stream' FROM transfer");
    gmt_fixture_analyze(&fixture, "GM106");
    cr_expect_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
}

/* Between two devices, dropping the copies is no way out. */
Test(content, leaves_copies_between_devices_alone)
{
    expect_nothing(
        "fixtures/GM106_positive", "GM106",
        "INSERT INTO device (id, name) VALUES (1, 'Test GPU'); INSERT INTO context VALUES "
        "(2, 1, 2); UPDATE allocation SET context_id = id - 6",
        GMT_OUTCOME_PASS);
}

/* A recorder writes no context for memory that it did not see allocated. */
Test(content, leaves_copies_to_a_device_that_is_not_known_alone)
{
    expect_nothing("fixtures/GM106_positive", "GM106",
                   "INSERT INTO device (id, name) VALUES (1, 'Test GPU');"
                   "UPDATE allocation SET context_id = 1 WHERE id = 7",
                   GMT_OUTCOME_PASS);
}

Test(content, reads_signatures)
{
    static const char signature[] =
        "void scale<float, 4>(float*, float const*, std::pair<int, float "
        "const*>, float const* const*, void (*)(int, int), int const*)";
    static const bool is_const[] = {false, true, false, false, false, true, false};
    for (int i = 0; i < 7; i++) {
        cr_expect_eq(gmt_parameter_is_const(signature, i), is_const[i], "parameter %d", i);
    }
    cr_expect_not(gmt_parameter_is_const("work", 0));
    cr_expect_not(gmt_parameter_is_const("", 0));
    cr_expect_not(gmt_parameter_is_const("work()", 0));
    cr_expect_not(gmt_parameter_is_const("work(int const*", 0));
    cr_expect_not(gmt_parameter_is_const("int const*)", 0));
}

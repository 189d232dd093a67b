/* SPDX-License-Identifier: Apache-2.0 */
/* GM105, GM106, GM117: what copies that hashing had no time for count for, beside those that were compared. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "analyzer/rules/common/unhashed.h"
#include "tests/rules/fixture.h"

static struct gmt_fixture fixture;

static void free_fixture(void)
{
    gmt_fixture_free(&fixture);
}

TestSuite(unhashed, .fini = free_fixture);

/* What each copy of the fixtures takes. */
#define COPY_NS 300e3
#define SKIP(WHY) \
    "UPDATE fingerprint SET hash = NULL, whole = NULL, bytes_hashed = NULL, skipped = '" WHY "' "
#define NO_TIME SKIP("over_budget")
#define OTHER_PRINT "UPDATE fingerprint SET hash = printf('%032x', 1000 + transfer_id) "

static const struct gmt_finding *only(const char *rule, const char *sql)
{
    gmt_fixture_load_positive(&fixture, rule, sql);
    return gmt_fixture_only(&fixture, rule);
}

static void expect_saving(const struct gmt_finding *f, double low, double best)
{
    cr_expect_float_eq(f->saving.low_ns, low * COPY_NS, 1, "low: %g", f->saving.low_ns / COPY_NS);
    cr_expect_float_eq(f->saving.best_ns, best * COPY_NS, 1, "best: %g",
                       f->saving.best_ns / COPY_NS);
}

static void expect_counts(const struct gmt_finding *f, double repeated, double compared,
                          double open)
{
    cr_expect_float_eq(gmt_fixture_evidence(f, "compared_and_repeated"), repeated, 0, "%g",
                       gmt_fixture_evidence(f, "compared_and_repeated"));
    cr_expect_float_eq(gmt_fixture_evidence(f, "compared"), compared, 0, "%g",
                       gmt_fixture_evidence(f, "compared"));
    cr_expect_float_eq(gmt_fixture_evidence(f, "not_hashed"), open, 0, "%g",
                       gmt_fixture_evidence(f, "not_hashed"));
}

/* Brown, Cai, DasGupta, "Interval Estimation for a Binomial Proportion": of n of n, n / (n + z^2). */
Test(unhashed, limits_of_a_share_are_wilsons)
{
    cr_expect_float_eq(gmt_wilson_limits(18, 18).low, 18 / (18 + 1.96 * 1.96), 1e-12);
    cr_expect_float_eq(gmt_wilson_limits(18, 18).high, 1, 0);
    cr_expect_float_eq(gmt_wilson_limits(0, 5).low, 0, 0);
    cr_expect_float_eq(gmt_wilson_limits(0, 5).high, 1.96 * 1.96 / (5 + 1.96 * 1.96), 1e-12);
    cr_expect_float_eq(gmt_wilson_limits(9, 10).low, 0.5958, 1e-4);
    cr_expect_float_eq(gmt_wilson_limits(9, 10).high, 0.9821, 1e-4);
}

Test(unhashed, uploads_count_by_those_that_were_compared)
{
    const struct gmt_finding *f = only("GM105", NO_TIME "WHERE transfer_id > 7");

    expect_counts(f, 6, 6, 13);
    expect_saving(f, 6 + 13 * gmt_wilson_limits(6, 6).low, 19);
    cr_expect_float_eq(gmt_fixture_evidence(f, "repeated_copies"), 6, 0);
    cr_expect_float_eq(gmt_fixture_evidence(f, "estimated_bytes"), 13 * 16777216.0, 0);
    cr_expect_float_eq(f->cost_ns, 19 * COPY_NS, 1);
    cr_expect_eq(f->confidence, GMT_CONFIDENCE_HEURISTIC);
    cr_expect_not_null(strstr(f->headline,
                              "about 19 of 20 uploads (304 MiB) bring bytes that the device "
                              "holds already (6 of 6 that could be compared, an estimate for 13 "
                              "that hashing had no time for): 5.70 ms"),
                       "%s", f->headline);
    cr_expect_not_null(strstr(f->method, "95 % interval"), "%s", f->method);
    cr_expect_not_null(strstr(f->sketch, "19 copies less"), "%s", f->sketch);
}

/* Why there is no fingerprint matters: such copies may differ from those that have one. */
Test(unhashed, copies_without_fingerprint_for_other_reasons_are_left_out)
{
    static const char *const other[] = {
        SKIP("unreadable") "WHERE transfer_id > 7", SKIP("asynchronous") "WHERE transfer_id > 7",
        "DELETE FROM fingerprint WHERE transfer_id > 7",
        /* One of both was not readable. */
        SKIP("unreadable") "WHERE transfer_id > 7 AND transfer_id % 2 = 0;" NO_TIME
                           "WHERE transfer_id > 8 AND transfer_id % 2 = 1"};

    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
        const struct gmt_finding *f = only("GM105", other[i]);

        expect_saving(f, 6, 6);
        cr_expect(isnan(gmt_fixture_evidence(f, "not_hashed")), "%s", other[i]);
        cr_expect_null(strstr(f->headline, "about"), "%s", f->headline);
        free_fixture();
    }
    gmt_fixture_load(&fixture, "fixtures/GM105_positive");
}

Test(unhashed, new_bytes_among_the_compared_ones_lower_the_share)
{
    /* 4 and 8 bring other bytes, and 5 and 9 the old ones again. */
    const struct gmt_finding *f = only("GM105", NO_TIME "WHERE transfer_id > 11;" OTHER_PRINT
                                                        "WHERE transfer_id IN (4, 8)");

    expect_counts(f, 6, 10, 9);
    expect_saving(f, 6 + 9 * gmt_wilson_limits(6, 10).low, 6 + 9 * 0.6);
    cr_expect_float_eq(f->saving.high_ns, (6 + 9 * gmt_wilson_limits(6, 10).high) * COPY_NS, 1);
}

/* All is hashed while the program starts, and later one copy now and then: it is compared across the others. */
Test(unhashed, what_changes_later_is_seen_across_copies_without_fingerprint)
{
    const struct gmt_finding *f = only("GM105", NO_TIME
                                       "WHERE transfer_id > 3 AND transfer_id % 4 != 3;" OTHER_PRINT
                                       "WHERE transfer_id > 3 AND transfer_id % 4 = 3");

    expect_counts(f, 2, 6, 17);
    expect_saving(f, 2 + 17 * gmt_wilson_limits(2, 6).low, 2 + 17 / 3.0);
    free_fixture();
    f = only("GM105", NO_TIME "WHERE transfer_id > 3 AND transfer_id % 4 != 3");
    expect_counts(f, 6, 6, 17);
}

/* Of another buffer, or another size, nothing is known. */
Test(unhashed, copies_to_other_memory_count_for_themselves)
{
    const struct gmt_finding *f = only(
        "GM105",
        NO_TIME "WHERE transfer_id > 10 OR transfer_id % 2 = 1;"
                "UPDATE transfer SET dst = 33554432, dst_allocation_id = 8 WHERE id % 2 = 1");

    /* 4, 6, 8 and 10 repeat 2; 12 to 20 are open. */
    expect_counts(f, 4, 4, 5);
    expect_saving(f, 4 + 5 * gmt_wilson_limits(4, 4).low, 9);
    free_fixture();
    f = only("GM105", NO_TIME "WHERE transfer_id > 10; UPDATE transfer SET bytes = 4096 WHERE id "
                              "> 10; UPDATE fingerprint SET bytes_hashed = 4096 WHERE transfer_id "
                              "> 10");
    cr_expect(isnan(gmt_fixture_evidence(f, "not_hashed")));
}

Test(unhashed, samples_and_doubts_leave_no_lower_end)
{
    const struct gmt_finding *f = only("GM105", NO_TIME
                                       "WHERE transfer_id > 7; UPDATE fingerprint SET whole = 0, "
                                       "bytes_hashed = 262144 WHERE transfer_id <= 7");

    expect_saving(f, 0, 19);
    free_fixture();
    f = only("GM105", NO_TIME "WHERE transfer_id > 7; UPDATE kernel SET name = 'work' WHERE id = 1;"
                              "DELETE FROM launch WHERE begin_ns < 13000000");
    expect_saving(f, 6, 19);
    cr_expect_not_null(strstr(f->headline, "may still hold"), "%s", f->headline);
    cr_expect_not_null(strstr(f->fix, "work got a pointer to it"), "%s", f->fix);
}

Test(unhashed, what_comes_back_counts_by_the_round_trips_that_were_compared)
{
    /* Neither way of the last six has a fingerprint. */
    const struct gmt_finding *f = only("GM106", NO_TIME "WHERE transfer_id > 8");

    expect_counts(f, 4, 4, 6);
    expect_saving(f, 4 + 6 * gmt_wilson_limits(4, 4).low, 20);
    cr_expect_not_null(strstr(f->headline, "about 10 results (160 MiB) go to the host and come "
                                           "back unchanged (4 of 4"),
                       "%s", f->headline);
    free_fixture();
    /* The same where one way has one. */
    f = only("GM106", NO_TIME "WHERE transfer_id > 8 AND transfer_id % 2 = 0");
    expect_counts(f, 4, 4, 6);
    expect_saving(f, 4 + 6 * gmt_wilson_limits(4, 4).low, 20);
    free_fixture();
    f = only("GM106", NO_TIME "WHERE transfer_id > 8; " OTHER_PRINT "WHERE transfer_id = 2");
    expect_counts(f, 3, 4, 6);
    expect_saving(f, 3 + 6 * gmt_wilson_limits(3, 4).low, 6 + 0.75 * 12);
}

/* What was written over, or freed, before it came back was kept on the host on purpose. */
Test(unhashed, only_what_is_still_there_comes_back)
{
    static const char fill[] =
        "INSERT INTO memset (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, "
        "result, capturing, bytes, dst, dst_allocation_id, dst_class, value, element_bytes) SELECT "
        "5000 + id, 1, 1, 1, 1, end_ns + 10, end_ns + 20, 0, 0, 16, 1048576, 7, 'device', 0, 1 "
        "FROM transfer WHERE direction = 'd2h' AND id > 8;";
    static const char *const skipped[] = {NO_TIME "WHERE transfer_id > 8",
                                          NO_TIME "WHERE transfer_id > 8 AND transfer_id % 2 = 0"};

    for (size_t i = 0; i < 2; i++) {
        gmt_fixture_load(&fixture, "fixtures/GM106_positive");
        gmt_fixture_sql(&fixture, skipped[i]);
        gmt_fixture_sql(&fixture, fill);
        const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM106");
        cr_expect(isnan(gmt_fixture_evidence(f, "not_hashed")), "%zu", i);
        expect_saving(f, 4, 8);
        free_fixture();
    }
    /* A later download shows other bytes there. */
    gmt_fixture_load(&fixture, "fixtures/GM106_positive");
    gmt_fixture_sql(&fixture, skipped[1]);
    gmt_fixture_sql(
        &fixture,
        "INSERT INTO transfer (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, "
        "result, capturing, direction, blocking, bytes, dst, src, dst_class, src_class, "
        "src_allocation_id) SELECT 600 + id, 2, 1, 1, 1, end_ns + 10, end_ns + 20, 0, 0, 'd2h', 1, "
        "bytes, 9999998976, src, 'pageable', 'device', 7 FROM transfer WHERE direction = 'd2h' AND "
        "id > 8; INSERT INTO fingerprint (transfer_id, hash, bytes_hashed, whole) SELECT id, "
        "printf('%032x', id), bytes, 1 FROM transfer WHERE id > 600");
    cr_expect(isnan(gmt_fixture_evidence(gmt_fixture_only(&fixture, "GM106"), "not_hashed")));
    free_fixture();
    /* A kernel that may have written there leaves a doubt. */
    const struct gmt_finding *f = only(
        "GM106", NO_TIME "WHERE transfer_id > 8; UPDATE launch SET begin_ns = begin_ns + 2850000, "
                         "end_ns = end_ns + 2850000 WHERE seq > 3");
    expect_counts(f, 4, 4, 6);
    expect_saving(f, 4, 20);
}

Test(unhashed, downloads_count_by_those_that_were_compared)
{
    const struct gmt_finding *f = only("GM117", NO_TIME "WHERE transfer_id > 5");

    expect_counts(f, 4, 4, 6);
    expect_saving(f, 0, 10);
    cr_expect_eq(f->confidence, GMT_CONFIDENCE_HEURISTIC);
    cr_expect_not_null(strstr(f->headline, "about 10 of 10 downloads (160 MiB) bring bytes that "
                                           "the host has already (4 of 4"),
                       "%s", f->headline);
    free_fixture();
    /* One goes to a buffer of which nothing is known. */
    f = only("GM117", NO_TIME
             "WHERE transfer_id > 5; UPDATE transfer SET dst = dst + 67108864 WHERE id = 8");
    expect_counts(f, 4, 4, 5);
    free_fixture();
    /* Before one, the host sends its buffer elsewhere: it may have changed it. */
    f = only("GM117",
             NO_TIME "WHERE transfer_id > 5; INSERT INTO transfer (id, api_id, thread_id, "
                     "context_id, stream_id, begin_ns, end_ns, result, capturing, direction, "
                     "blocking, bytes, dst, src, dst_class, src_class, dst_allocation_id) VALUES "
                     "(600, 1, 1, 1, 1, 13000000, 13000100, 0, 0, 'h2d', 1, 16777216, 33554432, "
                     "4294967296, 'device', 'pinned', 8); INSERT INTO fingerprint (transfer_id, "
                     "skipped) VALUES (600, 'over_budget')");
    expect_counts(f, 4, 4, 5);
    free_fixture();
    f = only("GM117", SKIP("unreadable") "WHERE transfer_id > 5");
    cr_expect(isnan(gmt_fixture_evidence(f, "not_hashed")));
    expect_saving(f, 0, 4);
}

/* What a kernel may have written is new, whether there was time to look or not. */
Test(unhashed, downloads_of_what_kernels_may_write_are_left_out)
{
    const struct gmt_finding *f = only(
        "GM117", NO_TIME "WHERE transfer_id > 5;"
                         "UPDATE launch SET arguments = 'unknown', argument_set_id = NULL "
                         "WHERE seq > 4");

    cr_expect(isnan(gmt_fixture_evidence(f, "not_hashed")), "%s", f->headline);
}

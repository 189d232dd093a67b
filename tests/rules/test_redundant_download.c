/* SPDX-License-Identifier: Apache-2.0 */
/* GM117: what it says of downloads that bring nothing new, and that it is quiet where they may. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/rules/fixture.h"

static struct gmt_fixture fixture;

static void analyze(const char *sql)
{
    gmt_fixture_load_positive(&fixture, "GM117", sql);
    gmt_fixture_analyze(&fixture, "GM117");
}

static void expect_quiet(const char *sql, enum gmt_outcome outcome)
{
    analyze(sql);
    cr_expect_eq(fixture.report.finding_count + fixture.report.note_count, 0, "%s: %s", sql,
                 gmt_fixture_found(&fixture.report));
    cr_expect_eq(fixture.report.rules[0].outcome, outcome, "%s: %d", sql,
                 (int)fixture.report.rules[0].outcome);
    gmt_fixture_free(&fixture);
}

static void expect_copies(const char *sql, double copies)
{
    analyze(sql);
    cr_assert_eq(fixture.report.finding_count, 1, "%s: %s", sql,
                 gmt_fixture_found(&fixture.report));
    cr_expect_float_eq(gmt_fixture_evidence(&fixture.report.findings[0], "redundant_copies"),
                       copies, 0, "%s: %g", sql,
                       gmt_fixture_evidence(&fixture.report.findings[0], "redundant_copies"));
    gmt_fixture_free(&fixture);
}

/* A download of the bytes of the second allocation to the same buffer of the host, after the launch. */
#define OTHER_DOWNLOAD(AT, PRINT) \
    "INSERT INTO transfer (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, " \
    "result, " \
    "stack_id, capturing, direction, blocking, bytes, dst, src, dst_class, src_class, " \
    "src_allocation_id) VALUES (500, 2, 1, 1, 1, " AT ", " AT " + 100, 0, NULL, 0, 'd2h', 1, " \
    "16777216, 4294967296, 33554432, 'pinned', 'device', 8);" \
    "INSERT INTO fingerprint (transfer_id, hash, bytes_hashed, whole) VALUES (500, '" PRINT \
    "', 16777216, 1);"
#define SAME_PRINT "000102030405060708090a0b0c0d0e0f"
#define OTHER_PRINT "ff0102030405060708090a0b0c0d0e0f"

Test(redundant_download, takes_the_copies_for_what_they_took)
{
    analyze("");
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    const struct gmt_finding *f = &fixture.report.findings[0];
    cr_expect_float_eq(gmt_fixture_evidence(f, "redundant_copies"), 10, 0);
    cr_expect_float_eq(gmt_fixture_evidence(f, "sent_by_the_host"), 1, 0);
    cr_expect_float_eq(f->saving.best_ns, 10 * 300e3, 1);
    cr_expect_float_eq(f->saving.low_ns, 0, 0);
    cr_expect_eq(f->confidence, GMT_CONFIDENCE_MEASURED);
    cr_expect_not_null(strstr(f->fix, "only while the host does not change its buffer"), "%s",
                       f->fix);
    gmt_fixture_free(&fixture);
    analyze("UPDATE fingerprint SET whole = 0, bytes_hashed = 262144");
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    cr_expect_not_null(strstr(fixture.report.findings[0].headline, "samples"));
    cr_expect_eq(fixture.report.findings[0].confidence, GMT_CONFIDENCE_HEURISTIC);
    gmt_fixture_free(&fixture);
}

/* The host looks because it does not know: the same result again is no needless copy. */
Test(redundant_download, lets_the_host_look_at_what_a_kernel_may_have_written)
{
    expect_quiet("UPDATE kernel SET name = 'work' WHERE id = 1", GMT_OUTCOME_PASS);
    expect_quiet("UPDATE launch_argument SET parameter = 0 WHERE allocation_id = 7",
                 GMT_OUTCOME_PASS);
    /* in a struct, which the name of the kernel does not show */
    expect_quiet("UPDATE launch_argument SET word_offset = 8 WHERE allocation_id = 7",
                 GMT_OUTCOME_PASS);
    expect_quiet("UPDATE launch SET arguments = 'unknown'", GMT_OUTCOME_COULD_NOT_CHECK);
    expect_quiet("UPDATE launch SET kind = 'graph', class_id = NULL, kernel_id = NULL, "
                 "argument_set_id = NULL, arguments = 'unknown'",
                 GMT_OUTCOME_COULD_NOT_CHECK);
    expect_quiet("UPDATE kernel SET name = 'ncclDevKernel_AllReduce(float const*, float const*)'",
                 GMT_OUTCOME_COULD_NOT_CHECK);
    expect_quiet("DELETE FROM launch_argument WHERE allocation_id = 7",
                 GMT_OUTCOME_COULD_NOT_CHECK); /* by a pointer in memory */
    /* Only the copy after it is in doubt. */
    expect_copies("UPDATE launch SET arguments = 'unknown' WHERE seq = 4", 9);
}

Test(redundant_download, knows_what_copies_and_memsets_write)
{
#define FILL(AT, STREAM) \
    "INSERT INTO memset (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, result," \
    "capturing, bytes, dst, dst_allocation_id, dst_class, value, element_bytes) VALUES (777, 1, " \
    "1, 1, " STREAM ", " AT ", " AT " + 1000, 0, 0, 16, 1048576, 7, 'device', 0, 1);"
    expect_copies(FILL("2150000", "1"), 9);
    /* Another stream may write later, until somebody waits for it. */
    expect_quiet(FILL("900000", "2"), GMT_OUTCOME_COULD_NOT_CHECK);
    expect_copies(FILL("900000", "2") "INSERT INTO sync (id, begin_ns, end_ns, result, capturing, "
                                      "stream_id, kind) VALUES (778, 950000, 950010, 0, 0, 2, "
                                      "'stream')",
                  10);
}

Test(redundant_download, follows_no_memory_that_others_write)
{
    expect_quiet("UPDATE allocation SET kind = 'managed'", GMT_OUTCOME_NOT_APPLICABLE);
    expect_quiet("UPDATE allocation SET kind = 'ipc'", GMT_OUTCOME_NOT_APPLICABLE);
    expect_quiet("INSERT INTO api(id, name, runtime_name, family) VALUES (90, 'cuIpcGetMemHandle', "
                 "NULL, 'alloc');"
                 "INSERT INTO api_call (id, api_id, begin_ns, end_ns, result, capturing) VALUES "
                 "(900, 90, 500, 600, 0, 0)",
                 GMT_OUTCOME_COULD_NOT_CHECK);
}

/* Each copy is of an allocation of its own, all of them at the same address. */
Test(redundant_download, knows_nothing_of_memory_that_was_freed_and_allocated_again)
{
    expect_quiet("INSERT INTO allocation (id, kind, address, bytes, begin_ns, end_ns, "
                 "free_begin_ns, free_end_ns) SELECT id + 100, 'device', 1048576, 16777216, "
                 "begin_ns - 10, begin_ns - 5, end_ns + 5, end_ns + 9 FROM transfer;"
                 "UPDATE transfer SET src_allocation_id = id + 100 WHERE direction = 'd2h'",
                 GMT_OUTCOME_NOT_APPLICABLE);
}

/* A flag that something sets which is not in the trace: every look at it is needed. */
Test(redundant_download, distrusts_memory_that_changes_unseen)
{
    expect_quiet("UPDATE fingerprint SET hash = '" OTHER_PRINT "' WHERE transfer_id = 11",
                 GMT_OUTCOME_COULD_NOT_CHECK);
}

Test(redundant_download, needs_a_buffer_of_the_host_that_has_the_bytes)
{
    /* It took other bytes in between, or sent others. */
    expect_copies(OTHER_DOWNLOAD("2150000", OTHER_PRINT), 9);
    expect_copies(OTHER_DOWNLOAD("2150000", SAME_PRINT), 10);
    expect_quiet("UPDATE transfer SET id = id + 100, begin_ns = begin_ns + 1000 WHERE id = 1;"
                 "UPDATE fingerprint SET transfer_id = 101 WHERE transfer_id = 1;"
                 "DELETE FROM transfer WHERE id > 2 AND id < 100;"
                 "INSERT INTO transfer (id, api_id, begin_ns, end_ns, result, capturing, direction,"
                 "blocking, bytes, dst, src, dst_class, src_class, dst_allocation_id) VALUES (300, "
                 "1, 1400000, 1450000, 0, 0, 'h2d', 1, 16777216, 33554432, 4294967296, 'device', "
                 "'pinned', 8);"
                 "INSERT INTO fingerprint (transfer_id, hash, bytes_hashed, whole) VALUES "
                 "(300, '" OTHER_PRINT "', 16777216, 1)",
                 GMT_OUTCOME_PASS);
    /* Rows that go there: which bytes they write is not known. */
    expect_copies("UPDATE transfer SET height = 4 WHERE id = 6", 8);
    /* A kernel may write to it. */
    expect_quiet("INSERT INTO host_allocation (id, kind, address, bytes) VALUES (9, 'pinned', "
                 "4294967296, 16777216); INSERT INTO launch_argument VALUES (1, 0, 8, 9, 0);"
                 "UPDATE transfer SET dst_allocation_id = 9 WHERE direction = 'd2h';"
                 "UPDATE transfer SET src_allocation_id = 9 WHERE direction = 'h2d'",
                 GMT_OUTCOME_PASS);
    /* It was given back, and another one got its address. */
    expect_quiet("DELETE FROM transfer WHERE id > 2;"
                 "INSERT INTO host_allocation (id, kind, address, bytes, free_begin_ns) VALUES "
                 "(9, 'pinned', 4294967296, 16777216, 1400000), "
                 "(10, 'pinned', 4294967296, 16777216, NULL);"
                 "UPDATE transfer SET src_allocation_id = 9 WHERE id = 1;"
                 "UPDATE transfer SET dst_allocation_id = 10 WHERE id = 2",
                 GMT_OUTCOME_PASS);
}

/* Of another buffer nobody knows whether the host still has it as it was. */
Test(redundant_download, only_notes_bytes_that_the_host_has_elsewhere)
{
    analyze("UPDATE transfer SET dst = dst + id * 33554432 WHERE direction = 'd2h'");
    cr_expect_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_eq(fixture.report.note_count, 1);
    cr_expect_not_null(strstr(fixture.report.notes[0].note_why, "given that buffer back"));
    gmt_fixture_free(&fixture);
}

Test(redundant_download, needs_fingerprints)
{
    expect_quiet("DELETE FROM fingerprint", GMT_OUTCOME_COULD_NOT_CHECK);
    expect_quiet("UPDATE fingerprint SET hash = NULL, whole = NULL, bytes_hashed = NULL, "
                 "skipped = 'asynchronous' WHERE transfer_id > 1",
                 GMT_OUTCOME_COULD_NOT_CHECK);
}

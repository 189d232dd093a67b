/* SPDX-License-Identifier: Apache-2.0 */
/* The file `coverage` of a spool becomes rows, whatever is in it. Links gmt_store. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/record/layout_coverage.h"
#include "libtrace/store/recording/recording.h"
#include "tests/unit/spool_fixture.h"

static struct gmt_fixture fixture;
static struct gmt_coverage_file coverage;

static void setup(void)
{
    gmt_fixture_make(&fixture);
    gmt_fixture_chunk(&fixture, 0, 1 << 20);
    gmt_fixture_process(&fixture, 0, 1000);
    coverage.head.magic = GMT_COVERAGE_MAGIC;
    coverage.head.version = GMT_COVERAGE_VERSION;
}

static void teardown(void)
{
    gmt_fixture_remove(&fixture);
}

TestSuite(coverage_file, .init = setup, .fini = teardown, .timeout = 60);

static void add(const char *name, unsigned flags, uint32_t requests, uint64_t calls)
{
    struct gmt_coverage_entry *entry = &coverage.entry[coverage.head.count++];
    (void)snprintf(entry->name, sizeof(entry->name), "%s", name);
    entry->flags = flags;
    entry->calls = calls;
    entry->requests[GMT_LOOKUP_PROC_V2] = requests;
    coverage.head.requests[GMT_LOOKUP_PROC_V2] += requests;
}

static void ingest(size_t bytes)
{
    FILE *file = fopen(gmt_fixture_path(&fixture, GMT_COVERAGE_FILE), "we");
    cr_assert_not_null(file);
    cr_assert_eq(fwrite(&coverage, 1, bytes, file), bytes);
    cr_assert_eq(fclose(file), 0);
    int error = gmt_recording_recover(fixture.output);
    cr_assert_eq(error, 0, "%s", gmt_recording_explain(error));
    struct stat gone;
    cr_expect_neq(stat(fixture.spool, &gone), 0, "the spool is left");
}

Test(coverage_file, lists_lookup_paths_and_what_went_past_the_hooks)
{
    add("cuMemcpyHtoD", GMT_COVERAGE_HOOKED, 2, 0);
    add("cuMemBatchDecompressAsync", GMT_COVERAGE_COUNTED, 1, 7);
    add("cuMemOfTheFuture", GMT_COVERAGE_COUNTED, 3, 0);
    add("cuGraphicsMapResources", GMT_COVERAGE_REAL | GMT_COVERAGE_COUNTED, 1, 5);
    coverage.head.requests[GMT_LOOKUP_DLSYM] = 1;
    coverage.head.highest_version = 12080;
    ingest(sizeof(coverage));
    gmt_fixture_expect(&fixture,
                       "SELECT requests FROM coverage WHERE kind = 'lookup_path' AND what = "
                       "'cuGetProcAddress_v2' AND "
                       "detail = 'for versions up to 12.8'",
                       7);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM coverage WHERE kind = 'lookup_path'", 2);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM coverage WHERE what = 'cuMemcpyHtoD'", 0);
    gmt_fixture_expect(&fixture,
                       "SELECT expected FROM coverage WHERE what = 'cuMemBatchDecompressAsync' AND "
                       "class = 'move' AND seen = 0",
                       7);
    gmt_fixture_expect(
        &fixture,
        "SELECT requests FROM coverage WHERE what = 'cuMemOfTheFuture' AND class = 'unknown' "
        "AND expected = 0",
        3);
    /* Some of its calls were counted, and there may be more. */
    gmt_fixture_expect(
        &fixture, "SELECT expected IS NULL FROM coverage WHERE what = 'cuGraphicsMapResources'", 1);
    gmt_fixture_expect(&fixture, "SELECT count FROM loss WHERE detail = 'cuGraphicsMapResources'",
                       5);
    gmt_fixture_expect(&fixture,
                       "SELECT sum(count) FROM loss WHERE kind = 'entry point not covered'", 12);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM capability", 0);
}

Test(coverage_file, with_names_that_do_not_end_is_read_all_the_same)
{
    add("cuMemAlloc", GMT_COVERAGE_COUNTED, 1, 1);
    memset(coverage.entry[0].name, 'x', sizeof(coverage.entry[0].name));
    coverage.head.not_kept = 4;
    ingest(sizeof(coverage));
    gmt_fixture_expect(&fixture, "SELECT length(what) FROM coverage WHERE kind = 'entry point'",
                       sizeof(coverage.entry[0].name) - 1);
    gmt_fixture_expect(&fixture, "SELECT count FROM loss WHERE kind = 'request not kept'", 4);
}

Test(coverage_file, counts_what_allocators_said_that_was_not_understood)
{
    coverage.head.region_faults[GMT_REGION_UNKNOWN_HEAP] = UINT64_MAX;
    coverage.head.region_faults[GMT_REGION_AGAIN] = 1000000;
    ingest(sizeof(coverage));
    gmt_fixture_expect(&fixture,
                       "SELECT count(*) FROM loss WHERE kind = '" GMT_REGION_FAULT_LOSS "'", 2);
    gmt_fixture_expect(
        &fixture,
        "SELECT count FROM loss WHERE detail = 'registered while it was: the older one has ended'",
        1000000);
    gmt_fixture_expect(
        &fixture,
        "SELECT count > 1000000000 FROM loss WHERE detail = 'a heap that is not registered'", 1);
}

static void expect_damaged(void)
{
    gmt_fixture_expect(
        &fixture, "SELECT count(*) FROM capability WHERE name = 'coverage' AND state = 'missing'",
        1);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM coverage WHERE kind <> 'runtime'", 0);
    gmt_fixture_expect(&fixture, "SELECT value = '1' FROM meta WHERE key = 'complete'", 1);
}

Test(coverage_file, that_is_cut_short_is_said_to_be_damaged)
{
    add("cuMemAlloc", GMT_COVERAGE_COUNTED, 1, 1);
    ingest(sizeof(coverage.head) + 10);
    expect_damaged();
}

Test(coverage_file, that_claims_too_much_is_said_to_be_damaged)
{
    coverage.head.count = GMT_COVERAGE_ENTRIES + 1;
    ingest(sizeof(coverage));
    expect_damaged();
}

Test(coverage_file, that_is_not_there_says_nothing)
{
    int error = gmt_recording_recover(fixture.output);
    cr_assert_eq(error, 0, "%s", gmt_recording_explain(error));
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM coverage WHERE kind = 'lookup_path'", 0);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM capability", 0);
}

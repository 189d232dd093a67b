/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges that programs name, from records to rows, in whatever order they come. Links gmt_store. */
#include <criterion/criterion.h>

#include "libtrace/store/recording/recording.h"
#include "tests/unit/spool_fixture.h"

static struct gmt_fixture fixture;

static void setup(void)
{
    gmt_fixture_make(&fixture);
    gmt_fixture_chunk(&fixture, 0, 1 << 16);
    gmt_fixture_chunk(&fixture, 1, 1 << 16);
}

static void teardown(void)
{
    gmt_fixture_remove(&fixture);
}

TestSuite(ingest_ranges, .init = setup, .fini = teardown, .timeout = 60);

static void range(uint32_t chunk, struct gmt_user_range range, const char *name, const char *domain)
{
    range.head.ticks = range.end_ticks != 0 ? range.end_ticks : range.begin_ticks;
    gmt_fixture_side(&fixture, chunk, GMT_REC_RANGE, &range, sizeof(range), name, domain, NULL);
}

static void ingest(void)
{
    int error = gmt_recording_recover(fixture.output);
    cr_assert_eq(error, 0, "%s", gmt_recording_explain(error));
    gmt_fixture_expect_text(&fixture, "PRAGMA integrity_check", "ok");
}

Test(ingest_ranges, one_record_of_a_range_that_ended)
{
    range(0,
          (struct gmt_user_range){.begin_ticks = 100,
                                  .end_ticks = 250,
                                  .id = 4,
                                  .thread = 2,
                                  .depth = 3,
                                  .kind = GMT_RANGE_PUSH},
          "step", "torch");
    ingest();
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM v_range", 1);
    gmt_fixture_expect_text(&fixture,
                            "SELECT kind || thread_id || domain || name || depth FROM v_range",
                            "push2torchstep3");
    gmt_fixture_expect(&fixture, "SELECT host_ns FROM v_range", 150);
}

Test(ingest_ranges, two_records_of_which_the_second_has_no_name)
{
    struct gmt_user_range open = {
        .begin_ticks = 100, .id = 1, .thread = 1, .kind = GMT_RANGE_START};
    struct gmt_user_range ended = open;
    ended.end_ticks = 900;
    range(0, open, "epoch", "");
    range(0, ended, "", "");
    ingest();
    gmt_fixture_expect_text(&fixture, "SELECT kind || name || (domain IS NULL) FROM v_range",
                            "startepoch1");
    gmt_fixture_expect(&fixture, "SELECT host_ns FROM v_range", 800);
}

/* What NCCL says of an operation, whichever record has it; what is no such text says nothing. */
Test(ingest_ranges, payloads_are_in_the_row)
{
    struct gmt_user_range open = {.begin_ticks = 100, .id = 1, .thread = 1, .kind = GMT_RANGE_PUSH};
    struct gmt_user_range ended = open;
    ended.end_ticks = 900;
    gmt_fixture_side(&fixture, 0, GMT_REC_RANGE, &open, sizeof(open), "ncclCommInitRank", "NCCL",
                     "", NULL);
    gmt_fixture_side(&fixture, 0, GMT_REC_RANGE, &ended, sizeof(ended), "", "",
                     "fedcba9876543210,,8,0", NULL);
    ended.id = 2;
    gmt_fixture_side(&fixture, 0, GMT_REC_RANGE, &ended, sizeof(ended), "ncclAllReduce", "NCCL",
                     "1,400000,,", NULL);
    ended.id = 3;
    gmt_fixture_side(&fixture, 0, GMT_REC_RANGE, &ended, sizeof(ended), "ncclAllReduce", "NCCL",
                     "1,4,,,,", NULL);
    ingest();
    gmt_fixture_expect(&fixture, "SELECT communicator FROM v_range WHERE id = 1",
                       (int64_t)UINT64_C(0xfedcba9876543210));
    gmt_fixture_expect_text(
        &fixture, "SELECT ranks || ' ' || rank || ' ' || (bytes IS NULL) FROM v_range WHERE id = 1",
        "8 0 1");
    gmt_fixture_expect_text(
        &fixture,
        "SELECT communicator || ' ' || bytes || ' ' || (ranks IS NULL) FROM v_range WHERE id = 2",
        "1 4194304 1");
    gmt_fixture_expect(&fixture, "SELECT communicator FROM v_range WHERE id = 3", INT64_MIN);
}

/* Another thread ended it, and its chunk is read first. */
Test(ingest_ranges, the_end_before_the_beginning)
{
    struct gmt_user_range open = {
        .begin_ticks = 100, .id = 1, .thread = 1, .kind = GMT_RANGE_START};
    struct gmt_user_range ended = open;
    ended.end_ticks = 900;
    range(0, ended, "", "");
    range(1, open, "epoch", "loader");
    ingest();
    gmt_fixture_expect_text(&fixture, "SELECT name || domain FROM v_range", "epochloader");
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM range", 1);
    gmt_fixture_expect(&fixture, "SELECT end_ns FROM range", 900);
}

Test(ingest_ranges, one_that_never_ended_is_open)
{
    range(0, (struct gmt_user_range){.begin_ticks = 100, .id = 1, .kind = GMT_RANGE_PROFILER},
          "profiler", "");
    ingest();
    gmt_fixture_expect(&fixture, "SELECT end_ns FROM v_range", INT64_MIN);
    gmt_fixture_expect(&fixture, "SELECT thread_id FROM v_range", INT64_MIN);
    gmt_fixture_expect_text(&fixture, "SELECT kind FROM v_range", "profiler");
}

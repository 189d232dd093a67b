/* SPDX-License-Identifier: Apache-2.0 */
/* What PyTorch's allocator reserves for single requests, as its documentation describes it, and what a history is made of. */
#include <criterion/criterion.h>
#include <string.h>

#include "analyzer/snapshot/replay.h"

#define MIB (UINT64_C(1) << 20)

static struct gmt_snapshot_event events[64];
static size_t count;

static void add(enum gmt_snapshot_action action, uint64_t address, uint64_t size)
{
    events[count++] = (struct gmt_snapshot_event){.action = (uint8_t)action,
                                                  .address = address,
                                                  .size = size,
                                                  .place = GMT_SNAPSHOT_NO_PLACE};
}

static const struct gmt_allocator_settings defaults = {.max_split_bytes = UINT64_MAX};

static struct gmt_replay run(const struct gmt_allocator_settings *settings)
{
    struct gmt_torch_snapshot snapshot = {.events = events,
                                          .event_count = count,
                                          .device_count = 1,
                                          .device_events = {0, count},
                                          .settings = *settings};
    struct gmt_history history;
    struct gmt_replay replay;

    cr_assert_eq(gmt_history_load(&history, &snapshot, 0), 0);
    cr_assert_eq(gmt_replay_run(&history, settings, &replay), 0);
    gmt_history_free(&history);
    return replay;
}

static uint64_t peak(const struct gmt_allocator_settings *settings)
{
    return run(settings).reserved_peak;
}

Test(replay, reserves_segments_of_documented_sizes)
{
    static const struct {
        uint64_t bytes, segment, expandable;
    } cases[] = {{1, 2 * MIB, 2 * MIB},          {MIB, 2 * MIB, 2 * MIB},
                 {MIB + 1, 20 * MIB, 20 * MIB},  {10 * MIB - 512, 20 * MIB, 20 * MIB},
                 {10 * MIB, 10 * MIB, 20 * MIB}, {10 * MIB + 1, 12 * MIB, 20 * MIB},
                 {41 * MIB, 42 * MIB, 60 * MIB}};
    struct gmt_allocator_settings expandable = defaults;

    expandable.expandable = true;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        count = 0;
        add(GMT_SNAPSHOT_ALLOC, 1000, cases[i].bytes);
        cr_expect_eq(peak(&defaults), cases[i].segment, "%zu", i);
        cr_expect_eq(peak(&expandable), cases[i].expandable, "%zu", i);
    }
}

/* What is left of a large block is handed out only where it is more than 1 MiB. */
Test(replay, splits_blocks)
{
    count = 0;
    add(GMT_SNAPSHOT_ALLOC, 1, 15 * MIB / 10);
    add(GMT_SNAPSHOT_ALLOC, 2, 15 * MIB / 10);
    cr_expect_eq(peak(&defaults), 20 * MIB, "both out of one segment");
    count = 0;
    add(GMT_SNAPSHOT_ALLOC, 1, 11 * MIB);
    add(GMT_SNAPSHOT_ALLOC, 2, MIB);
    cr_expect_eq(peak(&defaults), 14 * MIB, "small requests are not for the large pool");
    count = 0;
    add(GMT_SNAPSHOT_ALLOC, 1, 300 * MIB);
    add(GMT_SNAPSHOT_FREE_COMPLETED, 1, 300 * MIB);
    add(GMT_SNAPSHOT_ALLOC, 1, 100 * MIB);
    cr_expect_eq(peak(&defaults), 300 * MIB);
    struct gmt_allocator_settings settings = defaults;
    settings.max_split_bytes = 200 * MIB;
    cr_expect_eq(peak(&settings), 400 * MIB, "a block above the limit is not split");
}

Test(replay, rounds_to_divisions_of_powers_of_two)
{
    struct gmt_allocator_settings settings = defaults;

    for (size_t i = 0; i < 16; i++) {
        settings.roundup_divisions[i] = 4;
    }
    count = 0;
    add(GMT_SNAPSHOT_ALLOC, 1, 65 * MIB);
    cr_expect_eq(peak(&settings), 80 * MIB);
    count = 0;
    add(GMT_SNAPSHOT_ALLOC, 1, 64 * MIB);
    cr_expect_eq(peak(&settings), 64 * MIB);
}

Test(replay, releases_what_the_program_released)
{
    count = 0;
    add(GMT_SNAPSHOT_ALLOC, 1, 100 * MIB);
    add(GMT_SNAPSHOT_FREE_COMPLETED, 1, 100 * MIB);
    add(GMT_SNAPSHOT_ALLOC, 1, 200 * MIB);
    cr_expect_eq(peak(&defaults), 300 * MIB);
    count = 2;
    add(GMT_SNAPSHOT_SEGMENT_FREE, 1, 100 * MIB);
    add(GMT_SNAPSHOT_ALLOC, 1, 200 * MIB);
    cr_expect_eq(peak(&defaults), 200 * MIB);
}

/* 60 + 60 + 60 are free, each between blocks that are used: no 100 there, but behind them. */
Test(replay, says_whether_a_failed_request_would_fit)
{
    struct gmt_allocator_settings expandable = defaults;

    expandable.expandable = true;
    count = 0;
    for (uint64_t i = 1; i <= 3; i++) {
        add(GMT_SNAPSHOT_SEGMENT_ALLOC, 1000 * i, 80 * MIB);
        add(GMT_SNAPSHOT_ALLOC, i, 20 * MIB);
        add(GMT_SNAPSHOT_ALLOC, i + 10, 60 * MIB);
    }
    for (uint64_t i = 1; i <= 3; i++) {
        add(GMT_SNAPSHOT_FREE_COMPLETED, i + 10, 60 * MIB);
    }
    add(GMT_SNAPSHOT_OOM, 30 * MIB, 100 * MIB);
    struct gmt_replay now = run(&defaults), with = run(&expandable);

    cr_expect_eq(now.out_of_memory_limit, 270 * MIB);
    cr_expect_eq(now.out_of_memory_needs, 160 * MIB, "segments of their own: the free ones go");
    cr_expect_eq(with.out_of_memory_needs, 160 * MIB, "%llu",
                 (unsigned long long)(with.out_of_memory_needs / MIB));
    cr_expect_eq(with.reserved_peak, 240 * MIB);
}

/* Blocks that are freed without having been allocated, and blocks that the snapshot still has, are older. */
Test(replay, starts_with_what_is_older_than_the_history)
{
    struct gmt_snapshot_block block = {.address = 500,
                                       .size = 4 * MIB,
                                       .requested = 3 * MIB,
                                       .place = GMT_SNAPSHOT_NO_PLACE,
                                       .state = GMT_BLOCK_ACTIVE};
    struct gmt_snapshot_segment segment = {.address = 500, .size = 4 * MIB, .block_count = 1};
    struct gmt_torch_snapshot snapshot = {.segments = &segment,
                                          .segment_count = 1,
                                          .blocks = &block,
                                          .block_count = 1,
                                          .events = events,
                                          .device_count = 1};
    struct gmt_history history;
    struct gmt_history_state state;

    count = 0;
    add(GMT_SNAPSHOT_ALLOC, 900, 5 * MIB);
    add(GMT_SNAPSHOT_FREE_COMPLETED, 700, 7 * MIB);
    add(GMT_SNAPSHOT_FREE_COMPLETED, 900, 5 * MIB);
    add(GMT_SNAPSHOT_SEGMENT_FREE, 4000, 6 * MIB);
    snapshot.event_count = count;
    snapshot.device_events[1] = count;
    cr_assert_eq(gmt_history_load(&history, &snapshot, 0), 0);
    cr_expect_eq(history.before_count, 2);
    cr_expect_eq(history.reserved_before, 10 * MIB);
    cr_expect_eq(history.reserved_peak, 10 * MIB);
    cr_expect_eq(history.requested_peak, 15 * MIB);
    cr_expect_eq(history.requested_peak_at, 1);
    cr_assert_eq(gmt_history_at(&history, 2, &state), 0);
    cr_expect_eq(state.requested, 8 * MIB);
    cr_expect_eq(state.blocks, 2);
    cr_expect_float_eq(state.place_bytes[0], (double)(8 * MIB), 0);
    gmt_history_state_free(&state);
    gmt_history_free(&history);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Which launch follows another of its stream without a copy in between: as looking at every copy finds it. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "analyzer/trace/launch_rows.h"
#include "tests/rules/fixture.h"

enum { LAUNCHES = 3000, STREAMS = 5 };

/* The same number for the same index each time. */
static uint32_t scrambled(size_t i)
{
    uint64_t x = (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15) + 1;

    return (uint32_t)((x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> 33);
}

static bool is_copied_between(const struct gmt_timeline *tl, int64_t from, int64_t to)
{
    for (size_t i = 0; i < tl->copy_count; i++) {
        if (tl->copies[i].call.begin_ns >= from && tl->copies[i].call.begin_ns < to) {
            return true;
        }
    }
    return false;
}

/* Launches every 1000 ns, on streams of any order; copies: as many, in groups and gaps, some at the time of a launch. */
static void check(size_t copies)
{
    struct gmt_fixture fixture;
    struct gmt_launch_rows rows;
    size_t follows = 0, cut = 0;

    gmt_fixture_load(&fixture, "common_only");
    struct gmt_timeline tl = {.db = fixture.db,
                              .launch_count = LAUNCHES,
                              .copy_count = copies,
                              .launches = calloc(LAUNCHES, sizeof(*tl.launches)),
                              .copies = calloc(copies + 1, sizeof(*tl.copies))};

    for (size_t i = 0; i < LAUNCHES; i++) {
        int64_t at = 1000 * (int64_t)i;

        tl.launches[i] = (struct gmt_tl_launch){
            .call = {.begin_ns = at,
                     .end_ns = at + 10,
                     .stream = (int32_t)(scrambled(i) % STREAMS)},
            .device_start_ns = at + 100,
            .device_end_ns = at + 200};
    }
    for (size_t i = 0, at = 500; i < copies; i++) {
        at += scrambled(i) % 16 == 0 ? 40000 + scrambled(i + 1) % 200000 : 500;
        tl.copies[i].call.begin_ns = (int64_t)at;
    }
    cr_assert_eq(gmt_launch_rows_load(&rows, &tl), 0);
    for (size_t i = 1; i < LAUNCHES; i++) {
        const struct gmt_tl_launch *a = gmt_launch_rows_at(&rows, i - 1);
        const struct gmt_tl_launch *b = gmt_launch_rows_at(&rows, i);
        bool is_copied = is_copied_between(&tl, a->call.begin_ns, b->call.begin_ns);
        bool expected = a->call.stream == b->call.stream && !is_copied;

        cr_assert_eq(gmt_launch_rows_follows(&rows, i), expected, "launch %zu of %zu copies", i,
                     copies);
        follows += expected;
        cut += a->call.stream == b->call.stream && is_copied;
    }
    cr_expect_gt(follows, 0);
    cr_expect(copies == 0 || cut > 0);
    gmt_launch_rows_free(&rows);
    free(tl.launches);
    free(tl.copies);
    gmt_fixture_free(&fixture);
}

Test(launch_rows, follow_where_no_copy_lies_between)
{
    check(0);
    check(1);
    check(37);
    check(1000);
}

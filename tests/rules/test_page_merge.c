/* SPDX-License-Identifier: Apache-2.0 */
/* More calls than a page holds: what merging keeps exact, and what it gives up. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/page/page_parts.h"

enum { CALLS = 40000, STREAMS = 3, STACKS = 2, LIMIT = 1000 };

static struct gmt_page_call calls[CALLS];

/* Copies and launches in turn on several streams, from several places. */
static void make_calls(void)
{
    memset(calls, 0, sizeof(calls));
    for (int64_t i = 0; i < CALLS; i++) {
        bool copy = i % 3 != 0;

        calls[i] = (struct gmt_page_call){
            .begin_ns = i / 24 * 24000 + i % 24 * 10,
            .host_ns = 10 + i % 5,
            .device_start_ns = i * 1000 + 500,
            .device_ns = i % 11 == 0 ? GMT_UNKNOWN : 100 + i % 13,
            .bytes = copy ? 1 + i % 17 : GMT_UNKNOWN,
            .id = i,
            .stack = i % STACKS,
            .api = copy ? 1 : 2,
            .stream = (int32_t)(i % STREAMS),
            .kernel = copy ? -1 : (int32_t)(i / 2 % 2),
            .allocation = -1,
            .count = 1,
            .kind = copy ? GMT_PAGE_TRANSFER : GMT_PAGE_LAUNCH,
            .direction = (uint8_t)(copy ? GMT_DIR_H2D + i / 2 % 2 : GMT_DIR_UNKNOWN),
        };
    }
}

struct sums {
    int64_t count, host_ns, device_ns, bytes;
};

static struct sums sums_of(size_t n, int kind, int direction, int kernel)
{
    struct sums sums = {0};

    for (size_t i = 0; i < n; i++) {
        const struct gmt_page_call *c = &calls[i];

        if ((kind >= 0 && c->kind != kind) || (direction >= 0 && c->direction != direction) ||
            (kernel >= 0 && c->kernel != kernel)) {
            continue;
        }
        sums.count += c->count;
        sums.host_ns += c->host_ns;
        sums.device_ns += c->device_ns != GMT_UNKNOWN ? c->device_ns : 0;
        sums.bytes += c->bytes != GMT_UNKNOWN ? c->bytes : 0;
    }
    return sums;
}

Test(page_merge, leaves_what_fits_as_it_is)
{
    int64_t below_ns = -1;
    size_t n = CALLS;

    make_calls();
    cr_assert_eq(gmt_page_merge_calls(calls, &n, CALLS, &below_ns), 0);
    cr_assert_eq(n, CALLS);
    cr_assert_eq(below_ns, 0);
}

Test(page_merge, keeps_counts_bytes_and_times_exact)
{
    static const int questions[][3] = {{-1, -1, -1},
                                       {GMT_PAGE_TRANSFER, -1, -1},
                                       {GMT_PAGE_TRANSFER, 1, -1},
                                       {GMT_PAGE_TRANSFER, 0, -1},
                                       {GMT_PAGE_LAUNCH, -1, -1}};
    enum { QUESTIONS = sizeof(questions) / sizeof(questions[0]) };
    struct sums before[QUESTIONS];
    int64_t below_ns = 0;
    size_t n = CALLS;

    make_calls();
    for (size_t i = 0; i < QUESTIONS; i++) {
        before[i] = sums_of(n, questions[i][0], questions[i][1], questions[i][2]);
    }
    cr_assert_eq(gmt_page_merge_calls(calls, &n, LIMIT, &below_ns), 0);
    cr_assert(n <= LIMIT && n > LIMIT / 8, "%zu rows", n);
    cr_assert_gt(below_ns, 0);
    for (size_t i = 0; i < QUESTIONS; i++) {
        struct sums after = sums_of(n, questions[i][0], questions[i][1], questions[i][2]);

        cr_assert_eq(memcmp(&before[i], &after, sizeof(after)), 0, "question %zu", i);
    }
    for (size_t i = 1; i < n; i++) {
        cr_assert_geq(calls[i].begin_ns, calls[i - 1].begin_ns);
    }
}

/* Places are given up only when rows of one place alone do not suffice. */
Test(page_merge, keeps_places_as_long_as_that_suffices)
{
    int64_t below_ns = 0;
    size_t n = CALLS;

    make_calls();
    cr_assert_eq(gmt_page_merge_calls(calls, &n, CALLS / 3 * 2, &below_ns), 0);
    for (size_t i = 0; i < n; i++) {
        cr_assert_neq(calls[i].stack, GMT_UNKNOWN);
    }
    cr_assert_eq(gmt_page_merge_calls(calls, &n, 100, &below_ns), 0);
    cr_assert_leq(n, 100);
    size_t places = 0, kernels = 0;
    for (size_t i = 0; i < n; i++) {
        places += calls[i].stack == GMT_UNKNOWN;
        kernels += calls[i].kind == GMT_PAGE_LAUNCH && calls[i].kernel < 0;
    }
    cr_assert(places > 0 && kernels > 0);
}

Test(page_merge, ends_when_nothing_is_left_to_merge)
{
    int64_t below_ns = 0;
    size_t n = CALLS;

    make_calls();
    for (int32_t i = 0; i < CALLS; i++) {
        calls[i].stream = i; /* a lane each */
    }
    cr_assert_eq(gmt_page_merge_calls(calls, &n, LIMIT, &below_ns), 0);
    cr_assert_eq(n, CALLS);
}

Test(page_merge, takes_any_clock)
{
    int64_t below_ns = 0;
    size_t n = CALLS;

    make_calls();
    for (size_t i = 0; i < CALLS; i++) {
        calls[i].begin_ns = i < CALLS / 2 ? INT64_MIN + 1 : INT64_MAX;
    }
    cr_assert_eq(gmt_page_merge_calls(calls, &n, LIMIT, &below_ns), 0);
    cr_assert_leq(n, LIMIT);
    cr_assert_eq(sums_of(n, -1, -1, -1).count, CALLS);
}

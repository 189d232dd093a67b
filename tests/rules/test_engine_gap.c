/* SPDX-License-Identifier: Apache-2.0 */
/* Streams that are idle between a copy and a kernel. */
#include <criterion/criterion.h>
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/memory/engine_gap.h"

static void near(double value, double expected)
{
    cr_assert(fabs(value - expected) <= 1e-6, "%g, not %g", value, expected);
}

/* The device's times of a copy of 10 us, 8 us before a kernel of 2 us that was queued meanwhile. */
static void queue_up(struct gmt_tl_copy *copy, struct gmt_tl_launch *launch)
{
    *copy = (struct gmt_tl_copy){
        .call = {.begin_ns = 0, .end_ns = 4000}, .device_start_ns = 5000, .device_end_ns = 15000};
    *launch = (struct gmt_tl_launch){.call = {.begin_ns = 4500, .end_ns = 8000},
                                     .device_start_ns = 23000,
                                     .device_end_ns = 25000};
}

Test(engine_gap, a_stream_is_idle_between_a_copy_and_a_kernel_that_waits_for_it)
{
    struct gmt_tl_copy copies[2];
    struct gmt_tl_launch launch;
    struct gmt_timeline tl = {
        .copies = copies, .copy_count = 1, .launches = &launch, .launch_count = 1};
    double still_ns[2];

    queue_up(&copies[0], &launch);
    cr_assert_eq(gmt_engine_gaps(&tl, still_ns), 0);
    near(still_ns[0], 8e3);
    /* Another copy at once after the first: the kernel waits for that one. */
    copies[1] = copies[0];
    copies[1].device_start_ns = copies[0].device_end_ns;
    copies[1].device_end_ns = 20000;
    tl.copy_count = 2;
    cr_assert_eq(gmt_engine_gaps(&tl, still_ns), 0);
    near(still_ns[0], 0);
    near(still_ns[1], 3e3);
}

Test(engine_gap, a_stream_that_waits_for_anything_else_is_idle_for_no_copy)
{
    struct gmt_tl_copy copy;
    struct gmt_tl_launch launch;
    struct gmt_timeline tl = {
        .copies = &copy, .copy_count = 1, .launches = &launch, .launch_count = 1};
    double still_ns;

    queue_up(&copy, &launch);
    launch.call.end_ns = 16000; /* the host was not there yet */
    cr_assert_eq(gmt_engine_gaps(&tl, &still_ns), 0);
    near(still_ns, 0);
    queue_up(&copy, &launch);
    launch.call.stream = 7;
    cr_assert_eq(gmt_engine_gaps(&tl, &still_ns), 0);
    near(still_ns, 0);
    queue_up(&copy, &launch);
    launch.device_start_ns += (int64_t)GMT_ENGINE_GAP_MOST_NS;
    cr_assert_eq(gmt_engine_gaps(&tl, &still_ns), 0);
    near(still_ns, 0);
}

Test(engine_gap, nothing_is_known_of_a_stream_while_records_are_off)
{
    struct gmt_tl_copy copy;
    struct gmt_tl_launch launch;
    struct gmt_interval off = {15500, 22000};
    struct gmt_timeline tl = {.copies = &copy,
                              .copy_count = 1,
                              .launches = &launch,
                              .launch_count = 1,
                              .off = &off,
                              .off_count = 1};
    double still_ns;

    queue_up(&copy, &launch);
    cr_assert_eq(gmt_engine_gaps(&tl, &still_ns), 0);
    near(still_ns, 0);
    off = (struct gmt_interval){30000, 40000};
    cr_assert_eq(gmt_engine_gaps(&tl, &still_ns), 0);
    near(still_ns, 8e3);
}

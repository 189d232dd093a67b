/* SPDX-License-Identifier: Apache-2.0 */
/* For how long launches are waited for, those most of all that may themselves wait for the host. */
#include <criterion/criterion.h>

#include "tests/unit/sampling_launches.h"

static uint64_t timeout_ns(struct gmt_collector_class *cls, uint32_t group,
                           enum gmt_unmeasured suspected)
{
    struct gmt_launch_call call = {.cls = cls, .suspected = suspected};
    return gmt_sampling_timeout_ns(&sampling, &call, group);
}

Test(sampling_waits, a_patched_kernel_is_waited_for_longer)
{
    begin(1000 * MS, 0.05);
    uint64_t bare_ns = timeout_ns(&classes[0], GMT_GROUP_HARDWARE, GMT_MEASURABLE);
    gmt_sampling_charge_launch(&sampling, &classes[0], GMT_GROUP_SASS, 2000 * MS);
    cr_expect_eq(timeout_ns(&classes[0], GMT_GROUP_SASS, GMT_MEASURABLE), bare_ns + 6000 * MS);
    begin_with(1000 * MS, 0.05, GMT_INSTRUCTIONS_ALL);
    cr_expect_gt(timeout_ns(&classes[1], GMT_GROUP_SASS, GMT_MEASURABLE), 10 * bare_ns);
}

Test(sampling_waits, a_launch_that_may_wait_for_the_host_is_held_for_20_ms_until_one_has_ended)
{
    begin_with(1000 * MS, 0.05, GMT_INSTRUCTIONS_ALL);
    cr_expect_eq(timeout_ns(&classes[0], GMT_GROUP_HARDWARE, GMT_UNMEASURED_HOST_MEMORY), 20 * MS);
    cr_expect_eq(timeout_ns(&classes[0], GMT_GROUP_SASS, GMT_UNMEASURED_HOST_MEMORY), 20 * MS);
    classes[0].wait_outcome = GMT_WAIT_ENDED;
    cr_expect_eq(timeout_ns(&classes[0], GMT_GROUP_HARDWARE, GMT_UNMEASURED_HOST_MEMORY),
                 timeout_ns(&classes[0], GMT_GROUP_HARDWARE, GMT_MEASURABLE));
}

Test(sampling_waits, what_was_held_for_in_vain_is_little_in_all)
{
    uint64_t now_ns = gmt_clock_monotonic_ns();
    begin(1000 * MS, 0.05);
    sampling.began_ns = now_ns;
    gmt_sampling_held_in_vain(&sampling, 30 * MS);
    cr_expect(gmt_sampling_may_hold(&sampling, now_ns));
    gmt_sampling_held_in_vain(&sampling, 30 * MS);
    cr_expect_not(gmt_sampling_may_hold(&sampling, now_ns));
    cr_expect(gmt_sampling_may_hold(&sampling, now_ns + 1000 * MS), "2 %% of the run");
    cr_expect_eq(sampling.spent_ns, 60 * MS);
}

/* The range profiler's patches make the launch itself wait for the kernel, and nobody can break that off. */
Test(sampling_waits, a_long_kernel_that_may_wait_for_the_host_is_counted_by_sass)
{
    begin(100000 * MS, 0.05);
    kernel_ns[0] = kernel_ns[1] = 10 * MS;
    gmt_sampling_suspect(&sampling, &classes[1]);
    session = GMT_GROUP_HARDWARE;
    for (unsigned i = 0; i < 2; i++) {
        cr_assert_eq(launch(&classes[i], MS, MS), GMT_GROUP_HARDWARE);
    }
    cr_expect_eq(launch(&classes[1], MS, MS), GMT_GROUP_SASS);
    cr_expect_eq(launch(&classes[0], MS, MS), GMT_GROUP_PATCHED);
}

/* The first launch may be the one that brings managed memory to the device. */
Test(sampling_waits, a_class_that_may_wait_for_the_host_has_three_trials)
{
    struct gmt_launch_call call = {.cls = &classes[0], .suspected = GMT_UNMEASURED_HOST_MEMORY};
    for (unsigned i = 0; i < 3; i++) {
        cr_expect_eq(classes[0].wait_outcome, GMT_WAIT_UNTRIED);
        gmt_sampling_tried(&classes[0], false);
    }
    cr_expect_eq(classes[0].wait_outcome, GMT_WAIT_IN_VAIN);
    cr_expect(gmt_sampling_is_trial(&call));
    gmt_sampling_tried(&classes[1], false);
    gmt_sampling_tried(&classes[1], true);
    cr_expect_eq(classes[1].wait_outcome, GMT_WAIT_ENDED);
    call.cls = &classes[1];
    cr_expect_not(gmt_sampling_is_trial(&call));
}

Test(sampling_waits, a_first_launch_that_waited_for_managed_memory_is_timed_again)
{
    begin(1000 * MS, 0.0);
    session = GMT_GROUP_HARDWARE;
    kernel_ns[0] = 20 * MS;
    cr_assert_eq(launch(&classes[3], 0, MS), GMT_GROUP_HARDWARE);
    cr_assert_eq(launch(&classes[0], 0, 20 * MS), GMT_GROUP_HARDWARE);
    gmt_sampling_suspect(&sampling, &classes[0]);
    cr_expect_eq(launch(&classes[0], 0, MS), GMT_GROUP_NONE, "counting it would take 2 s");
    kernel_ns[0] = 50 * US;
    cr_expect_eq(launch(&classes[0], 0, MS), GMT_GROUP_HARDWARE);
    cr_expect_eq(launch(&classes[0], 0, MS), GMT_GROUP_SASS);
}

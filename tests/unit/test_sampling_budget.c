/* SPDX-License-Identifier: Apache-2.0 */
/* What measuring may cost, and which class may spend it. */
#include <criterion/criterion.h>

#include "tests/unit/sampling_launches.h"

Test(sampling_budget, share_is_limited_by_what_all_overhead_may_be)
{
    static _Atomic uint64_t limit_ns = UINT64_MAX;
    struct gmt_collector_config config = {.counters = true,
                                          .overhead_share = 0.05,
                                          .overhead_start_ns = 1000 * MS,
                                          .overhead_limit_ns = &limit_ns};
    gmt_sampling_init(&sampling, &config, 7);
    uint64_t now_ns = 7 + 10000 * MS; /* 5 % of it are 500 ms */
    cr_expect_eq(gmt_sampling_allowance_ns(&sampling, now_ns), 1500 * MS);
    atomic_store(&limit_ns, 100 * MS);
    cr_expect_eq(gmt_sampling_allowance_ns(&sampling, now_ns), 1100 * MS);
    atomic_store(&limit_ns, 0);
    cr_expect_eq(gmt_sampling_allowance_ns(&sampling, now_ns), 1000 * MS,
                 "the start allowance stays");
}

Test(sampling_budget, nothing_is_measured_that_the_budget_does_not_cover)
{
    begin(400 * MS, 0.0);
    cr_expect_eq(launch(&classes[0], 500 * MS, MS), GMT_GROUP_NONE);
    cr_expect_eq(sampling.spent_ns, 0u);
    cr_expect_str_eq(reason_of(&classes[0]), gmt_unmeasured_texts[GMT_UNMEASURED_BUDGET].reason);
}

/* What the remedy says: the same run, with as much as it takes. */
Test(sampling_budget, an_unlimited_budget_covers_it)
{
    begin(400 * MS, 1e12);
    sampling.began_ns -= MS; /* since the first CUDA call */
    kernel_ns[0] = 1000 * MS;
    cr_expect_eq(launch(&classes[0], 500 * MS, MS), GMT_GROUP_HARDWARE);
    cr_expect_eq(launch(&classes[0], 500 * MS, 30000 * MS), GMT_GROUP_PATCHED);
    cr_expect_str_eq(reason_of(&classes[0]), "");
}

Test(sampling_budget, the_budget_is_never_exceeded_by_more_than_one_launch)
{
    begin(100 * MS, 0.0);
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 50; k++) {
            (void)launch(&classes[i], 20 * MS, 10 * MS);
        }
    }
    cr_expect(sampling.spent_ns > 0 && sampling.spent_ns <= 110 * MS);
}

Test(sampling_budget, three_quarters_of_the_start_are_kept_for_classes_without_a_sample)
{
    begin(200 * MS, 0.0);
    gmt_sampling_offer(&sampling, GMT_GROUP_PATCHED, false);
    gmt_sampling_offer(&sampling, GMT_GROUP_SASS, false);
    cr_expect_eq(launch(&classes[0], 60 * MS, MS), GMT_GROUP_HARDWARE);
    cr_expect_eq(launch(&classes[0], 60 * MS, MS), GMT_GROUP_NONE);
    cr_expect_eq(launch(&classes[1], 60 * MS, MS), GMT_GROUP_HARDWARE);
}

/* Counting one launch is dear: what is launched first does not take it all. */
Test(sampling_budget, half_of_the_start_is_kept_to_count_what_matters)
{
    begin(100 * MS, 0.0);
    session = GMT_GROUP_HARDWARE;
    kernel_ns[0] = 100 * US;
    kernel_ns[1] = US / 2;
    cr_assert_eq(launch(&classes[0], 0, MS), GMT_GROUP_HARDWARE);
    cr_assert_eq(launch(&classes[1], 0, MS), GMT_GROUP_HARDWARE);
    record(0);
    record(1);
    gmt_sampling_charge(&sampling, 49 * MS);
    cr_expect_eq(launch(&classes[1], 0, MS), GMT_GROUP_NONE, "it takes 1 us in all");
    cr_expect_eq(launch(&classes[2], 0, MS), GMT_GROUP_HARDWARE, "how long it runs");
    cr_expect_eq(launch(&classes[0], 0, MS), GMT_GROUP_SASS);
    for (unsigned i = 0; i < 1000; i++) {
        (void)gmt_sampling_want(&sampling, &classes[1]);
    }
    classes[1].retry_ns = 0;
    cr_expect_eq(launch(&classes[1], 0, MS), GMT_GROUP_SASS, "many launches, much time");
}

/* Hundreds of classes, as in frameworks: their hardware counters leave room to count those that matter. */
Test(sampling_budget, hardware_counters_leave_three_quarters_of_that_half)
{
    begin(100 * MS, 0.0);
    session = GMT_GROUP_HARDWARE;
    kernel_ns[0] = 100 * US;
    cr_assert_eq(launch(&classes[0], 0, MS), GMT_GROUP_HARDWARE);
    cr_assert_eq(launch(&classes[2], 0, MS), GMT_GROUP_HARDWARE);
    record(0);
    gmt_sampling_charge(&sampling, 59 * MS);
    cr_expect_eq(launch(&classes[1], 0, MS), GMT_GROUP_HARDWARE, "62 of 62.5 ms");
    cr_expect_eq(launch(&classes[3], 0, MS), GMT_GROUP_NONE);
    cr_expect_eq(launch(&classes[0], 0, MS), GMT_GROUP_SASS);
}

/* When it shows that they are significant the loop may be over. */
Test(sampling_budget, kernels_of_a_graph_that_is_launched_again_are_counted_at_once)
{
    begin(100 * MS, 0.0);
    session = GMT_GROUP_HARDWARE;
    kernel_ns[0] = kernel_ns[1] = 2 * US;
    for (unsigned i = 0; i < 2; i++) {
        cr_assert_eq(launch(&classes[i], 0, MS), GMT_GROUP_HARDWARE);
        record(i);
    }
    gmt_sampling_charge(&sampling, 60 * MS);
    gmt_sampling_launched(&sampling, &classes[1], 1, gmt_clock_monotonic_ns());
    cr_expect_eq(launch(&classes[0], 0, MS), GMT_GROUP_NONE);
    cr_expect_eq(launch(&classes[1], 0, MS), GMT_GROUP_SASS);
    gmt_sampling_charge(&sampling, 12 * MS);
    gmt_sampling_launched(&sampling, &classes[0], 1, gmt_clock_monotonic_ns());
    atomic_store(&classes[0].retry_ns, 0);
    cr_expect_eq(launch(&classes[0], 0, MS), GMT_GROUP_NONE, "a quarter is kept all the same");
}

/* 12 ms, in big modules: a kernel that takes 10 us in all is not worth them. */
Test(sampling_budget, what_counting_takes_here_is_learned_and_decides_what_is_worth_it)
{
    begin(100 * MS, 0.0);
    session = GMT_GROUP_HARDWARE;
    kernel_ns[0] = kernel_ns[1] = 10 * US;
    for (unsigned i = 0; i < 3; i++) {
        cr_assert_eq(launch(&classes[i], 0, MS), GMT_GROUP_HARDWARE);
    }
    record(0);
    record(1);
    cr_assert_eq(launch(&classes[0], 0, 12 * MS), GMT_GROUP_SASS);
    gmt_sampling_charge(&sampling, 60 * MS);
    cr_expect_eq(launch(&classes[1], 0, 12 * MS), GMT_GROUP_NONE, "20 us at stake");
    for (unsigned i = 0; i < 18; i++) {
        (void)gmt_sampling_want(&sampling, &classes[1]);
    }
    classes[1].retry_ns = 0;
    cr_expect_eq(launch(&classes[1], 0, 12 * MS), GMT_GROUP_SASS, "200 us");
}

/* 50 times as long as by itself a convolution ran that the range profiler counted, where 30 times were expected. */
Test(sampling_budget, how_much_longer_counted_kernels_run_here_is_learned)
{
    begin(400 * MS, 0.0);
    gmt_sampling_offer(&sampling, GMT_GROUP_SASS, false);
    session = GMT_GROUP_HARDWARE;
    kernel_ns[0] = 2 * MS;
    kernel_ns[1] = 5 * MS;
    for (unsigned i = 0; i < 2; i++) {
        cr_assert_eq(launch(&classes[i], 0, kernel_ns[i] + MS), GMT_GROUP_HARDWARE);
        record(i);
    }
    cr_expect_eq(gmt_sampling_times(&sampling, GMT_GROUP_PATCHED), GMT_SAMPLING_PATCHED_TIMES);
    cr_assert_eq(launch(&classes[0], 0, 150 * MS), GMT_GROUP_PATCHED);
    cr_expect_eq(gmt_sampling_times(&sampling, GMT_GROUP_PATCHED), 53u, "half of the way to 75");
    cr_expect_eq(launch(&classes[1], 0, 375 * MS), GMT_GROUP_NONE, "150 ms would have fitted");
    cr_expect_lt(sampling.spent_ns, 400 * MS);
}

/* Ranges of one kernel of microseconds lie up to 0.5 ms apart: the longer one is not the longer kernel. */
Test(sampling_budget, what_is_at_stake_follows_the_records_of_the_device)
{
    begin(100 * MS, 0.0);
    session = GMT_GROUP_HARDWARE;
    kernel_ns[0] = kernel_ns[1] = 0;
    cr_assert_eq(launch(&classes[0], 0, MS), GMT_GROUP_HARDWARE);
    kernel_ns[1] = 450 * US; /* so says its range */
    cr_assert_eq(launch(&classes[1], 0, MS), GMT_GROUP_HARDWARE);
    kernel_ns[0] = 40 * US;
    kernel_ns[1] = US;
    record(0);
    for (unsigned i = 0; i < 99; i++) {
        (void)gmt_sampling_want(&sampling, &classes[0]);
        (void)gmt_sampling_want(&sampling, &classes[1]);
    }
    classes[0].retry_ns = classes[1].retry_ns = 0;
    gmt_sampling_charge(&sampling, 76 * MS);
    cr_expect_eq(gmt_sampling_kernel_ns(&sampling, &classes[0]), 40 * US);
    cr_expect_eq(gmt_sampling_least_kernel_ns(&sampling, &classes[1]), 0);
    cr_expect_eq(launch(&classes[0], 0, MS), GMT_GROUP_SASS, "4 ms of the device's time");
    record(1);
    cr_expect_eq(gmt_sampling_kernel_ns(&sampling, &classes[1]), US);
    for (unsigned i = 0; i < 10000; i++) {
        (void)gmt_sampling_want(&sampling, &classes[0]);
    }
    sampling.total_at_ns = 0;
    cr_expect_eq(launch(&classes[1], 0, MS), GMT_GROUP_NONE, "less than 1 % of it");
}

Test(sampling_budget, a_spent_budget_opens_again_as_time_passes)
{
    begin(10 * MS, 0.5);
    gmt_sampling_charge(&sampling, 11 * MS);
    cr_expect_eq(launch(&classes[0], MS, MS / 10), GMT_GROUP_NONE);
    sampling.began_ns -= 1000 * MS;
    classes[0].retry_ns = 1; /* that time has come */
    cr_expect_eq(launch(&classes[0], MS, MS / 10), GMT_GROUP_HARDWARE);
}

/* As gmt_measure_begin asks: whichever launch of many comes when the budget is open again. */
Test(sampling_budget, a_class_that_was_refused_is_asked_again_at_any_launch)
{
    begin(10 * MS, 0.01);
    session = GMT_GROUP_HARDWARE;
    gmt_sampling_charge(&sampling, 11 * MS);
    for (unsigned i = 0; i < 100; i++) {
        cr_assert_eq(launch(&classes[0], MS, MS / 10), GMT_GROUP_NONE);
    }
    sampling.began_ns -= 1000 * MS;
    classes[0].retry_ns = 1; /* that time has come */
    unsigned launches = 0;
    while (gmt_sampling_want(&sampling, &classes[0]) == GMT_GROUP_NONE && launches < 100) {
        launches++;
    }
    cr_expect_lt(launches, GMT_SAMPLING_LOOK_EVERY);
    for (unsigned i = 0; i < 20; i++) {
        cr_expect_eq(gmt_sampling_pick(&sampling, &classes[0]), GMT_GROUP_HARDWARE);
        classes[0].launches++; /* other threads launch it meanwhile */
    }
}

/* As XLA's delay kernel takes: 99 % of the time, but no budget. */
Test(sampling_budget, what_may_not_be_measured_makes_nothing_else_insignificant)
{
    begin(100 * MS, 0.0);
    session = GMT_GROUP_HARDWARE;
    kernel_ns[0] = 100 * US;
    kernel_ns[1] = 10 * MS;
    cr_assert_eq(launch(&classes[0], 0, MS), GMT_GROUP_HARDWARE);
    record(0);
    for (unsigned i = 0; i < 100; i++) {
        (void)gmt_sampling_want(&sampling, &classes[1]);
    }
    record(1);
    gmt_sampling_charge(&sampling, 76 * MS);
    cr_expect_eq(launch(&classes[0], 0, MS), GMT_GROUP_NONE, "less than 1 % of all");
    gmt_sampling_note(&classes[1], GMT_UNMEASURED_HOST_MEMORY);
    classes[0].retry_ns = sampling.total_at_ns = 0;
    cr_expect_eq(launch(&classes[0], 0, MS), GMT_GROUP_SASS, "all of what may be measured");
}

/* A thousandth of the time so far may become a tenth within a step. */
Test(sampling_budget, a_class_that_was_not_significant_is_asked_again_soon)
{
    begin(100 * MS, 1e-3);
    session = GMT_GROUP_HARDWARE;
    kernel_ns[0] = 400 * US;
    kernel_ns[1] = 10 * US;
    cr_assert_eq(launch(&classes[0], 0, MS), GMT_GROUP_HARDWARE);
    cr_assert_eq(launch(&classes[1], 0, MS), GMT_GROUP_HARDWARE);
    record(0);
    record(1);
    for (unsigned i = 0; i < 16; i++) {
        (void)gmt_sampling_want(&sampling, &classes[0]);
    }
    gmt_sampling_charge(&sampling, 76 * MS);
    cr_assert_eq(launch(&classes[1], 0, MS), GMT_GROUP_NONE);
    uint64_t now_ns = gmt_clock_monotonic_ns();
    cr_expect_leq(classes[1].retry_ns, now_ns + 101 * MS);
    gmt_sampling_charge(&sampling, 50 * MS); /* now nothing is left for anybody */
    classes[1].retry_ns = 1;
    (void)launch(&classes[1], 0, MS);
    cr_expect_gt(classes[1].retry_ns, now_ns + 500 * MS);
}

/* A long kernel is refused for now: what others would take of the budget meanwhile is kept for it. */
Test(sampling_budget, classes_with_less_time_at_stake_leave_room_for_one_that_waits)
{
    begin(500 * MS, 0.5);
    sampling.began_ns -= 1000 * MS; /* 1 s in all may be spent by now */
    kernel_ns[0] = 20 * MS;
    kernel_ns[1] = 10 * US;
    session = GMT_GROUP_HARDWARE;
    cr_assert_eq(launch(&classes[0], 40 * MS, 21 * MS), GMT_GROUP_HARDWARE);
    cr_assert_eq(launch(&classes[1], 40 * MS, MS), GMT_GROUP_HARDWARE);
    record(0);
    record(1);
    const uint32_t launches = 63 * GMT_SAMPLING_LOOK_EVERY; /* 10 ms in all */
    classes[1].launches = launches;
    gmt_sampling_charge(&sampling, 578 * MS); /* 400 ms are left, it needs 640 */
    cr_expect_eq(launch(&classes[0], 40 * MS, MS), GMT_GROUP_NONE);
    cr_expect_eq(launch(&classes[1], 40 * MS, MS), GMT_GROUP_NONE, "it takes half as much");
    sampling.began_ns -= 600 * MS;
    classes[0].retry_ns = classes[1].retry_ns = 1;
    cr_expect_eq(launch(&classes[0], 40 * MS, 300 * MS), GMT_GROUP_PATCHED);
    classes[1].launches = launches;
    cr_expect_eq(launch(&classes[1], 40 * MS, MS), GMT_GROUP_SASS);
}

/* The same where the run would have to last a hundred times as long. */
Test(sampling_budget, nobody_leaves_room_for_a_class_that_can_never_be_measured)
{
    begin(500 * MS, 0.05);
    sampling.began_ns -= 1000 * MS;
    kernel_ns[0] = 2000 * MS;
    kernel_ns[1] = 10 * US;
    session = GMT_GROUP_HARDWARE;
    (void)launch(&classes[0], 40 * MS, MS);
    (void)launch(&classes[1], 40 * MS, MS);
    cr_expect_eq(launch(&classes[0], 40 * MS, MS), GMT_GROUP_NONE);
    cr_expect_eq(launch(&classes[1], 40 * MS, MS), GMT_GROUP_SASS);
}

Test(sampling_budget,
     a_change_of_session_for_a_short_kernel_waits_for_quiet_once_half_of_the_start_is_spent)
{
    begin_with(1000 * MS, 0.0, GMT_INSTRUCTIONS_NONE);
    kernel_ns[0] = 100 * US;
    (void)launch(&classes[0], 40 * MS, MS);
    record(0);
    gmt_sampling_charge(&sampling, 500 * MS);
    cr_expect_eq(launch(&classes[0], 40 * MS, MS), GMT_GROUP_NONE);
    sampling.last_need_ns -= 1000 * MS;
    cr_expect_eq(launch(&classes[0], 40 * MS, MS), GMT_GROUP_PATCHED);
}

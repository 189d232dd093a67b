/* SPDX-License-Identifier: Apache-2.0 */
/* Which launches are measured: groups, phases, and what is said of the rest. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/sampling_launches.h"

static unsigned times_measured(struct gmt_collector_class *cls, unsigned launches)
{
    unsigned count = 0;
    for (unsigned i = 0; i < launches; i++) {
        count += launch(cls, MS, MS / 10) != GMT_GROUP_NONE;
    }
    return count;
}

Test(sampling, two_launches_make_a_short_kernel_complete)
{
    begin(1000 * MS, 0.05);
    cr_expect_eq(launch(&classes[0], 400 * MS, MS), GMT_GROUP_HARDWARE);
    cr_expect_eq(launch(&classes[0], 40 * MS, MS), GMT_GROUP_SASS);
    cr_expect_str_eq(reason_of(&classes[0]), "");
    cr_expect_eq(session, GMT_GROUP_HARDWARE, "no session was changed for it");
}

/* Whoever appears when is measured beside the others: there is no phase to wait for. */
Test(sampling, classes_that_appear_later_are_complete_after_two_launches_too)
{
    begin(10000 * MS, 0.05);
    for (unsigned i = 0; i < 4; i++) {
        kernel_ns[i] = 10 * US;
        cr_expect_eq(launch(&classes[i], 40 * MS, MS), GMT_GROUP_HARDWARE);
        cr_expect_eq(launch(&classes[i], 40 * MS, MS), GMT_GROUP_SASS);
    }
}

Test(sampling, a_long_kernel_is_counted_by_the_range_profiler_at_once)
{
    begin(1000 * MS, 0.05);
    kernel_ns[1] = 10 * MS;
    (void)launch(&classes[0], 40 * MS, MS);
    cr_expect_eq(launch(&classes[1], 40 * MS, 11 * MS), GMT_GROUP_HARDWARE);
    cr_expect_eq(launch(&classes[1], 40 * MS, 150 * MS), GMT_GROUP_PATCHED);
    cr_expect_eq(launch(&classes[0], 40 * MS, MS), GMT_GROUP_SASS, "whatever the phase");
}

Test(sampling, a_long_kernel_is_counted_by_its_instructions_where_sessions_take_long)
{
    static const struct {
        uint64_t session_ns;
        enum gmt_counter_group counted;
    } machines[] = {{20 * MS, GMT_GROUP_PATCHED}, {200 * MS, GMT_GROUP_SASS}};
    for (unsigned i = 0; i < 2; i++) {
        uint64_t session_ns = machines[i].session_ns;
        memset(classes, 0, sizeof(classes));
        session = GMT_GROUP_NONE;
        begin(2000 * MS, 0.05);
        kernel_ns[1] = 2 * MS;
        (void)launch(&classes[0], session_ns, MS);
        cr_expect_eq(launch(&classes[1], session_ns, 3 * MS), GMT_GROUP_HARDWARE);
        cr_expect_eq(launch(&classes[1], session_ns, 150 * MS), machines[i].counted);
    }
}

Test(sampling, without_counts_of_instructions_the_range_profiler_counts_all)
{
    begin_with(1000 * MS, 0.05, GMT_INSTRUCTIONS_NONE);
    cr_expect_eq(launch(&classes[0], 400 * MS, MS), GMT_GROUP_HARDWARE);
    cr_expect_eq(launch(&classes[0], 40 * MS, MS), GMT_GROUP_PATCHED);
}

Test(sampling, a_class_whose_instructions_cannot_be_looked_up_is_counted_by_the_range_profiler)
{
    begin(1000 * MS, 0.05);
    (void)launch(&classes[0], 40 * MS, MS);
    classes[0].no_cubin = 1;
    cr_expect_eq(launch(&classes[0], 40 * MS, MS), GMT_GROUP_PATCHED);
}

Test(sampling, while_the_program_has_what_sass_needs_the_range_profiler_counts)
{
    begin(10000 * MS, 0.05);
    (void)launch(&classes[0], 40 * MS, MS);
    gmt_sampling_pause_sass(&sampling, true);
    cr_expect_eq(launch(&classes[0], 40 * MS, MS), GMT_GROUP_PATCHED);
    (void)launch(&classes[1], 40 * MS, MS);
    gmt_sampling_pause_sass(&sampling, false);
    cr_expect_eq(launch(&classes[1], 40 * MS, MS), GMT_GROUP_SASS);
}

/* Where nothing else can count, a class is not taken for complete meanwhile. */
Test(sampling, a_pause_completes_nothing)
{
    begin(10000 * MS, 0.05);
    kernel_ns[0] = 100 * US;
    gmt_sampling_offer(&sampling, GMT_GROUP_PATCHED, false);
    gmt_sampling_offer(&sampling, GMT_GROUP_SPILL, false);
    gmt_sampling_pause_sass(&sampling, true);
    (void)times_measured(&classes[0], 1);
    record(0);
    (void)times_measured(&classes[0], 9);
    gmt_sampling_pause_sass(&sampling, false);
    cr_expect_eq(launch(&classes[0], 40 * MS, MS), GMT_GROUP_SASS);
}

Test(sampling, all_instructions_are_counted_of_long_kernels_too)
{
    begin_with(100000 * MS, 0.05, GMT_INSTRUCTIONS_ALL);
    kernel_ns[0] = 10 * MS;
    (void)times_measured(&classes[0], 20);
    cr_expect_eq(gmt_sampling_count(&classes[0], GMT_GROUP_SASS), 3u);
}

Test(sampling, a_run_only_for_instructions_counts_them)
{
    struct gmt_collector_config config = {.instructions = GMT_INSTRUCTIONS_ALL,
                                          .overhead_start_ns = 1000 * MS,
                                          .samples_per_class = 3};
    gmt_sampling_init(&sampling, &config, gmt_clock_monotonic_ns());
    cr_expect_eq(launch(&classes[0], 0, MS), GMT_GROUP_SASS);
    cr_expect_eq(times_measured(&classes[0], 10), 2u);
    cr_expect_str_eq(reason_of(&classes[0]), "");
}

Test(sampling, a_kernel_that_would_run_too_long_when_counted_is_not)
{
    begin(1000 * MS, 0.0);
    kernel_ns[0] = 60 * MS;
    cr_expect_eq(launch(&classes[0], 100 * MS, 61 * MS), GMT_GROUP_HARDWARE);
    cr_expect_eq(times_measured(&classes[0], 100), 0u);
    cr_expect_eq(launch(&classes[1], 100 * MS, MS), GMT_GROUP_HARDWARE);
}

Test(sampling, each_class_gets_its_samples_and_no_more)
{
    begin(10000 * MS, 0.05);
    for (int i = 0; i < 10000000 && !(classes[0].complete && classes[1].complete); i++) {
        (void)launch(&classes[0], MS, MS / 10);
        (void)launch(&classes[1], MS, MS / 10);
    }
    cr_expect(times_measured(&classes[0], 1000) + times_measured(&classes[1], 1000) <= 6);
    for (unsigned i = 0; i < 2; i++) {
        cr_expect_eq(gmt_sampling_count(&classes[i], GMT_GROUP_HARDWARE), 3u);
        cr_expect_eq(gmt_sampling_count(&classes[i], GMT_GROUP_SASS), 3u);
        cr_expect_eq(gmt_sampling_count(&classes[i], GMT_GROUP_SPILL), 3u);
        cr_expect_eq(gmt_sampling_count(&classes[i], GMT_GROUP_PATCHED), 0u);
    }
    cr_expect_eq(gmt_sampling_want(&sampling, &classes[0]), GMT_GROUP_NONE);
    cr_expect(classes[0].complete);
}

/* ---- what is not measured ----------------------------------------------------------------------- */

Test(sampling, classes_that_must_never_be_measured_are_not)
{
    begin(1000 * MS, 0.05);
    classes[0].never = true;
    cr_expect_eq(times_measured(&classes[0], 100), 0u);
}

Test(sampling, a_class_whose_ranges_are_always_polluted_is_given_up)
{
    begin(1000 * MS, 0.05);
    for (unsigned i = 0; i < GMT_SAMPLING_MAX_DISCARDS; i++) {
        cr_expect_eq(gmt_sampling_want(&sampling, &classes[0]), GMT_GROUP_HARDWARE);
        gmt_sampling_discarded(&classes[0], GMT_UNMEASURED_POLLUTED);
    }
    cr_expect_eq(gmt_sampling_want(&sampling, &classes[0]), GMT_GROUP_NONE);
}

Test(sampling, a_group_that_cannot_be_counted_is_passed_over)
{
    begin(1000 * MS, 0.05);
    gmt_sampling_offer(&sampling, GMT_GROUP_SASS, false);
    gmt_sampling_offer(&sampling, GMT_GROUP_HARDWARE, false);
    cr_expect_eq(launch(&classes[0], MS, MS), GMT_GROUP_PATCHED);
    gmt_sampling_offer(&sampling, GMT_GROUP_PATCHED, false);
    gmt_sampling_offer(&sampling, GMT_GROUP_SPILL, false);
    cr_expect_eq(gmt_sampling_want(&sampling, &classes[1]), GMT_GROUP_NONE);
}

Test(sampling, launches_in_graphs_count_as_others_do)
{
    begin(100 * MS, 0.0);
    gmt_sampling_launched(&sampling, &classes[0], 0, MS);
    cr_expect_eq(atomic_load(&sampling.class_count), 0u);
    gmt_sampling_launched(&sampling, &classes[0], 1, MS);
    cr_expect_eq(atomic_load(&sampling.class_count), 1u);
    cr_expect_eq(atomic_load(&sampling.once_count), 1u);
    gmt_sampling_launched(&sampling, &classes[0], 99, MS);
    gmt_sampling_launched(&sampling, &classes[1], 100, MS);
    cr_expect_eq(atomic_load(&sampling.class_count), 2u);
    cr_expect_eq(atomic_load(&sampling.once_count), 0u);
    cr_expect_eq(atomic_load(&classes[0].launches), 100u);
    /* Of a refused class only some launches look at the clock; those of a graph are few. */
    atomic_store(&classes[0].retry_ns, 10 * MS);
    gmt_sampling_launched(&sampling, &classes[0], 1, 9 * MS);
    cr_expect_eq(gmt_sampling_want(&sampling, &classes[0]), GMT_GROUP_NONE);
    gmt_sampling_launched(&sampling, &classes[0], 1, 10 * MS);
    cr_expect_eq(gmt_sampling_want(&sampling, &classes[0]), GMT_GROUP_HARDWARE);
}

Test(sampling, each_reason_is_reported_of_the_class_that_it_holds_for)
{
    begin(1000 * MS, 0.05);
    for (unsigned why = 0; why < GMT_UNMEASURED_COUNT; why++) {
        (void)gmt_sampling_want(&sampling, &classes[0]);
        (void)gmt_sampling_want(&sampling, &classes[1]);
        gmt_sampling_note(&classes[0], (enum gmt_unmeasured)why);
        cr_expect_str_eq(reason_of(&classes[0]), gmt_unmeasured_texts[why].reason);
        cr_expect_str_neq(reason_of(&classes[1]),
                          gmt_unmeasured_texts[GMT_UNMEASURED_NEVER].reason);
    }
    classes[1].never = true;
    cr_expect_str_eq(reason_of(&classes[1]), gmt_unmeasured_texts[GMT_UNMEASURED_NEVER].reason);
}

/* Two launches are enough for both kinds of counters; hundreds while others were measured are not too few. */
Test(sampling, too_few_launches_are_fewer_than_two)
{
    begin(1000 * MS, 0.05);
    (void)launch(&classes[0], MS, MS);
    for (unsigned i = 0; i < 100; i++) {
        (void)gmt_sampling_want(&sampling, &classes[1]);
    }
    cr_expect_str_eq(reason_of(&classes[0]), gmt_unmeasured_texts[GMT_UNMEASURED_FEW].reason);
    cr_expect_str_eq(reason_of(&classes[1]), gmt_unmeasured_texts[GMT_UNMEASURED_NOT_ON].reason);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Which launches are measured: phases, budget, and what is said of the rest. */
#include <criterion/criterion.h>
#include <string.h>

#include "libtrace/cupti/sampling.h"
#include "libtrace/record/clock.h"

#define MS UINT64_C(1000000)

static struct gmt_sampling sampling;
static struct gmt_collector_class classes[4];
static enum gmt_counter_group session; /* of the session that runs */

static void begin(uint64_t start_ns, double share)
{
    struct gmt_collector_config config = {
        .overhead_share = share, .overhead_start_ns = start_ns, .samples_per_class = 3};
    gmt_sampling_init(&sampling, &config, gmt_clock_monotonic_ns());
    for (uint32_t i = 0; i < 4; i++) {
        classes[i].kernel_name = "kernel";
    }
}

/* One launch as the hooks make it, with CUPTI left out. Returns the group that was measured. */
static enum gmt_counter_group launch(struct gmt_collector_class *cls, uint64_t session_ns,
                                     uint64_t range_ns)
{
    uint64_t now_ns = gmt_clock_monotonic_ns();
    enum gmt_counter_group group = gmt_sampling_want(&sampling, cls);
    if (group == GMT_GROUP_NONE) {
        return group;
    }
    bool runs = session == group;
    if (!gmt_sampling_may(&sampling, cls, group, runs ? 0 : session_ns, now_ns)) {
        return GMT_GROUP_NONE;
    }
    if (!runs) {
        gmt_sampling_charge_session(&sampling, session_ns, true);
        gmt_sampling_enter(&sampling, group, now_ns);
        session = group;
    }
    gmt_sampling_charge_range(&sampling, cls, group, range_ns);
    gmt_sampling_measured(&sampling, cls, group, now_ns);
    return group;
}

static unsigned times_measured(struct gmt_collector_class *cls, unsigned launches)
{
    unsigned count = 0;
    for (unsigned i = 0; i < launches; i++) {
        count += launch(cls, MS, MS / 10) != GMT_GROUP_NONE;
    }
    return count;
}

Test(sampling, the_first_launch_of_a_class_tells_what_patching_it_will_cost)
{
    begin(1000 * MS, 0.05);
    cr_expect(launch(&classes[0], 500 * MS, MS) == GMT_GROUP_HARDWARE);
    cr_expect(launch(&classes[0], 40 * MS, MS) == GMT_GROUP_NONE); /* the phase must be quiet */
    sampling.last_need_ns -= 1000 * MS;
    cr_expect(launch(&classes[0], 40 * MS, MS) == GMT_GROUP_PATCHED);
}

Test(sampling, a_kernel_that_would_run_too_long_when_patched_is_not)
{
    begin(1000 * MS, 0.0);
    cr_expect(launch(&classes[0], 100 * MS, 60 * MS) == GMT_GROUP_HARDWARE);
    sampling.last_need_ns -= 1000 * MS;
    cr_expect(times_measured(&classes[0], 100) == 0);
    cr_expect(launch(&classes[1], 100 * MS, MS) == GMT_GROUP_HARDWARE);
}

Test(sampling, each_class_gets_its_samples_of_each_group_and_no_more)
{
    begin(10000 * MS, 0.05);
    for (int i = 0; i < 10000000 && gmt_sampling_count(&classes[1], GMT_GROUP_SPILL) < 3; i++) {
        (void)launch(&classes[0], MS, MS / 10);
        (void)launch(&classes[1], MS, MS / 10);
    }
    cr_expect(times_measured(&classes[0], 1000) + times_measured(&classes[1], 1000) <= 6);
    for (uint32_t g = GMT_GROUP_PATCHED; g < GMT_GROUP_COUNT; g++) {
        cr_expect(gmt_sampling_count(&classes[0], g) == 3, "group %u", g);
        cr_expect(gmt_sampling_count(&classes[1], g) == 3, "group %u", g);
    }
    cr_expect(gmt_sampling_want(&sampling, &classes[0]) == GMT_GROUP_NONE);
}

Test(sampling, a_class_that_appears_later_brings_its_phase_back)
{
    begin(10000 * MS, 0.05);
    for (int i = 0; i < 10000000 && gmt_sampling_count(&classes[0], GMT_GROUP_SPILL) < 3; i++) {
        (void)launch(&classes[0], MS, MS / 10);
    }
    for (int i = 0; i < 10000000 && gmt_sampling_count(&classes[1], GMT_GROUP_PATCHED) < 3; i++) {
        (void)launch(&classes[1], MS, MS / 10);
    }
    cr_expect(gmt_sampling_count(&classes[1], GMT_GROUP_PATCHED) == 3);
}

Test(sampling, nothing_is_measured_that_the_budget_does_not_cover)
{
    begin(400 * MS, 0.0);
    cr_expect(launch(&classes[0], 500 * MS, MS) == GMT_GROUP_NONE);
    cr_expect(sampling.spent_ns == 0);
}

Test(sampling, the_budget_is_never_exceeded_by_more_than_one_launch)
{
    begin(100 * MS, 0.0);
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 50; k++) {
            (void)launch(&classes[i], 20 * MS, 10 * MS);
        }
    }
    cr_expect(sampling.spent_ns > 0 && sampling.spent_ns <= 110 * MS);
}

Test(sampling, the_last_quarter_is_kept_for_classes_without_a_sample)
{
    begin(100 * MS, 0.0);
    gmt_sampling_disable(&sampling, GMT_GROUP_PATCHED);
    cr_expect(launch(&classes[0], 70 * MS, MS) == GMT_GROUP_HARDWARE);
    gmt_sampling_charge(&sampling, 5 * MS);
    cr_expect(launch(&classes[0], 70 * MS, MS) == GMT_GROUP_NONE);
    cr_expect(launch(&classes[1], 70 * MS, MS) == GMT_GROUP_HARDWARE);
}

Test(sampling, a_spent_budget_opens_again_as_time_passes)
{
    begin(10 * MS, 0.5);
    gmt_sampling_charge(&sampling, 11 * MS);
    cr_expect(launch(&classes[0], MS, MS / 10) == GMT_GROUP_NONE);
    sampling.began_ns -= 1000 * MS;
    classes[0].retry_ns = 1; /* that time has come */
    cr_expect(launch(&classes[0], MS, MS / 10) == GMT_GROUP_HARDWARE);
}

Test(sampling, classes_that_must_never_be_measured_are_not)
{
    begin(1000 * MS, 0.05);
    classes[0].never = true;
    cr_expect(times_measured(&classes[0], 100) == 0);
}

Test(sampling, a_class_whose_ranges_are_always_polluted_is_given_up)
{
    begin(1000 * MS, 0.05);
    for (unsigned i = 0; i < GMT_SAMPLING_MAX_DISCARDS; i++) {
        cr_expect(gmt_sampling_want(&sampling, &classes[0]) == GMT_GROUP_HARDWARE);
        gmt_sampling_discarded(&classes[0]);
    }
    cr_expect(gmt_sampling_want(&sampling, &classes[0]) == GMT_GROUP_NONE);
}

Test(sampling, a_group_that_cannot_be_counted_is_passed_over)
{
    begin(1000 * MS, 0.05);
    gmt_sampling_disable(&sampling, GMT_GROUP_HARDWARE);
    cr_expect(launch(&classes[0], MS, MS) == GMT_GROUP_PATCHED);
    gmt_sampling_disable(&sampling, GMT_GROUP_PATCHED);
    gmt_sampling_disable(&sampling, GMT_GROUP_SPILL);
    cr_expect(gmt_sampling_want(&sampling, &classes[1]) == GMT_GROUP_NONE);
}

static void collect(const struct gmt_collector_class *cls, bool partly, const char *why, void *data)
{
    (void)partly;
    strcat(data, cls == &classes[0] ? "0:" : "1:");
    strcat(data, why);
    strcat(data, ";");
}

Test(sampling, what_was_not_measured_is_listed_with_the_reason)
{
    char text[512] = "";
    begin(0, 0.0);
    (void)launch(&classes[0], MS, MS);
    classes[1].never = true;
    (void)launch(&classes[1], MS, MS);
    gmt_sampling_report(&sampling, collect, text);
    cr_expect(strstr(text, "0:the overhead budget was spent;") != NULL, "%s", text);
    cr_expect(strstr(text, "1:cooperative and communication") != NULL, "%s", text);
}

/* Hundreds of launches while another group was on are not too few. */
Test(sampling, too_few_launches_are_fewer_than_groups)
{
    char text[512] = "";
    begin(1000 * MS, 0.05);
    (void)launch(&classes[0], MS, MS);
    for (unsigned i = 0; i < 100; i++) {
        (void)gmt_sampling_want(&sampling, &classes[1]);
    }
    gmt_sampling_report(&sampling, collect, text);
    cr_expect(strstr(text, "0:it was launched too few times;") != NULL, "%s", text);
    cr_expect(strstr(text, "1:the counters that it lacks were not on when it ran;") != NULL, "%s",
              text);
}

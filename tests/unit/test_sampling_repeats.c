/* SPDX-License-Identifier: Apache-2.0 */
/* Which launches are worth repeating: the first of a class, until it has both kinds of counters, within the budget. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "libtrace/cupti/measure/sampling.h"
#include "libtrace/record/clock.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

static struct gmt_sampling sampling;
static struct gmt_collector_class kernel;

static void begin(uint64_t start_ns, bool always)
{
    struct gmt_collector_config config = {.counters = true,
                                          .instructions = GMT_INSTRUCTIONS_ACCESSES,
                                          .overhead_share = 0,
                                          .overhead_start_ns = start_ns,
                                          .samples_per_class = 3,
                                          .repeat_always = always};
    gmt_sampling_init(&sampling, &config, gmt_clock_monotonic_ns());
    kernel.kernel_name = "kernel";
}

static uint64_t repeats(uint64_t kernel_ns, uint64_t copies_ns)
{
    return gmt_sampling_repeats(&sampling, &kernel, kernel_ns, copies_ns, gmt_clock_monotonic_ns());
}

static void note_why(const struct gmt_collector_class *cls, bool partly, enum gmt_unmeasured why,
                     void *data)
{
    (void)cls;
    (void)partly;
    *(enum gmt_unmeasured *)data = why;
}

static void measured(enum gmt_counter_group group)
{
    gmt_sampling_measured(&sampling, &kernel, group, gmt_clock_monotonic_ns());
}

Test(sampling_repeats, one_launch_gets_hardware_counters_and_counts_and_no_more)
{
    begin(1000 * MS, false);
    (void)gmt_sampling_want(&sampling, &kernel);
    cr_assert_neq(repeats(0, MS), 0u);
    cr_assert_neq(repeats(100 * US, MS), 0u);
    cr_expect_eq(gmt_sampling_pick(&sampling, &kernel), GMT_GROUP_HARDWARE);
    gmt_sampling_timed(&sampling, &kernel, 900 * US);
    measured(GMT_GROUP_HARDWARE);
    cr_assert_neq(repeats(100 * US, MS), 0u);
    cr_expect_eq(gmt_sampling_pick(&sampling, &kernel), GMT_GROUP_SASS);
    measured(GMT_GROUP_SASS);
    cr_expect_eq(repeats(100 * US, MS), 0u);
}

/* The second run of --collect deep: to time a first execution would leave long kernels and those that cannot be repeated
 * without counts. */
Test(sampling_repeats, a_run_that_only_counts_needs_one_execution)
{
    struct gmt_collector_config config = {.instructions = GMT_INSTRUCTIONS_ALL,
                                          .overhead_start_ns = 10000 * MS,
                                          .samples_per_class = 3};
    gmt_sampling_init(&sampling, &config, gmt_clock_monotonic_ns());
    (void)gmt_sampling_want(&sampling, &kernel);
    cr_expect_eq(repeats(0, 0), 0u);
    cr_expect_eq(gmt_sampling_pick(&sampling, &kernel), GMT_GROUP_SASS);
    config.timestamps = true; /* within the run the kernel is to have its own time, too */
    gmt_sampling_init(&sampling, &config, gmt_clock_monotonic_ns());
    cr_expect_neq(repeats(0, 0), 0u);
}

/* Its samples come from launches of their own, which cost no copies. */
Test(sampling_repeats, a_second_launch_is_not_repeated)
{
    begin(1000 * MS, false);
    (void)gmt_sampling_want(&sampling, &kernel);
    (void)gmt_sampling_want(&sampling, &kernel);
    cr_expect_eq(repeats(0, 0), 0u);
    sampling.repeat_always = true;
    cr_expect_neq(repeats(0, 0), 0u, "but for tests");
}

Test(sampling_repeats, copies_and_the_kernel_that_runs_patched_are_held_to_the_budget)
{
    begin(100 * MS, false);
    (void)gmt_sampling_want(&sampling, &kernel);
    cr_expect_neq(repeats(0, 90 * MS), 0u);
    cr_expect_eq(repeats(0, 100 * MS), 0u, "of copies alone");
    measured(GMT_GROUP_HARDWARE);
    uint64_t short_ns = repeats(10 * US, MS), longer_ns = repeats(500 * US, MS);
    cr_expect_neq(short_ns, 0u);
    cr_expect_gt(longer_ns, 10 * short_ns, "it runs many times longer");
    cr_expect_eq(repeats(10 * MS, MS), 0u);
    gmt_sampling_charge(&sampling, 100 * MS);
    cr_expect_eq(repeats(10 * US, 0), 0u);
}

/* Where classes are launched again, counts cost no copies; where they are not, repeating is all that helps. */
Test(sampling_repeats, the_last_quarter_is_for_programs_that_launch_once)
{
    static struct gmt_collector_class others[3];
    begin(100 * MS, false);
    for (unsigned i = 0; i < 3; i++) {
        (void)gmt_sampling_want(&sampling, &others[i]);
    }
    (void)gmt_sampling_want(&sampling, &kernel);
    gmt_sampling_charge(&sampling, 80 * MS);
    cr_expect_neq(repeats(0, MS), 0u);
    (void)gmt_sampling_want(&sampling, &others[0]);
    cr_expect_neq(repeats(0, MS), 0u);
    (void)gmt_sampling_want(&sampling, &others[1]);
    cr_expect_eq(repeats(0, MS), 0u, "most are launched again");
}

/* What was repeated for its counts gets them: a short kernel, too. */
Test(sampling_repeats, who_is_let_in_is_counted)
{
    begin(100 * MS, false);
    (void)gmt_sampling_want(&sampling, &kernel);
    gmt_sampling_charge(&sampling, 80 * MS);
    cr_assert_neq(repeats(0, MS), 0u);
    measured(GMT_GROUP_HARDWARE);
    gmt_sampling_timed(&sampling, &kernel, 900 * US);
    cr_assert_neq(repeats(2 * US, MS), 0u);
    cr_expect(gmt_sampling_may(&sampling, &kernel, GMT_GROUP_SASS, 0, gmt_clock_monotonic_ns()));
}

/* As in a framework, whose big modules make counting slow: what is short is left until it shows that it is launched often. */
Test(sampling_repeats, a_short_kernel_is_not_repeated_where_counting_takes_long)
{
    static struct gmt_collector_class other;
    begin(1000 * MS, false);
    other.kernel_name = "other";
    (void)gmt_sampling_want(&sampling, &other);
    gmt_sampling_charge_launch(&sampling, &other, GMT_GROUP_SASS, 12 * MS);
    (void)gmt_sampling_want(&sampling, &kernel);
    cr_expect_neq(repeats(50 * US, MS), 0u, "the first eighth is for such, too");
    gmt_sampling_charge(&sampling, 115 * MS);
    cr_expect_eq(repeats(50 * US, MS), 0u);
    cr_expect_neq(repeats(200 * US, MS), 0u, "that is long");
}

/* Not "launched too few times": more launches are not what it lacks. */
Test(sampling_repeats, a_kernel_that_the_budget_kept_from_being_counted_says_so)
{
    enum gmt_unmeasured why = GMT_MEASURABLE;
    begin(100 * MS, false);
    (void)gmt_sampling_want(&sampling, &kernel);
    cr_assert_neq(repeats(20 * MS, 0), 0u);
    measured(GMT_GROUP_HARDWARE);
    gmt_sampling_report(&sampling, note_why, &why);
    cr_expect_eq(why, GMT_UNMEASURED_FEW);
    cr_expect_eq(repeats(20 * MS, 0), 0u, "patched it runs many times longer");
    gmt_sampling_report(&sampling, note_why, &why);
    cr_expect_eq(why, GMT_UNMEASURED_BUDGET);
}

Test(sampling_repeats, what_is_never_measured_is_never_repeated)
{
    begin(1000 * MS, true);
    kernel.never = true;
    cr_expect_eq(repeats(0, 0), 0u);
    kernel.never = false;
    gmt_sampling_offer(&sampling, GMT_GROUP_HARDWARE, false);
    gmt_sampling_offer(&sampling, GMT_GROUP_PATCHED, false);
    gmt_sampling_offer(&sampling, GMT_GROUP_SPILL, false);
    cr_expect_neq(repeats(0, 0), 0u, "instructions are left");
    gmt_sampling_offer(&sampling, GMT_GROUP_SASS, false);
    cr_expect_eq(repeats(0, 0), 0u);
}

/* A hundred classes, launched so often each: too many for a program that launches each once. Of none a time is known: 1 us each. */
static void launch_others(uint64_t launches)
{
    static struct gmt_collector_class others[100];
    if (atomic_load(&sampling.class_count) == 0) {
        memset(others, 0, sizeof others); /* else they are listed */
    }
    for (unsigned i = 0; i < 100; i++) {
        others[i].kernel_name = "other";
        others[i].grid[0] = i + 1;
        (void)gmt_sampling_want(&sampling, &others[i]);
        atomic_store(&others[i].launches, launches);
    }
    atomic_store(&sampling.total_ns, 0); /* to be added up anew */
}

/* The class gets ready, in 5 ms, and its first execution shows how long the kernel takes. True: it got ready. */
static bool tried(unsigned number, uint64_t kernel_ns, bool *repeated)
{
    static struct gmt_collector_class all[64];
    struct gmt_collector_class *cls = &all[number];
    uint64_t now_ns = gmt_clock_monotonic_ns();
    cls->kernel_name = "kernel";
    cls->grid[0] = number + 1;
    (void)gmt_sampling_want(&sampling, cls);
    *repeated = false;
    if (gmt_sampling_repeats(&sampling, cls, 0, 0, now_ns) == 0) {
        return false;
    }
    *repeated = gmt_sampling_repeats(&sampling, cls, kernel_ns, MS, now_ns) != 0;
    gmt_sampling_got_ready(&sampling, 5 * MS, !*repeated);
    return true;
}

/* As the first kernels of a framework: getting ready takes longer than they are worth. */
Test(sampling_repeats, getting_ready_in_vain_takes_no_more_than_its_part)
{
    bool repeated;
    unsigned ready = 0;
    begin(1000 * MS, false);
    sampling.fixed_ns[GMT_GROUP_SASS] = 5 * MS;
    atomic_store(&sampling.spent_ns, 300 * MS);
    for (unsigned i = 0; i < 64; i++) {
        ready += tried(i, 2 * US, &repeated);
        cr_assert_not(repeated);
    }
    cr_expect_eq(ready, 13, "%u got ready, in 62.5 ms and what the last one takes", ready);
}

/* One that waited for others' work before it was refused stands for no more than 10 ms. */
Test(sampling_repeats, a_refusal_that_took_long_keeps_few_from_getting_ready)
{
    begin(1000 * MS, false);
    (void)gmt_sampling_want(&sampling, &kernel);
    gmt_sampling_got_ready(&sampling, 200 * MS, true);
    cr_expect_neq(repeats(0, 0), 0u);
    cr_expect_eq(atomic_load(&sampling.spent_ns), 200 * MS, "all of it goes to the budget");
    for (unsigned i = 0; i < 6; i++) {
        gmt_sampling_got_ready(&sampling, 20 * MS, true);
    }
    cr_expect_eq(repeats(0, 0), 0u);
    enum gmt_unmeasured why = GMT_MEASURABLE;
    gmt_sampling_report(&sampling, note_why, &why);
    cr_expect_eq(why, GMT_UNMEASURED_BUDGET);
}

/* Where nothing shows how long kernels run there is no reserve. */
Test(sampling_repeats, what_is_kept_is_kept_for_somebody)
{
    begin(1000 * MS, false);
    gmt_sampling_offer(&sampling, GMT_GROUP_HARDWARE, false);
    launch_others(1);
    (void)gmt_sampling_want(&sampling, &kernel);
    gmt_sampling_charge(&sampling, 900 * MS);
    cr_expect_neq(repeats(500 * US, 0), 0u);
}

/* A range without what ranges cost may be nothing at all: the kernel is not as short as that, and what counting it took is not what
 * counting takes by itself. */
Test(sampling_repeats, the_first_execution_says_how_long_a_short_kernel_runs)
{
    begin(1000 * MS, false);
    (void)gmt_sampling_want(&sampling, &kernel);
    cr_assert_neq(repeats(39 * US, 0), 0u);
    gmt_sampling_timed(&sampling, &kernel, 900 * US);
    cr_expect_eq(gmt_sampling_kernel_ns(&sampling, &kernel), 39 * US);
    gmt_sampling_charge_launch(&sampling, &kernel, GMT_GROUP_SASS, 4 * MS);
    cr_expect_eq(sampling.fixed_ns[GMT_GROUP_SASS], 0u);
}

/* Counting took 12 ms of a kernel of 33 us that reads shared memory: that is not what counting takes by itself. */
Test(sampling_repeats, counting_that_takes_long_for_its_kernel_keeps_no_other_from_it)
{
    static struct gmt_collector_class other;
    begin(1000 * MS, false);
    other.kernel_name = "other";
    (void)gmt_sampling_want(&sampling, &other);
    cr_assert_neq(gmt_sampling_repeats(&sampling, &other, 33 * US, 0, gmt_clock_monotonic_ns()),
                  0u);
    gmt_sampling_timed(&sampling, &other, 900 * US);
    gmt_sampling_charge_launch(&sampling, &other, GMT_GROUP_SASS, 12 * MS);
    gmt_sampling_charge(&sampling, 115 * MS);
    (void)gmt_sampling_want(&sampling, &kernel);
    cr_expect_neq(repeats(39 * US, MS), 0u);
}

/* One launch was slow for another reason. */
Test(sampling_repeats, what_counting_takes_by_itself_is_forgotten_where_it_takes_less)
{
    begin(1000 * MS, false);
    (void)gmt_sampling_want(&sampling, &kernel);
    cr_assert_neq(repeats(2 * US, 0), 0u);
    gmt_sampling_charge_launch(&sampling, &kernel, GMT_GROUP_SASS, 50 * MS);
    cr_expect_gt(sampling.fixed_ns[GMT_GROUP_SASS], 49 * MS);
    for (unsigned i = 0; i < 20; i++) {
        gmt_sampling_charge_launch(&sampling, &kernel, GMT_GROUP_SASS, 450 * US);
    }
    cr_expect_lt(sampling.fixed_ns[GMT_GROUP_SASS], MS);
}

/* What is left over after minutes is for new kernels, too, which are less than 1 % of the device time by then. */
Test(sampling_repeats, a_late_kernel_is_repeated_from_what_is_left_over)
{
    begin(1000 * MS, false);
    launch_others(1000000);
    (void)gmt_sampling_want(&sampling, &kernel);
    sampling.share = 0.05;
    sampling.began_ns -= 600000 * MS;
    gmt_sampling_charge(&sampling, 5000 * MS);
    cr_expect_neq(repeats(2 * US, 0), 0u);
    gmt_sampling_charge(&sampling, 24500 * MS);
    cr_expect_neq(repeats(2 * US, 0), 0u, "1.5 of 31 s are left, and 1.375 are kept");
    gmt_sampling_charge(&sampling, 200 * MS);
    cr_expect_eq(repeats(2 * US, 0), 0u);
}

/* The reserve grows with the budget, and never beyond what is left of it for others. */
Test(sampling_repeats, a_short_kernel_is_repeated_at_any_time_where_little_is_spent)
{
    for (uint64_t seconds = 0; seconds < 40; seconds++) {
        begin(1000 * MS, false);
        launch_others(1000000);
        memset(&kernel, 0, sizeof kernel);
        kernel.kernel_name = "kernel";
        (void)gmt_sampling_want(&sampling, &kernel);
        cr_assert_eq(atomic_load(&sampling.class_count), 101u);
        sampling.share = 0.05;
        sampling.began_ns -= seconds * 1000 * MS;
        gmt_sampling_charge(&sampling, 100 * MS);
        cr_expect_neq(repeats(2 * US, 0), 0u, "%llu s", (unsigned long long)seconds);
    }
}

Test(sampling_repeats, those_that_get_ready_not_in_vain_let_others_do_so)
{
    bool repeated;
    begin(1000 * MS, false);
    sampling.fixed_ns[GMT_GROUP_SASS] = 5 * MS;
    atomic_store(&sampling.spent_ns, 600 * MS);
    for (unsigned i = 0; i < 32; i++) {
        cr_assert(tried(i, i % 2 == 0 ? 500 * US : 2 * US, &repeated), "%u", i);
        cr_expect_eq(repeated, i % 2 == 0, "%u", i);
    }
}

/* What is less than 1 % of the device time so far, or of what counting it takes, leaves the allowance to others. */
Test(sampling_repeats, a_small_kernel_takes_what_is_left_over)
{
    begin(1000 * MS, false);
    launch_others(1);
    (void)gmt_sampling_want(&sampling, &kernel);
    sampling.fixed_ns[GMT_GROUP_SASS] = 5 * MS;
    cr_expect_neq(repeats(US / 2, 0), 0u);
    cr_expect_neq(repeats(2 * US, 0), 0u);
    gmt_sampling_charge(&sampling, 125 * MS);
    cr_expect_eq(repeats(2 * US, 0), 0u, "it is less than 1 %% of what counting it takes");
    cr_expect_neq(repeats(60 * US, 0), 0u);
    launch_others(100);
    cr_expect_eq(repeats(60 * US, 0), 0u, "it is less than 1 %% of the device time");
    cr_expect_neq(repeats(200 * US, 0), 0u);
    gmt_sampling_charge(&sampling, 250 * MS);
    cr_expect_eq(repeats(200 * US, 0), 0u, "the rest is for what is launched again");
    sampling.share = INFINITY;
    cr_expect_neq(repeats(US / 2, 0), 0u, "a larger budget is what it takes");
}

/* On a busy machine a range took 35 ms, of a kernel of 8 us. */
Test(sampling_repeats, a_first_execution_shows_that_a_kernel_is_short)
{
    static struct gmt_collector_class other;
    begin(1000 * MS, false);
    other.kernel_name = "other";
    (void)gmt_sampling_want(&sampling, &other);
    gmt_sampling_timed(&sampling, &other, MS);
    (void)gmt_sampling_want(&sampling, &kernel);
    cr_assert_neq(repeats(8 * US, MS), 0u);
    gmt_sampling_timed(&sampling, &kernel, 35 * MS);
    cr_expect_eq(gmt_sampling_kernel_ns(&sampling, &kernel), 8 * US);
    cr_expect_not(gmt_sampling_is_long(&sampling, &kernel));
    gmt_sampling_timed(&sampling, &other, 21 * MS);
    cr_expect_not(gmt_sampling_is_long(&sampling, &other), "ranges lie 34 ms apart here");
    gmt_sampling_timed(&sampling, &other, 60 * MS);
    cr_expect(gmt_sampling_is_long(&sampling, &other));
}

/* The first launch had little to do: 10 us. The second one has much: what the first one took says nothing any more. */
Test(sampling_repeats, a_later_range_shows_that_a_kernel_is_long)
{
    begin(1000 * MS, false);
    (void)gmt_sampling_want(&sampling, &kernel);
    (void)repeats(10 * US, MS);
    (void)gmt_sampling_want(&sampling, &kernel);
    gmt_sampling_timed(&sampling, &kernel, 200 * MS);
    cr_expect(gmt_sampling_is_long(&sampling, &kernel));
    cr_expect_gt(gmt_sampling_kernel_ns(&sampling, &kernel), 190 * MS);
    cr_expect_eq(atomic_load(&sampling.noise_ns), 0u, "that is not how far ranges are off");
}

Test(sampling_repeats, how_far_ranges_are_off_is_forgotten_where_they_are_not)
{
    static struct gmt_collector_class all[100];
    begin(1000 * MS, false);
    for (unsigned i = 0; i < 100; i++) {
        all[i].kernel_name = "kernel";
        all[i].grid[0] = i + 1;
        (void)gmt_sampling_want(&sampling, &all[i]);
        (void)gmt_sampling_repeats(&sampling, &all[i], 10 * US, MS, gmt_clock_monotonic_ns());
        gmt_sampling_timed(&sampling, &all[i], i == 1 ? 1000 * MS : MS);
        if (i == 1) {
            cr_expect_eq(atomic_load(&sampling.noise_ns), 50 * MS);
        }
    }
    cr_expect_lt(atomic_load(&sampling.noise_ns), MS);
}

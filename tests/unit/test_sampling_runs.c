/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What share of the GPU time of whole runs is measured completely: launches of many classes in the order in which programs make
 * them, with what CUPTI takes for them on an H200 (docs/cupti-notes.md), on a clock of the test's own.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/cupti/measure/sampling.h"
#include "libtrace/record/clock.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
enum { CLASSES = 256 };

static uint64_t clock_ns; /* 0: the machine's */

int clock_gettime(clockid_t id, struct timespec *now)
{
    if (clock_ns == 0) {
        return (int)syscall(SYS_clock_gettime, id, now);
    }
    *now = (struct timespec){(time_t)(clock_ns / 1000000000), (long)(clock_ns % 1000000000)};
    return 0;
}

/* ---- a process that is measured ------------------------------------------------------------------ */

static struct gmt_sampling sampling;
static struct gmt_collector_class classes[CLASSES];
static uint64_t kernel_ns[CLASSES];
static double device_ns[CLASSES]; /* taken so far */
static unsigned sessions;
static uint32_t session; /* the group of the one that runs */
static bool repeats;     /* first launches may be repeated */
static uint64_t sass_ns; /* what counting a launch takes by itself: more where modules are big */

static void begin(bool repeated, uint64_t counting_ns)
{
    struct gmt_collector_config config = {.counters = true,
                                          .timestamps = true,
                                          .instructions = GMT_INSTRUCTIONS_ACCESSES,
                                          .overhead_share = 0.05,
                                          .overhead_start_ns = 1000 * MS,
                                          .samples_per_class = 3};
    clock_ns = 1000 * MS;
    repeats = repeated;
    sass_ns = counting_ns;
    gmt_sampling_init(&sampling, &config, clock_ns);
}

static void end_idle_session(void)
{
    if (session != GMT_GROUP_NONE &&
        clock_ns > atomic_load(&sampling.last_need_ns) + GMT_SAMPLING_IDLE_SESSION_NS) {
        session = GMT_GROUP_NONE;
        gmt_sampling_charge(&sampling, 20 * MS);
        clock_ns += 20 * MS;
    }
}

/* As make_ready in measure.c. */
static bool ready(struct gmt_collector_class *cls, enum gmt_counter_group group)
{
    bool runs = group == GMT_GROUP_SASS || session == group;
    uint64_t expected_ns = runs ? 0 : sessions == 0 ? 500 * MS : sampling.session_cost_ns;
    if (!gmt_sampling_may(&sampling, cls, group, expected_ns, clock_ns)) {
        return false;
    }
    if (!runs) {
        uint64_t took_ns = sessions == 0 ? 350 * MS : 170 * MS;
        clock_ns += took_ns;
        gmt_sampling_charge_session(&sampling, took_ns, sessions != 0);
        gmt_sampling_enter(&sampling, group, clock_ns);
        session = group;
        sessions++;
    }
    return true;
}

static void measure(unsigned number, enum gmt_counter_group group)
{
    static const uint64_t times[GMT_GROUPS] = {[GMT_GROUP_HARDWARE] = 1,
                                               [GMT_GROUP_PATCHED] = 20,
                                               [GMT_GROUP_SPILL] = 1,
                                               [GMT_GROUP_SASS] = 60};
    uint64_t cost_ns = times[group] * kernel_ns[number] + (group == GMT_GROUP_SASS      ? sass_ns
                                                           : group == GMT_GROUP_PATCHED ? 100 * US
                                                                                        : MS);
    clock_ns += cost_ns;
    if (group == GMT_GROUP_HARDWARE) {
        gmt_sampling_timed(&sampling, &classes[number], 800 * US + kernel_ns[number]);
    }
    gmt_sampling_charge_launch(&sampling, &classes[number], group, cost_ns);
    gmt_sampling_measured(&sampling, &classes[number], group, clock_ns);
}

/* As preload/repeat does it. False: the launch is made once. */
static bool repeated(unsigned number)
{
    struct gmt_collector_class *cls = &classes[number];
    const uint64_t copies_ns = 300 * US;
    enum gmt_counter_group group = gmt_sampling_first_lacked(&sampling, cls);
    if (!repeats || gmt_sampling_repeats(&sampling, cls, 0, 0, clock_ns) == 0 ||
        group == GMT_GROUP_NONE || !ready(cls, group)) {
        return false;
    }
    clock_ns += copies_ns + kernel_ns[number];
    gmt_sampling_charge(&sampling, copies_ns + kernel_ns[number]);
    for (unsigned turn = 0; turn < 3; turn++) {
        bool more = gmt_sampling_repeats(&sampling, cls, kernel_ns[number], copies_ns, clock_ns) !=
                    0;
        group = more ? gmt_sampling_pick(&sampling, cls) : GMT_GROUP_NONE;
        if (group == GMT_GROUP_NONE || !ready(cls, group)) {
            break;
        }
        measure(number, group);
    }
    return true;
}

static void launch(unsigned number)
{
    struct gmt_collector_class *cls = &classes[number];
    cls->kernel_name = "kernel";
    device_ns[number] += (double)kernel_ns[number];
    clock_ns += 5 * US;
    end_idle_session();
    enum gmt_counter_group group = gmt_sampling_want(&sampling, cls);
    if (repeated(number)) {
        return;
    }
    if (group != GMT_GROUP_NONE && ready(cls, group)) {
        measure(number, group);
    } else {
        clock_ns += kernel_ns[number];
    }
}

static void wait_ms(uint64_t ms)
{
    clock_ns += ms * MS;
}

/* Of `count` classes from `first` on: between the two times, in us, evenly by order of magnitude, in no order. */
static void kernels(unsigned first, unsigned count, double least_us, double most_us)
{
    for (unsigned i = 0; i < count; i++) {
        double at = (double)(i * 7919u % count) / (count - 1);
        kernel_ns[first + i] = (uint64_t)(least_us * pow(most_us / least_us, at) * 1000);
    }
}

static void steps(unsigned count, unsigned first, unsigned class_count)
{
    for (unsigned step = 0; step < count; step++) {
        for (unsigned i = 0; i < class_count; i++) {
            launch(first + i);
        }
    }
}

/* Percent of the device time that is of classes with both kinds of counters. */
static double complete(void)
{
    double all = 0, of_complete = 0;
    for (unsigned i = 0; i < CLASSES; i++) {
        const struct gmt_collector_class *cls = &classes[i];
        bool counted = gmt_sampling_count(cls, GMT_GROUP_SASS) != 0 ||
                       gmt_sampling_count(cls, GMT_GROUP_PATCHED) != 0;
        all += device_ns[i];
        of_complete += counted && gmt_sampling_count(cls, GMT_GROUP_HARDWARE) != 0 ? device_ns[i]
                                                                                   : 0;
    }
    clock_ns = 0;
    return 100 * of_complete / all;
}

/* ---- programs ------------------------------------------------------------------------------------- */

/* XLA: candidates, each launched twice, in five bursts with compilation between; then a loop. */
static void autotune_and_train(void)
{
    kernels(0, 120, 10, 300);
    kernels(120, 60, 5, 1500);
    for (unsigned burst = 0; burst < 5; burst++) {
        wait_ms(800);
        for (unsigned i = 24 * burst; i < 24 * burst + 24; i++) {
            launch(i);
            wait_ms(2);
            launch(i);
        }
    }
    wait_ms(500);
    steps(200, 120, 60);
}

Test(sampling_runs, the_loop_behind_an_autotuner)
{
    begin(true, 6 * MS);
    autotune_and_train();
    double share = complete();
    cr_expect_gt(share, 30, "%.1f %% in %u sessions", share, sessions);
}

Test(sampling_runs, the_loop_behind_an_autotuner_none_of_whose_launches_is_repeated)
{
    begin(false, 6 * MS);
    autotune_and_train();
    double share = complete();
    cr_expect_gt(share, 30, "%.1f %% in %u sessions", share, sessions);
}

Test(sampling_runs, a_loop_behind_preparations_and_a_pause)
{
    begin(true, 400 * US);
    kernels(0, 40, 10, 500);
    kernels(40, 5, 100, 3000);
    for (unsigned i = 0; i < 40; i++) {
        launch(i), launch(i), launch(i);
    }
    wait_ms(1000);
    steps(500, 40, 5);
    double share = complete();
    cr_expect_gt(share, 99, "%.1f %% in %u sessions", share, sessions);
}

Test(sampling_runs, a_loop_with_pauses_in_its_first_steps)
{
    begin(true, 2 * MS);
    kernels(0, 80, 5, 800);
    for (unsigned step = 0; step < 4; step++) {
        steps(1, 0, 80);
        wait_ms(600);
    }
    steps(300, 0, 80);
    double share = complete();
    cr_expect_gt(share, 80, "%.1f %% in %u sessions", share, sessions);
}

/* As cells of a notebook are executed. */
Test(sampling_runs, kernels_launched_once_with_pauses_between)
{
    begin(true, 400 * US);
    kernels(0, 12, 50, 5000);
    for (unsigned i = 0; i < 12; i++) {
        wait_ms(700);
        launch(i);
    }
    double share = complete();
    cr_expect_gt(share, 60, "%.1f %% in %u sessions", share, sessions);
}

/* These have no pauses: what the others gain must not be theirs. */
Test(sampling_runs, a_loop_from_the_first_launch_on)
{
    begin(true, 4 * MS);
    kernels(0, 132, 2, 60);
    steps(300, 0, 132);
    double share = complete();
    cr_expect_gt(share, 70, "%.1f %% in %u sessions", share, sessions);
}

Test(sampling_runs, kernels_launched_once_one_after_the_other)
{
    begin(true, 400 * US);
    kernels(0, 10, 50, 5000);
    steps(1, 0, 10);
    double share = complete();
    cr_expect_gt(share, 50, "%.1f %% in %u sessions", share, sessions);
}

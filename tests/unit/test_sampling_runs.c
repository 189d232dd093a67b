/* SPDX-License-Identifier: Apache-2.0 */
/* What share of the GPU time of whole runs is measured completely: launches of many classes in the order in which programs make
 * them (sampling_process.h). */
#include <criterion/criterion.h>
#include <math.h>

#include "sampling_process.h"

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
    double share = complete_of(0);
    clock_ns = 0;
    return share;
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
    cr_expect_gt(share, 59, "%.1f %% in %u sessions", share, sessions);
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

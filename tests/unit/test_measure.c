/* SPDX-License-Identifier: Apache-2.0 */
/* A launch that is measured while the device does not get idle: the program goes on. CUPTI is the stand-in. */
#include "tests/unit/measured_process.h"

TestSuite(measure, .init = setup);

static bool runs_on; /* the kernel of launch_that_may_wait does */

/* A launch whose kernel may wait for what its thread does next. */
static void launch_that_may_wait(struct gmt_collector_class *cls)
{
    launches++;
    (void)gmt_measure_want(cls);
    struct gmt_launch_call site = site_of(cls);
    site.suspected = GMT_UNMEASURED_HOST_MEMORY;
    enum gmt_counter_group group = gmt_measure_begin(&site);
    cr_assert_eq(group, GMT_GROUP_HARDWARE);
    busy = runs_on;
    gmt_measure_end(&site, group);
}

Test(measure, a_kernel_that_ends_is_measured_at_once)
{
    begin_measured(&kernel);
    end(&kernel, GMT_GROUP_HARDWARE);
    cr_expect_eq(ranges_ended(), 1u);
    cr_expect_eq(kept(&kernel), 1u);
}

/* Host functions mostly are over at once. What is not is waited for a few times, and then no more. */
Test(measure, what_may_wait_for_the_host_is_waited_for_a_little)
{
    uint64_t began_ns = gmt_clock_monotonic_ns();
    waits = true;
    cr_expect_eq(begin(&kernel), GMT_GROUP_NONE);
    for (unsigned i = 0; i < 1000 && asked_ns != 0; i++) {
        cr_expect_eq(begin(&kernel), GMT_GROUP_NONE);
    }
    cr_expect_eq(asked_ns, 0u);
    cr_expect_gt(asked_in_all_ns, 0u);
    /* 50 ms and one more time, and 2 % of the run, which takes as long as the machine likes. */
    cr_expect_leq(asked_in_all_ns, UINT64_C(60000000) + (gmt_clock_monotonic_ns() - began_ns) / 50);
    waits = false;
    begin_measured(&kernel);
    end(&kernel, GMT_GROUP_HARDWARE);
    cr_expect_eq(kept(&kernel), 1u);
}

Test(measure, one_that_does_not_end_is_measured_after_the_program_has_waited_for_it)
{
    launch_that_runs_on();
    cr_expect_eq(ranges_ended(), 0u, "nobody waits for it");
    gmt_measure_waited();
    cr_expect_eq(ranges_ended(), 0u, "for something else");
    busy = false;
    wait_until_ended(1);
    cr_expect_eq(kept(&kernel), 1u);
}

Test(measure, nothing_else_is_measured_before_it_has_ended)
{
    launch_that_runs_on();
    cr_expect_eq(begin(&other), GMT_GROUP_NONE);
    busy = false;
    begin_measured(&other);
    end(&other, GMT_GROUP_HARDWARE);
    cr_expect_eq(ranges_ended(), 2u);
    cr_expect_eq(kept(&kernel), 0u, "another kernel ran in its range");
    cr_expect_eq(kernel.why, GMT_UNMEASURED_OVERTAKEN + 1u, "there is one thread");
    cr_expect_eq(kept(&other), 1u);
}

/* As the remedy says: nothing is launched before it has ended. */
Test(measure, one_that_is_waited_for_has_no_reason_to_be_discarded)
{
    launch_that_runs_on();
    busy = false;
    wait_until_ended(1);
    begin_measured(&other);
    end(&other, GMT_GROUP_HARDWARE);
    cr_expect_eq(kept(&kernel), 1u);
    cr_expect_eq(kernel.why, 0u);
}

Test(measure, a_launch_of_another_thread_in_the_range_of_one_is_said)
{
    begin_measured(&kernel);
    launches++;
    end(&kernel, GMT_GROUP_HARDWARE);
    cr_expect_eq(ranges_ended(), 1u);
    cr_expect_eq(kept(&kernel), 0u);
    cr_expect_eq(kernel.why, GMT_UNMEASURED_POLLUTED + 1u);
}

Test(measure, a_launch_right_after_it_has_ended_does_not_spoil_it)
{
    launch_that_runs_on();
    busy = false;
    begin_measured(&other);
    end(&other, GMT_GROUP_HARDWARE);
    cr_expect_eq(kept(&kernel), 1u);
    cr_expect_eq(kept(&other), 1u);
}

Test(measure, nothing_begins_while_something_else_is_under_way)
{
    busy = true;
    cr_expect_eq(begin(&kernel), GMT_GROUP_NONE);
    cr_expect_eq(kernel.why, GMT_UNMEASURED_AFTER + 1u);
    busy = false; /* as the remedy says: the program waits before it launches */
    begin_measured(&other);
    end(&other, GMT_GROUP_HARDWARE);
    cr_expect_eq(kept(&other), 1u);
    cr_expect_eq(other.why, 0u);
    begin_measured(&kernel);
    end(&kernel, GMT_GROUP_HARDWARE);
}

/* Waiting for what is under way may have used up the budget: that is not why. */
Test(measure, what_is_behind_late_work_says_so_without_a_budget_too)
{
    busy = true;
    cr_expect_eq(begin(&kernel), GMT_GROUP_NONE);
    gmt_measure_charge(UINT64_C(100000000000));
    cr_expect_eq(begin(&other), GMT_GROUP_NONE);
    cr_expect_eq(other.why, GMT_UNMEASURED_AFTER + 1u);
    busy = false;
    cr_expect_eq(begin(&other), GMT_GROUP_NONE);
    cr_expect_eq(other.why, GMT_UNMEASURED_BUDGET + 1u);
}

/* A program that compiles, or reads a file, between its kernels. */
Test(measure, a_session_outlasts_a_pause_and_is_ended_in_a_long_one)
{
    begin_measured(&kernel);
    end(&kernel, GMT_GROUP_HARDWARE);
    (void)usleep(1200000);
    gmt_measure_waited();
    cr_expect(gmt_measuring.ranges.running);
    atomic_store(&gmt_measuring.sampling.last_need_ns,
                 gmt_clock_monotonic_ns() - GMT_SAMPLING_IDLE_SESSION_NS);
    for (unsigned tries = 0; gmt_measuring.ranges.running && tries < TRIES; tries++) {
        (void)usleep(1000);
        gmt_measure_waited();
    }
    cr_expect_not(gmt_measuring.ranges.running);
}

Test(measure, a_kernel_that_may_wait_for_the_host_and_ends_is_measured)
{
    launch_that_may_wait(&kernel);
    cr_expect_eq(kept(&kernel), 1u);
    cr_expect_eq(kernel.wait_outcome, GMT_WAIT_ENDED);
}

Test(measure, one_that_does_not_end_holds_its_caller_for_a_short_time_and_says_why)
{
    uint64_t began_ns = gmt_clock_monotonic_ns();
    runs_on = true;
    launch_that_may_wait(&kernel);
    uint64_t held_ns = gmt_clock_monotonic_ns() - began_ns;
    cr_expect_lt(held_ns, UINT64_C(5000000000), "held for %llu ns", (unsigned long long)held_ns);
    cr_expect_eq(kernel.wait_outcome, GMT_WAIT_UNTRIED, "it has another trial");
    cr_expect_eq(kernel.why, GMT_UNMEASURED_HOST_MEMORY + 1u);
    cr_expect_eq(begin(&other), GMT_GROUP_NONE);
    cr_expect_eq(other.why, GMT_UNMEASURED_WAITS + 1u);
    busy = false;
    wait_until_ended(1);
    cr_expect_eq(kept(&kernel), 0u, "another kernel was launched");
    cr_expect_eq(kernel.why, GMT_UNMEASURED_HOST_MEMORY + 1u, "that is still why");
}

Test(measure, nothing_is_held_any_more_where_it_was_in_vain_for_long)
{
    gmt_sampling_held_in_vain(&gmt_measuring.sampling, UINT64_C(3600000000000));
    launches++;
    (void)gmt_measure_want(&kernel);
    struct gmt_launch_call site = site_of(&kernel);
    site.suspected = GMT_UNMEASURED_HOST_MEMORY;
    cr_expect_eq(gmt_measure_begin(&site), GMT_GROUP_NONE);
    cr_expect_eq(kernel.why, GMT_UNMEASURED_WAITS + 1u);
}

static _Atomic bool captures_now;

static void count_capture(void)
{
    captures++;
}

/* Another thread begins a capture, as the hooks do. */
static void *capture(void *data)
{
    (void)data;
    gmt_measure_capture_begins(count_capture);
    captures_now = true;
    return NULL;
}

static void *end_soon(void *data)
{
    (void)data;
    while (gmt_measuring.captures_waiting == 0) {
        (void)usleep(100);
    }
    (void)usleep(50000);
    cr_expect_not(captures_now, "it waits for the end of the launch");
    busy = false;
    return NULL;
}

/* A launch that is left unfinished while a capture begins breaks the capture: that waits, and so does the launch. */
Test(measure, a_launch_is_finished_before_a_capture_begins)
{
    pthread_t threads[2];
    begin_measured(&kernel);
    busy = true;
    cr_assert_eq(pthread_create(&threads[0], NULL, capture, NULL), 0);
    cr_assert_eq(pthread_create(&threads[1], NULL, end_soon, NULL), 0);
    while (captures == 0) {
        (void)usleep(100);
    }
    end(&kernel, GMT_GROUP_HARDWARE);
    for (unsigned i = 0; i < 2; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    cr_expect(captures_now);
    cr_expect_eq(ranges_ended(), 1u);
    cr_expect_eq(kept(&kernel), 1u);
}

Test(measure, nothing_is_asked_of_streams_while_a_capture_is_under_way)
{
    captures = 1;
    cr_expect_not(gmt_session_idle_within(0));
    captures = 0;
    cr_expect(gmt_session_idle_within(0));
}

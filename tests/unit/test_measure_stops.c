/* SPDX-License-Identifier: Apache-2.0 */
/* What ends a session of counters while the device is not idle: CUPTI is not asked to, and the program goes on. CUPTI is the
 * stand-in. */
#include "tests/unit/measured_process.h"

TestSuite(measure_stops, .init = setup);

Test(measure_stops, the_process_may_end_before_it_has)
{
    launch_that_runs_on();
    gmt_measure_finish();
    cr_expect_eq(ranges_ended(), 0u);
}

Test(measure_stops, another_client_of_cupti_gets_it_when_the_pending_launch_has_ended)
{
    launch_that_runs_on();
    cr_expect_not(gmt_measure_suspend(), "not now");
    cr_expect_eq(ranges_ended(), 0u);
    busy = false;
    wait_until_ended(1);
    cr_expect_not(gmt_measuring.ranges.running, "and with the range its session");
    cr_expect_eq(begin(&other), GMT_GROUP_NONE);
}

static void wait_until_closed(void)
{
    for (unsigned tries = 0; gmt_measuring.ranges.running && tries < TRIES; tries++) {
        (void)usleep(1000);
    }
    cr_expect_not(gmt_measuring.ranges.running);
}

/* To end a session waits for the device with the driver's locks held, and a kernel may wait for what this thread does next. */
Test(measure_stops, another_client_of_cupti_does_not_wait_for_a_kernel_that_runs_on)
{
    begin_measured(&kernel);
    end(&kernel, GMT_GROUP_HARDWARE);
    busy = true;
    cr_expect_not(gmt_measure_suspend(), "not now");
    cr_expect(gmt_measuring.ranges.running);
    (void)usleep(300000);
    cr_expect(gmt_measuring.ranges.running, "the watch thread does not, either");
    busy = false;
    wait_until_closed();
}

static const void *asked_of;

static bool idle_in(void *of)
{
    asked_of = of;
    return !busy;
}

/* The thread that takes over may have no context, or another one. */
Test(measure_stops, what_is_under_way_is_asked_of_the_session_s_context)
{
    static struct gmt_collector_config with_context;
    with_context = config;
    with_context.idle_in = idle_in;
    gmt_measuring.config = &with_context;
    begin_measured(&kernel);
    end(&kernel, GMT_GROUP_HARDWARE);
    cr_expect(gmt_measure_suspend());
    cr_expect_eq(asked_of, &context);
    cr_expect_not(gmt_measuring.ranges.running);
}

/* To give the profiler back would break it, as ending a session would. */
Test(measure_stops, nothing_is_given_back_during_a_capture)
{
    begin_measured(&kernel);
    end(&kernel, GMT_GROUP_HARDWARE);
    captures = 1;
    cr_expect_not(gmt_measure_suspend());
    cr_expect(gmt_measuring.ranges.running);
    (void)gmt_ranges_stop(&gmt_measuring.ranges);
    cr_expect_not(gmt_measure_suspend());
    cr_expect_eq(gmt_measuring.ranges.context, &context);
}

/* A process with several devices: a kernel in the session's context runs on, the others are idle. */
static int elsewhere;
static struct gmt_collector_config several;

static bool idle_in_all_but_one(void *of)
{
    return of != &context || !busy;
}

static bool always_idle(void)
{
    return true; /* the current context is another one */
}

static void begin_elsewhere(void)
{
    several = config;
    several.idle_in = idle_in_all_but_one;
    several.idle = always_idle;
    gmt_measuring.config = &several;
    gmt_contexts_add(&elsewhere, 2, 1);
    begin_measured(&kernel);
    end(&kernel, GMT_GROUP_HARDWARE);
    busy = true;
}

/* That kernel may wait for the launch at hand, or for what its thread launches next. */
Test(measure_stops, a_session_does_not_move_to_another_context_before_its_own_is_idle)
{
    begin_elsewhere();
    launches++;
    (void)gmt_measure_want(&other);
    struct gmt_launch_call site = site_of(&other);
    site.context = &elsewhere;
    cr_expect_eq(gmt_measure_begin(&site), GMT_GROUP_NONE);
    cr_expect_eq(other.why, GMT_UNMEASURED_AFTER + 1u);
    cr_expect_eq(gmt_measuring.ranges.context, &context);
    cr_expect(gmt_measuring.ranges.running);
    busy = false;
    enum gmt_counter_group group = GMT_GROUP_NONE;
    for (unsigned tries = 0; group == GMT_GROUP_NONE && tries < TRIES; tries++) {
        group = gmt_measure_begin(&site);
        (void)usleep(1000);
    }
    cr_expect_eq(group, GMT_GROUP_HARDWARE);
    cr_expect_eq(gmt_measuring.ranges.context, &elsewhere);
    gmt_measure_end(&site, group);
}

Test(measure_stops, a_session_of_another_context_is_not_ended_before_that_is_idle)
{
    begin_elsewhere();
    atomic_store(&gmt_measuring.sampling.last_need_ns,
                 gmt_clock_monotonic_ns() - GMT_SAMPLING_IDLE_SESSION_NS);
    for (unsigned tries = 0; !gmt_measuring.end_wanted && tries < TRIES; tries++) {
        (void)usleep(1000);
    }
    gmt_measure_waited();
    cr_expect(gmt_measuring.ranges.running);
    busy = false;
    for (unsigned tries = 0; gmt_measuring.ranges.running && tries < TRIES; tries++) {
        (void)usleep(1000);
        gmt_measure_waited();
    }
    cr_expect_not(gmt_measuring.ranges.running);
}

Test(measure_stops, a_pending_launch_of_another_context_is_not_ended_before_that_is_idle)
{
    launch_that_runs_on();
    several = config;
    several.idle_in = idle_in_all_but_one;
    several.idle = always_idle;
    gmt_measuring.config = &several;
    gmt_measure_waited();
    cr_expect_eq(ranges_ended(), 0u);
    busy = false;
    wait_until_ended(1);
}

Test(measure_stops, a_context_may_go_while_a_kernel_runs_on)
{
    begin_measured(&kernel);
    end(&kernel, GMT_GROUP_HARDWARE);
    busy = true;
    gmt_measure_drop_context(&context);
    cr_expect(gmt_measuring.ranges.running, "CUPTI was not asked to end it");
    cr_expect_not(gmt_measuring.counting);
}

Test(measure_stops, the_process_may_end_while_a_kernel_runs_on)
{
    begin_measured(&kernel);
    end(&kernel, GMT_GROUP_HARDWARE);
    busy = true;
    gmt_measure_finish();
    cr_expect(gmt_measuring.ranges.running, "CUPTI was not asked to end it");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* How long measuring waits for the device, which may itself wait for the program. */
#include <criterion/criterion.h>

#include "libtrace/cupti/measure/sessions.h"

#define HOUR_NS UINT64_C(3600000000000)

static unsigned asked;
static unsigned busy_for; /* questions */

static bool idle(void)
{
    asked++;
    busy_for -= busy_for != 0 && busy_for != UINT32_MAX;
    return busy_for == 0;
}

static const struct gmt_collector_config config = {.idle = idle};

static void setup(void)
{
    gmt_measuring.config = &config;
    asked = 0;
    busy_for = 0;
}

TestSuite(sessions, .init = setup);

static unsigned questions(uint64_t ns, bool expected)
{
    asked = 0;
    cr_expect_eq(gmt_session_idle_within(ns), expected);
    return asked;
}

Test(sessions, the_device_is_asked_until_it_is_idle)
{
    cr_expect_eq(questions(0, true), 1u);
    busy_for = 1000;
    cr_expect_eq(questions(HOUR_NS, true), 1000u);
}

Test(sessions, what_does_not_end_is_waited_for_once)
{
    busy_for = UINT32_MAX;
    cr_expect_gt(questions(1000000, false), 1u);
    cr_expect_eq(questions(HOUR_NS, false), 1u, "the program goes on at once");
    cr_expect_eq(questions(HOUR_NS, false), 1u);
    busy_for = 1;
    cr_expect_eq(questions(HOUR_NS, true), 1u);
    busy_for = 1000;
    cr_expect_eq(questions(HOUR_NS, true), 1000u, "it was idle meanwhile");
}

Test(sessions, a_question_is_no_wait)
{
    busy_for = UINT32_MAX;
    (void)questions(0, false);
    busy_for = 1000;
    cr_expect_eq(questions(HOUR_NS, true), 1000u);
}

Test(sessions, without_streams_nothing_is_under_way)
{
    static const struct gmt_collector_config none;
    gmt_measuring.config = &none;
    cr_expect(gmt_session_idle_within(0));
}

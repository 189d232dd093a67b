/* SPDX-License-Identifier: Apache-2.0 */
/* Intervals around the median of paired differences, and what a plan says. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "launcher/try/try.h"

/* P(the median lies between the k-th smallest and the k-th largest of n), from binomial coefficients. */
static double coverage(unsigned n, unsigned k)
{
    double below = 0, coefficient = 1;
    for (unsigned i = 0; i < k; i++) {
        below += coefficient;
        coefficient = coefficient * (n - i) / (i + 1);
    }
    return 1 - 2 * below / pow(2, n);
}

/* The values 1 to n, out of order. */
static struct gmt_try_gain gain_of(unsigned n)
{
    double values[GMT_TRY_MOST_TURNS];
    for (unsigned i = 0; i < n; i++) {
        values[i] = 1 + (i * 7 + 3) % n;
    }
    return gmt_try_gain_of(values, n, 0.95);
}

Test(try_gain, interval_is_the_narrowest_that_holds_the_median_with_95_percent)
{
    for (unsigned n = 6; n <= 60; n++) {
        if (n % 7 == 0) {
            continue; /* not all values would be there */
        }
        struct gmt_try_gain gain = gain_of(n);
        unsigned k = (unsigned)gain.low_s;
        cr_assert_float_eq(gain.median_s, (n + 1) / 2.0, 1e-12, "median of %u", n);
        cr_assert_float_eq(gain.low_s + gain.high_s, n + 1, 1e-12, "both ends of %u", n);
        cr_assert_float_eq(gain.coverage, coverage(n, k), 1e-12, "coverage of %u", n);
        cr_assert_geq(gain.coverage, 0.95, "coverage of %u", n);
        cr_assert_lt(coverage(n, k + 1), 0.95, "a narrower one of %u", n);
    }
}

Test(try_gain, few_pairs_give_the_whole_range_and_say_so)
{
    for (unsigned n = 1; n < 6; n++) {
        struct gmt_try_gain gain = gain_of(n);
        cr_assert_float_eq(gain.low_s, 1, 1e-12);
        cr_assert_float_eq(gain.high_s, n, 1e-12);
        cr_assert_float_eq(gain.coverage, coverage(n, 1), 1e-12);
        cr_assert_lt(gain.coverage, 0.95);
    }
    cr_assert_eq(gmt_try_gain_of(NULL, 0, 0.95).pairs, 0);
}

Test(try_gain, the_best_of_several_needs_a_wider_interval)
{
    const double values[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    cr_assert_float_eq(gmt_try_gain_of(values, 10, 0.95).low_s, 2, 1e-12);
    struct gmt_try_gain wider = gmt_try_gain_of(values, 10, 1 - 0.05 / 4);
    cr_assert_float_eq(wider.low_s, 1, 1e-12);
    cr_assert_float_eq(wider.coverage, coverage(10, 1), 1e-12);
}

static struct gmt_try_outcome outcome(enum gmt_fix fix, enum gmt_fix_state state, double median_s,
                                      int64_t value)
{
    static struct gmt_try_sweep sweeps[16];
    static unsigned used;
    sweeps[used].value = value;
    struct gmt_try_outcome of = {.fix = fix, .state = state};
    of.gain.median_s = median_s;
    of.set.swept[0] = &sweeps[used++];
    of.differs = state == GMT_FIX_DIFFERS;
    return of;
}

Test(try_sweep, best_value_comes_first)
{
    struct gmt_try_outcome outcomes[] = {
        outcome(GMT_FIX_COUNT, GMT_FIX_PROVEN, 9, 0),
        outcome(GMT_FIX_CARVE_OUT, GMT_FIX_NO_GAIN, 5, 1),
        outcome(GMT_FIX_CARVE_OUT, GMT_FIX_PROVEN, 2, 2),
        outcome(GMT_FIX_CARVE_OUT, GMT_FIX_PROVEN, 3, 3),
        outcome(GMT_FIX_CARVE_OUT, GMT_FIX_PROVEN, 3, 4),
        outcome(GMT_FIX_WAIT_POLICY, GMT_FIX_TRIED, 7, 5),
    };
    static const int64_t sorted[] = {0, 3, 4, 2, 1, 5};
    gmt_try_sort(outcomes, 6);
    for (size_t i = 0; i < 6; i++) {
        cr_expect_eq(outcomes[i].set.swept[0]->value, sorted[i], "place %zu", i);
    }
}

Test(try_sweep, one_value_that_differs_ends_the_setting)
{
    struct gmt_try_outcome outcomes[] = {
        outcome(GMT_FIX_CARVE_OUT, GMT_FIX_PROVEN, 2, 1),
        outcome(GMT_FIX_CARVE_OUT, GMT_FIX_DIFFERS, 0, 2),
        outcome(GMT_FIX_WAIT_POLICY, GMT_FIX_PROVEN, 1, 3),
    };
    gmt_try_sort(outcomes, 3);
    cr_expect_eq(outcomes[0].state, GMT_FIX_DIFFERS);
    cr_expect_eq(outcomes[1].state, GMT_FIX_DIFFERS);
    cr_expect_eq(outcomes[2].state, GMT_FIX_PROVEN);
}

static unsigned parse(const char *text, struct gmt_plan *plan)
{
    char copy[512];
    (void)snprintf(copy, sizeof(copy), "%s", text);
    return gmt_plan_parse(copy, plan);
}

#define BEGIN "gmtrace-apply 2\nprogram 0123456789abcdef0123456789abcdef /a path/app\n"

Test(plan, says_states_and_parameters)
{
    struct gmt_plan plan;
    cr_assert_eq(parse(BEGIN
                       "# a comment\n\nfix pageable-staging proven pieces=3\nfix carve-out tried\n",
                       &plan),
                 0);
    cr_assert_str_eq(gmt_plan_path(&plan, 0), "/a path/app");
    cr_assert(gmt_plan_is_for(&plan, "0123456789abcdef0123456789abcdef"));
    cr_assert(!gmt_plan_is_for(&plan, "0123456789abcdef0123456789abcde0"));
    cr_assert_eq(plan.states[GMT_FIX_PAGEABLE_STAGING], GMT_FIX_PROVEN);
    cr_assert_eq(plan.states[GMT_FIX_CARVE_OUT], GMT_FIX_TRIED);
    cr_assert_eq(plan.states[GMT_FIX_WAIT_POLICY], GMT_FIX_ABSENT);
    cr_assert_eq(plan.values[GMT_FIX_PAGEABLE_STAGING_pieces], 3);
    cr_assert_eq(plan.values[GMT_FIX_PAGEABLE_STAGING_threads], 4);
}

#define PROGRAM(digit) "program " digit "123456789abcdef0123456789abcdef /app" digit "\n"

Test(plan, is_for_several_programs)
{
    struct gmt_plan plan;
    cr_assert_eq(
        parse("gmtrace-apply 2\n" PROGRAM("0") PROGRAM("1") PROGRAM("2") PROGRAM("3"), &plan), 0);
    cr_assert_eq(plan.program_count, 4);
    cr_assert(gmt_plan_is_for(&plan, "3123456789abcdef0123456789abcdef"));
    cr_assert(!gmt_plan_is_for(&plan, "4123456789abcdef0123456789abcdef"));
    cr_assert_eq(parse("gmtrace-apply 2\n" PROGRAM("0") PROGRAM("1") PROGRAM("2") PROGRAM("3")
                           PROGRAM("4"),
                       &plan),
                 6);
}

Test(plan, names_the_line_that_is_not_understood)
{
    struct gmt_plan plan;
    cr_assert_eq(parse("", &plan), 1);
    cr_assert_eq(parse("gmtrace-apply 3\n", &plan), 1);
    cr_assert_neq(parse("gmtrace-apply 2\n", &plan), 0, "no program");
    cr_assert_eq(parse("gmtrace-apply 2\nprogram 0123 /app\n", &plan), 2);
    cr_assert_eq(parse(BEGIN "fix carve-out\n", &plan), 3);
    cr_assert_eq(parse(BEGIN "fix carve-out absent\n", &plan), 3);
    cr_assert_eq(parse(BEGIN "fix carve-out proven percent=101\n", &plan), 3);
    cr_assert_eq(parse(BEGIN "fix carve-out proven percent=99999999999999999999\n", &plan), 3);
    cr_assert_eq(parse(BEGIN "fix carve-out proven pieces=3\n", &plan), 3, "of another fix");
    cr_assert_eq(parse(BEGIN "fix carve-out proven\nfix carve-out proven\n", &plan), 4);
}

Test(plan, standard_values_are_within_their_limits)
{
    for (unsigned i = 0; i < GMT_FIX_PARAMETERS; i++) {
        const struct gmt_fix_parameter_row *row = &gmt_fix_parameters[i];
        cr_assert(row->least <= row->standard && row->standard <= row->most, "%s", row->name);
    }
}

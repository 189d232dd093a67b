/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that several processes took: what stands for them. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>

#include "fit.h"

static void near(double value, double expected)
{
    cr_assert(fabs(value - expected) <= 1e-9 * fabs(expected), "%g, not %g", value, expected);
}

/* Three processes of two passes of two samples; their values are 20, 10 and 30. */
static const double samples[] = {22, 20, 20, 20, 10, 10, 90, 80, 31, 35, 30, 30};
static const double pass_of[] = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5};
static const double process_of[] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2};
enum { COUNT = sizeof(samples) / sizeof(samples[0]) };

static double by(enum gmt_process_rule rule, size_t n)
{
    struct gmt_stat stat = {.median = NAN};

    cr_assert_eq(gmt_stat_processes(samples, pass_of, process_of, n, rule, &stat), 0);
    cr_assert_eq(stat.n, n);
    return stat.median;
}

Test(processes, each_rule_takes_its_process)
{
    near(by(GMT_PROCESS_LOWEST, COUNT), 10);
    near(by(GMT_PROCESS_SECOND, COUNT), 20);
    near(by(GMT_PROCESS_MEDIAN, COUNT), 20);
    near(by(GMT_PROCESS_MEDIAN, 8), 15);
    /* A single process stands for itself. */
    near(by(GMT_PROCESS_LOWEST, 4), 20);
    near(by(GMT_PROCESS_SECOND, 4), 20);
    near(by(GMT_PROCESS_MEDIAN, 4), 20);
}

Test(processes, the_lowest_is_met_again_where_one_process_has_ill_luck)
{
    const double lucky[] = {10, 10, 10.1, 10.1, 13, 13}, unlucky[] = {13, 13, 12.5, 12.5, 10.1, 10};
    const double passes[] = {0, 0, 1, 1, 2, 2};
    struct gmt_stat one, other;

    cr_assert_eq(gmt_stat_processes(lucky, passes, passes, 6, GMT_PROCESS_RULE, &one), 0);
    cr_assert_eq(gmt_stat_processes(unlucky, passes, passes, 6, GMT_PROCESS_RULE, &other), 0);
    cr_assert(fabs(one.median / other.median - 1) < 0.01, "%g, %g", one.median, other.median);
}

Test(processes, the_spread_is_what_processes_differ_by)
{
    const double even[] = {10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 16};
    const double passes[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    struct gmt_stat stat;

    cr_assert_eq(gmt_stat_processes(even, passes, passes, 12, GMT_PROCESS_LOWEST, &stat), 0);
    near(stat.spread, 6);
    cr_assert_eq(gmt_stat_processes(even, passes, passes, 12, GMT_PROCESS_SECOND, &stat), 0);
    near(stat.median, 16);
    near(stat.spread, 6);
}

Test(processes, what_is_no_time_is_refused)
{
    const double bad[] = {10, NAN};
    struct gmt_stat stat;

    cr_assert_eq(gmt_stat_processes(bad, pass_of, process_of, 2, GMT_PROCESS_LOWEST, &stat),
                 -EINVAL);
    cr_assert_eq(gmt_stat_processes(bad, pass_of, process_of, 0, GMT_PROCESS_LOWEST, &stat),
                 -EINVAL);
}

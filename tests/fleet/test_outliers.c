/* SPDX-License-Identifier: Apache-2.0 */
/* The outlier test: its quantiles, its rate of false alarms, and what it finds. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/fleet/outliers.h"

enum { VALUES_MOST = 64 };

static uint64_t state = 7;

static double uniform(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

static double laplace(void)
{
    double u = uniform() - 0.5;

    return copysign(log(1 - 2 * fabs(u)), u);
}

/* Share of sets of n values in which something is odd. */
static double alarms(double (*draw)(void), size_t n, enum gmt_fleet_side side, double alpha,
                     int sets)
{
    double values[VALUES_MOST], odd[VALUES_MOST];
    int count = 0;

    for (int set = 0; set < sets; set++) {
        struct gmt_outliers outliers;

        for (size_t i = 0; i < n; i++) {
            values[i] = draw();
        }
        cr_assert_eq(gmt_outliers_find(&outliers, values, n, side, alpha, odd), 0);
        count += outliers.count > 0;
    }
    return (double)count / sets;
}

Test(outliers, quantiles_of_student_are_those_of_tables)
{
    cr_expect_float_eq(gmt_student_upper(0.05, 1), 6.313752, 1e-5);
    cr_expect_float_eq(gmt_student_upper(0.025, 10), 2.228139, 1e-5);
    cr_expect_float_eq(gmt_student_upper(0.0005, 30), 3.645959, 1e-5);
    cr_expect_float_eq(gmt_student_upper(0.005, 120), 2.617421, 1e-5);
}

Test(outliers, false_alarms_are_no_more_than_stated, .timeout = 100)
{
    /* Of 4000 sets 200: 250 are three and a half standard deviations more. */
    cr_expect_lt(alarms(normal, 8, GMT_FLEET_HIGHER, 0.05, 4000), 0.0625);
    cr_expect_lt(alarms(normal, 16, GMT_FLEET_EITHER, 0.05, 4000), 0.0625);
    cr_expect_lt(alarms(normal, 64, GMT_FLEET_LOWER, 0.05, 4000), 0.0625);
    cr_expect_lt(alarms(normal, 64, GMT_FLEET_EITHER, 0.05, 4000), 0.0625);
    cr_expect_lt(alarms(laplace, 64, GMT_FLEET_HIGHER, 0.05, 4000), 0.0625);
    cr_expect_lt(alarms(laplace, 32, GMT_FLEET_EITHER, 0.05, 4000), 0.0625);
    /* It does answer. */
    cr_expect_gt(alarms(normal, 8, GMT_FLEET_HIGHER, 0.05, 4000), 0.02);
}

Test(outliers, eight_of_sixty_four_are_found_and_do_not_hide_each_other)
{
    double values[64], odd[64];
    struct gmt_outliers outliers;

    for (int i = 0; i < 64; i++) {
        values[i] = normal() + (i % 8 == 3 ? 12 : 0);
    }
    cr_assert_eq(gmt_outliers_find(&outliers, values, 64, GMT_FLEET_HIGHER, 1e-4, odd), 0);
    cr_assert_eq(outliers.count, 8);
    for (int i = 0; i < 64; i++) {
        cr_expect_eq(odd[i] > 0, i % 8 == 3, "%d", i);
    }
}

Test(outliers, the_wrong_side_is_not_odd)
{
    double values[64], odd[64];
    struct gmt_outliers outliers;

    for (int i = 0; i < 64; i++) {
        values[i] = normal() - (i == 5 ? 30 : 0);
    }
    cr_assert_eq(gmt_outliers_find(&outliers, values, 64, GMT_FLEET_HIGHER, 1e-4, odd), 0);
    cr_expect_eq(outliers.count, 0);
    cr_assert_eq(gmt_outliers_find(&outliers, values, 64, GMT_FLEET_EITHER, 1e-4, odd), 0);
    cr_expect_eq(outliers.count, 1);
    cr_expect_lt(odd[5], -10);
}

Test(outliers, one_that_differs_from_equal_ones_is_infinitely_far)
{
    double values[40], odd[40];
    struct gmt_outliers outliers;

    for (int i = 0; i < 40; i++) {
        values[i] = i == 7 ? 17 : i == 9 ? NAN : 16;
    }
    cr_assert_eq(gmt_outliers_find(&outliers, values, 40, GMT_FLEET_EITHER, 1e-4, odd), 0);
    cr_expect_eq(outliers.count, 1);
    cr_expect(isinf(odd[7]));
    cr_expect_eq(odd[9], 0);
}

Test(outliers, too_few_values_are_not_judged)
{
    double values[7] = {1, 1, 1, 1, 1, 1, 100}, odd[7];
    struct gmt_outliers outliers;

    cr_assert_eq(gmt_outliers_find(&outliers, values, 7, GMT_FLEET_EITHER, 0.01, odd), 0);
    cr_expect_eq(outliers.count, 0);
    cr_expect_eq(odd[6], 0);
}

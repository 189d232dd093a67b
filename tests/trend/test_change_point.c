/* SPDX-License-Identifier: Apache-2.0 */
/* The test of change-points: against published values, its rate of false alarms, and what it finds. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "analyzer/fleet/outliers.h"
#include "analyzer/trend/change_point.h"

enum { VALUES_MOST = 128 };
static const struct gmt_trend_least all = {0, 0};

static uint64_t state = 11;

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

/* One in twenty is far off. */
static double contaminated(void)
{
    return uniform() < 0.05 ? 30 * uniform() : normal();
}

/* Student's with 3 degrees of freedom. */
static double heavy(void)
{
    double a = normal(), b = normal(), c = normal(), d = normal();

    return a / sqrt((b * b + c * c + d * d) / 3);
}

static size_t shifts_of(const double *values, size_t n, double alpha, struct gmt_trend_least least,
                        struct gmt_trend_shift *first)
{
    struct gmt_trend_shift *shifts;
    size_t count;

    cr_assert_eq(gmt_trend_shifts(values, n, false, alpha, least, &shifts, &count), 0);
    for (size_t i = 0; i < count && i < 4; i++) {
        first[i] = shifts[i];
    }
    free(shifts);
    return count;
}

Test(change_point, tails_of_student_are_those_of_tables)
{
    cr_expect_float_eq(gmt_student_tail(2.228139, 10), 0.025, 1e-7);
    cr_expect_float_eq(gmt_student_tail(0, 5), 0.5, 1e-12);
    cr_expect_float_eq(gmt_student_tail(1, 1), 0.25, 1e-9); /* Cauchy's */
    /* Far out it is what its density's power says: 3 degrees, 6 sqrt(3) / (pi t^3) / 3. */
    double far = 2 * sqrt(3) / (3.14159265358979 * 1e18);
    cr_expect_float_eq(gmt_student_tail(1e6, 3) / far, 1, 1e-4);
}

/* Self-awareness data of Dana (1990), in R. R. Wilcox, Introduction to Robust Estimation: Yuen's statistic is 2.044 with
 * samples of one size, where both forms of it agree. */
Test(change_point, trimmed_t_is_that_of_a_textbook)
{
    static const double a[] = {77,  87,  88,  114, 151, 210, 219, 246,  253, 262,
                               296, 299, 306, 376, 428, 515, 666, 1310, 2611};
    static const double b[] = {59,  106, 174, 207, 219, 237, 313, 365,  458, 497,
                               515, 529, 557, 615, 625, 645, 973, 1065, 3215};
    double freedom;

    cr_expect_float_eq(gmt_trend_t(a, 19, b, 19, 0, &freedom), 2.044, 0.001);
    cr_expect_eq(freedom, 24); /* 13 are left of each */
}

/* Without what is trimmed, of 3 and 4 values, it is Student's own: R's t.test(var.equal = TRUE) on c(1, 2, 3), c(4, 5, 6, 7). */
Test(change_point, of_few_values_it_is_the_t_test)
{
    static const double a[] = {1, 2, 3}, b[] = {4, 5, 6, 7};
    double freedom;

    cr_expect_float_eq(gmt_trend_t(a, 3, b, 4, 0, &freedom), 3.5 / sqrt(1.4 * (1 / 3.0 + 1 / 4.0)),
                       1e-12);
    cr_expect_eq(freedom, 5);
    cr_expect(isinf(gmt_trend_t((double[]){1, 1, 1}, 3, (double[]){2, 2, 2}, 3, 0, &freedom)));
    cr_expect_eq(gmt_trend_t((double[]){.1, .1, .1}, 3, (double[]){.1, .1, .1, .1, .1, .1, .1}, 7,
                             0, &freedom),
                 0);
}

/* The flow of the Nile at Aswan, 1871 to 1970: G. W. Cobb (Biometrika 65, 1978) and many after him find one change, after 1898. */
Test(change_point, the_nile_changes_after_1898)
{
    static const double nile[] = {
        1120, 1160, 963, 1210, 1160, 1160, 813,  1230, 1370, 1140, 995,  935,  1110, 994,  1020,
        960,  1180, 799, 958,  1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774,  840,
        874,  694,  940, 833,  701,  916,  692,  1020, 1050, 969,  831,  726,  456,  824,  702,
        1120, 1100, 832, 764,  821,  768,  845,  864,  862,  698,  845,  744,  796,  1040, 759,
        781,  865,  845, 944,  984,  897,  822,  1010, 771,  676,  649,  846,  812,  742,  801,
        1040, 860,  874, 848,  890,  744,  749,  838,  1050, 918,  986,  797,  923,  975,  815,
        1020, 906,  901, 1170, 912,  746,  919,  718,  714,  740};
    struct gmt_trend_shift shifts[4];

    cr_assert_eq(sizeof(nile) / sizeof(nile[0]), 100);
    cr_assert_eq(shifts_of(nile, 100, 0.01, all, shifts), 1);
    cr_expect_eq(shifts[0].at, 28);
    cr_expect_lt(shifts[0].p, 1e-7);
    cr_expect_float_eq(shifts[0].before, 1110, 25);
    cr_expect_float_eq(shifts[0].after, 845, 25);
}

/* Share of series without a change that show one. */
static double alarms(double (*draw)(void), size_t n, double alpha, int series)
{
    double values[VALUES_MOST];
    struct gmt_trend_shift shifts[4];
    int count = 0;

    for (int i = 0; i < series; i++) {
        for (size_t k = 0; k < n; k++) {
            values[k] = draw();
        }
        count += shifts_of(values, n, alpha, all, shifts) > 0;
    }
    return (double)count / series;
}

Test(change_point, false_alarms_are_no_more_than_stated, .timeout = 300)
{
    double (*const draws[])(void) = {normal, laplace, contaminated, heavy};
    static const size_t lengths[] = {6, 10, 20, 40, 64};

    for (size_t d = 0; d < 4; d++) {
        for (size_t l = 0; l < 5; l++) {
            int series = lengths[l] > 30 ? 400 : 2000;
            double rate = alarms(draws[d], lengths[l], 0.05, series);

            /* Three standard errors of a rate of 5 %. */
            cr_expect_leq(rate, 0.05 + 3 * sqrt(0.05 * 0.95 / series), "draw %zu, %zu values: %g",
                          d, lengths[l], rate);
        }
    }
}

static void fill(double *values, size_t n, const double *levels, const size_t *ends)
{
    for (size_t i = 0, level = 0; i < n; i++) {
        level += i == ends[level];
        values[i] = levels[level];
    }
}

Test(change_point, exact_levels_are_found_where_they_change)
{
    double values[VALUES_MOST];
    struct gmt_trend_shift shifts[4];

    fill(values, 10, (double[]){100, 200}, (size_t[]){6, 10});
    cr_assert_eq(shifts_of(values, 10, 1e-6, all, shifts), 1);
    cr_expect_eq(shifts[0].at, 6);
    cr_expect_eq(shifts[0].before, 100);
    cr_expect_eq(shifts[0].after, 200);
    cr_expect_eq(shifts[0].p, 0);
    /* Up and down again. */
    fill(values, 30, (double[]){100, 200, 100}, (size_t[]){10, 20, 30});
    cr_assert_eq(shifts_of(values, 30, 1e-6, all, shifts), 2);
    cr_expect_eq(shifts[0].at, 10);
    cr_expect_eq(shifts[1].at, 20);
    /* Three steps up. */
    fill(values, 40, (double[]){1, 2, 3, 4}, (size_t[]){10, 20, 30, 40});
    cr_assert_eq(shifts_of(values, 40, 1e-6, all, shifts), 3);
    cr_expect_eq(shifts[2].at, 30);
    /* Two nights are no level, and neither is one in the middle. */
    fill(values, 10, (double[]){100, 200}, (size_t[]){8, 10});
    cr_expect_eq(shifts_of(values, 10, 0.01, all, shifts), 0);
    fill(values, 20, (double[]){100, 200, 100}, (size_t[]){9, 10, 20});
    cr_expect_eq(shifts_of(values, 20, 0.01, all, shifts), 0);
    /* Too few for any answer. */
    fill(values, 5, (double[]){1, 2}, (size_t[]){3, 5});
    cr_expect_eq(shifts_of(values, 5, 0.05, all, shifts), 0);
    cr_expect_eq(gmt_trend_tests(5), 0);
    cr_expect_eq(gmt_trend_tests(6), 1);
}

/* What varies by nature is no change, whichever way it falls. */
Test(change_point, two_values_by_turns_are_noise, .timeout = 100)
{
    double values[VALUES_MOST];
    struct gmt_trend_shift shifts[4];
    int count = 0;

    for (int i = 0; i < 500; i++) {
        for (size_t k = 0; k < 40; k++) {
            values[k] = uniform() < 0.3 ? 101 : 100;
        }
        count += shifts_of(values, 40, 0.01, all, shifts) > 0;
    }
    cr_expect_leq(count, 5);
}

Test(change_point, a_shift_among_outliers_is_found, .timeout = 100)
{
    double values[VALUES_MOST];
    struct gmt_trend_shift shifts[4];
    int found = 0, placed = 0;

    for (int i = 0; i < 200; i++) {
        for (size_t k = 0; k < 40; k++) {
            values[k] = 100 + contaminated() + (k >= 22 ? 6 : 0);
        }
        size_t count = shifts_of(values, 40, 1e-4, (struct gmt_trend_least){0.02, 0}, shifts);

        found += count == 1;
        placed += count == 1 && shifts[0].at >= 21 && shifts[0].at <= 23;
    }
    cr_expect_geq(found, 190, "%d", found);
    cr_expect_geq(placed, 185, "%d", placed);
}

Test(change_point, what_is_small_is_not_reported)
{
    double values[VALUES_MOST];
    struct gmt_trend_shift shifts[4];

    fill(values, 20, (double[]){1000, 1005}, (size_t[]){10, 20});
    cr_expect_eq(shifts_of(values, 20, 0.01, (struct gmt_trend_least){0.01, 0}, shifts), 0);
    cr_expect_eq(shifts_of(values, 20, 0.01, (struct gmt_trend_least){0.001, 0}, shifts), 1);
    cr_expect_eq(shifts_of(values, 20, 0.01, (struct gmt_trend_least){0, 6}, shifts), 0);
    /* Two small ones next to each other that are a large one together. */
    fill(values, 30, (double[]){1000, 1008, 1016}, (size_t[]){10, 20, 30});
    size_t count = shifts_of(values, 30, 0.01, (struct gmt_trend_least){0.01, 0}, shifts);
    cr_expect_eq(count, 1);
    cr_expect_eq(shifts[0].before, 1000);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The calibration's fit: known latencies and rates come back out of synthetic timings. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/fit/fit.h"
#include "kernels/variants/variants.h"

#define SIZES 14

static bool within(double value, double wanted, double share)
{
    return fabs(value - wanted) <= share * fabs(wanted);
}

#define NEAR(value, wanted, share) cr_assert(within((value), (wanted), (share)))

static void hockney_points(struct gmt_curve_point *points, double latency_ns, double bytes_per_s)
{
    double bytes = 4;

    for (size_t i = 0; i < SIZES; i++, bytes *= 4) {
        points[i].bytes = bytes;
        points[i].time_ns = latency_ns + bytes * 1e9 / bytes_per_s;
    }
}

/* A fixed sequence in [-1, 1], so that a failure can be repeated. */
static double next_noise(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (double)(1u << 23) - 1;
}

Test(fit, the_median_of_an_even_count_lies_between_the_middle_samples)
{
    double samples[] = {40, 10, 20, 30};
    struct gmt_stat stat;

    cr_assert(gmt_stat_of(samples, 4, &stat) == 0);
    NEAR(stat.median, 25, 1e-12);
    cr_assert(stat.n == 4);
}

Test(fit, the_spread_reaches_from_the_10th_to_the_90th_percentile)
{
    double samples[11];
    struct gmt_stat stat;

    for (size_t i = 0; i < 11; i++) {
        samples[i] = (double)(10 - i) * 10;
    }
    cr_assert(gmt_stat_of(samples, 11, &stat) == 0);
    NEAR(stat.median, 50, 1e-12);
    NEAR(stat.spread, 80, 1e-12);
}

Test(fit, one_sample_is_its_own_median_and_has_no_spread)
{
    double sample = 7;
    struct gmt_stat stat;

    cr_assert(gmt_stat_of(&sample, 1, &stat) == 0);
    NEAR(stat.median, 7, 1e-12);
    cr_assert(stat.spread <= 0);
}

Test(fit, samples_that_are_no_times_are_refused)
{
    double none[] = {0};
    double broken[] = {1, NAN, 3};
    double negative[] = {1, -2};
    struct gmt_stat stat;

    cr_assert(gmt_stat_of(none, 0, &stat) == -EINVAL);
    cr_assert(gmt_stat_of(broken, 3, &stat) == -EINVAL);
    cr_assert(gmt_stat_of(negative, 2, &stat) == -EINVAL);
    cr_assert(gmt_stat_rate(none, 1, 100, &stat) == -EINVAL);
}

Test(fit, a_rate_is_work_over_median_time)
{
    double samples[] = {1000, 2000, 4000};
    struct gmt_stat rate;

    cr_assert(gmt_stat_rate(samples, 3, 8000, &rate) == 0);
    NEAR(rate.median, 4e9, 1e-12);
    cr_assert(rate.spread > 0);
}

Test(fit, a_known_latency_and_bandwidth_are_recovered)
{
    struct gmt_curve_point points[SIZES];
    struct gmt_curve curve;

    hockney_points(points, 2200, 54e9);
    cr_assert(gmt_fit_hockney(points, SIZES, &curve) == 0);
    NEAR(curve.latency_ns, 2200, 1e-6);
    NEAR(curve.bandwidth_bytes_per_s, 54e9, 1e-6);
    NEAR(curve.half_bandwidth_bytes, 2200 * 54, 1e-6);
    cr_assert(curve.max_relative_error < 1e-6);
}

Test(fit, five_percent_of_noise_moves_the_result_by_less_than_that)
{
    struct gmt_curve_point points[SIZES];
    struct gmt_curve curve;
    unsigned state = 1;

    hockney_points(points, 5700, 22e9);
    for (size_t i = 0; i < SIZES; i++) {
        points[i].time_ns *= 1 + 0.05 * next_noise(&state);
    }
    cr_assert(gmt_fit_hockney(points, SIZES, &curve) == 0);
    NEAR(curve.latency_ns, 5700, 0.05);
    NEAR(curve.bandwidth_bytes_per_s, 22e9, 0.05);
    cr_assert(curve.max_relative_error < 0.11);
}

Test(fit, a_latency_is_never_negative)
{
    struct gmt_curve_point points[] = {{1e6, 10}, {2e6, 1000}, {4e6, 4000}};
    struct gmt_curve curve;

    cr_assert(gmt_fit_hockney(points, 3, &curve) == 0);
    cr_assert(curve.latency_ns >= 0);
    cr_assert(curve.half_bandwidth_bytes >= 0);
    cr_assert(curve.bandwidth_bytes_per_s > 0);
}

Test(fit, degenerate_curves_are_refused_and_leave_the_result_alone)
{
    struct gmt_curve_point one[] = {{64, 100}};
    struct gmt_curve_point same_size[] = {{64, 100}, {64, 101}};
    struct gmt_curve_point flat[] = {{4, 100}, {4096, 100}, {1 << 20, 100}};
    struct gmt_curve_point zero[] = {{4, 0}, {16, 10}};
    struct gmt_curve curve = {.latency_ns = -7};

    cr_assert(gmt_fit_hockney(one, 1, &curve) == -EINVAL);
    cr_assert(gmt_fit_hockney(zero, 2, &curve) == -EINVAL);
    cr_assert(gmt_fit_hockney(same_size, 2, &curve) == -ERANGE);
    cr_assert(gmt_fit_hockney(flat, 3, &curve) == -ERANGE);
    NEAR(curve.latency_ns, -7, 1e-12);
}

Test(variants, every_row_names_a_measured_reference_and_explains_itself)
{
    for (size_t i = 0; i < gmt_variant_count; i++) {
        const struct gmt_variant *row = &gmt_variants[i];
        const struct gmt_variant *reference = gmt_variant_find(row->family, row->reference);

        cr_assert(reference != NULL, "%s has no reference", row->name);
        cr_assert(gmt_variant_find(row->family, row->name) == row, "%s twice", row->name);
        cr_assert(row->doc[0] != '\0');
        /* Of the others it is the rule that may speak. */
        cr_assert(row->quality != GMT_QUALITY_bad || row->rule != NULL, "%s", row->name);
        if (row->quality == GMT_QUALITY_bad) {
            cr_assert(reference->quality != GMT_QUALITY_bad, "%s", row->name);
        }
    }
}

/* Active lanes per request, on average: 32 but for these. */
static double lanes_of(const struct gmt_variant *row)
{
    if (strcmp(row->family, "partial_warp") == 0) {
        return row->parameter / ceil(row->parameter / 32.0);
    }
    if (strcmp(row->name, "serial_thread") == 0 || strcmp(row->name, "fill_thread") == 0) {
        return 1;
    }
    return strcmp(row->name, "half_warp") == 0 ? 16 : 32;
}

Test(variants, efficiency_follows_from_sectors_and_width)
{
    for (size_t i = 0; i < gmt_variant_count; i++) {
        const struct gmt_variant *row = &gmt_variants[i];
        double lanes = lanes_of(row);

        if (row->efficiency_percent >= 0) {
            NEAR(100 * lanes * row->width_bytes / (32 * row->sectors_per_request),
                 row->efficiency_percent, 1e-9);
        }
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The fit by pieces: knees are found where they are, and noise makes none. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>

#include "kernels/fit/fit.h"

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

/* Two lines with a jump: a driver that turns to another way of copying at `knee` bytes. */
static void knee_points(struct gmt_curve_point *points, double knee)
{
    double bytes = 4;

    for (size_t i = 0; i < SIZES; i++, bytes *= 4) {
        points[i].bytes = bytes;
        points[i].time_ns = bytes < knee ? 1000 + bytes / 2 : 40000 + bytes / 20;
    }
}

Test(pieces, one_line_stays_one_piece)
{
    struct gmt_curve_point points[SIZES];
    struct gmt_pieces fit;
    unsigned state = 7;

    hockney_points(points, 6000, 55e9);
    for (size_t i = 0; i < SIZES; i++) {
        points[i].time_ns *= 1 + 0.04 * next_noise(&state);
    }
    cr_assert(gmt_fit_pieces(points, SIZES, &fit) == 0);
    cr_assert(fit.n == 1, "%zu pieces", fit.n);
    NEAR(fit.curve.bandwidth_bytes_per_s, 55e9, 0.04);
    NEAR(fit.curve.half_bandwidth_bytes, 6000 * 55, 0.06);
}

Test(pieces, a_knee_is_found_where_it_is)
{
    struct gmt_curve_point points[SIZES];
    struct gmt_pieces fit;

    knee_points(points, 100000);
    cr_assert(gmt_fit_pieces(points, SIZES, &fit) == 0);
    cr_assert(fit.n == 2, "%zu pieces", fit.n);
    NEAR(fit.pieces[0].to_bytes, 65536, 1e-12);
    NEAR(fit.pieces[1].from_bytes, 262144, 1e-12);
    NEAR(fit.pieces[0].latency_ns, 1000, 1e-6);
    NEAR(fit.pieces[1].latency_ns, 40000, 1e-6);
    NEAR(fit.curve.latency_ns, 1000, 1e-6);
    NEAR(fit.curve.bandwidth_bytes_per_s, 20e9, 1e-6);
    cr_assert(fit.curve.max_relative_error < 1e-6);
    /* n / (40000 + n / 20) = 10 */
    NEAR(fit.curve.half_bandwidth_bytes, 800000, 1e-6);
}

Test(pieces, a_single_line_would_be_far_off_at_a_knee)
{
    struct gmt_curve_point points[SIZES];
    struct gmt_curve line;

    knee_points(points, 100000);
    cr_assert(gmt_fit_hockney(points, SIZES, &line) == 0);
    cr_assert(line.max_relative_error > 0.3);
}

Test(pieces, what_has_no_line_has_no_pieces)
{
    struct gmt_curve_point flat[] = {{4, 100}, {4096, 100}, {1 << 20, 100}};
    struct gmt_curve_point two[] = {{4, 100}, {4096, 200}};
    struct gmt_pieces fit = {.n = 9};

    cr_assert(gmt_fit_pieces(flat, 3, &fit) == -ERANGE);
    cr_assert(fit.n == 9);
    cr_assert(gmt_fit_pieces(two, 2, &fit) == 0);
    cr_assert(fit.n == 1);
}

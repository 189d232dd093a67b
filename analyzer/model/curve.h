/* SPDX-License-Identifier: Apache-2.0 */
/* A measured curve: what some time or rate is over a size or an occupancy. */
#ifndef GMT_ANALYZER_MODEL_CURVE_H
#define GMT_ANALYZER_MODEL_CURVE_H

#include <stddef.h>

struct gmt_model_point {
    double x;      /* bytes, or occupancy 0..1          */
    double y;      /* ns, or bytes per second           */
    double spread; /* 10th to 90th percentile, unit of y */
};

/* Points ascending in x. n = 0: not measured. */
struct gmt_model_curve {
    struct gmt_model_point *points;
    size_t n;
    double half_bandwidth_bytes; /* size at which half the bandwidth is reached; NAN */
};

/*
 * Time over size: linear between two points, as Hockney's model is; on the recorded H200 a point left
 * out is met within 3 % that way (median over 9 curves), and within 8 % on logarithms. Below the first
 * point its value (a copy of nothing costs its latency); above the last, the line through the last two
 * goes on, but never down. NAN for an empty curve.
 */
double gmt_curve_at(const struct gmt_model_curve *curve, double x);

/* Largest x / y: the best rate that was measured. NAN for an empty curve. */
double gmt_curve_best_rate(const struct gmt_model_curve *curve);

/*
 * The size up to which at least that share of the time goes beyond what the best rate would take for
 * the bytes. NAN where there is none.
 */
double gmt_curve_latency_bound(const struct gmt_model_curve *curve, double share);

/* Spread / value near x, 0..1: how far a single copy of that size may be off. */
double gmt_curve_relative_spread(const struct gmt_model_curve *curve, double x);

/* Linear in x, clamped to both ends: for occupancy -> bandwidth. NAN for an empty curve. */
double gmt_curve_linear(const struct gmt_model_curve *curve, double x);

double gmt_curve_max(const struct gmt_model_curve *curve);

/*
 * The value where x is `factor` times what it is at the value y: what more bytes in flight make of a
 * bandwidth, whatever keeps them in flight. Below the first point the curve is a line from the origin,
 * as by Little's law with the latency of an idle device; never below y. NAN for an empty curve.
 */
double gmt_curve_lifted(const struct gmt_model_curve *curve, double y, double factor);

#endif

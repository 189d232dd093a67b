/* SPDX-License-Identifier: Apache-2.0 */
/* Reads values from measured curves. */
#include "analyzer/model/curve.h"

#include <math.h>

/* The pair of points around x; for x outside, the outermost pair. n >= 2. */
static size_t segment_of(const struct gmt_model_curve *curve, double x)
{
    size_t i = 0;

    while (i + 2 < curve->n && curve->points[i + 1].x < x) {
        i++;
    }
    return i;
}

double gmt_curve_at(const struct gmt_model_curve *curve, double x)
{
    if (curve->n == 0 || isnan(x)) {
        return NAN;
    }
    if (curve->n == 1 || x <= curve->points[0].x) {
        return curve->points[0].y;
    }
    const struct gmt_model_point *a = &curve->points[segment_of(curve, x)], *b = a + 1;
    if (!(b->x > a->x)) {
        return b->y;
    }
    double slope = (b->y - a->y) / (b->x - a->x);
    return x <= b->x ? a->y + slope * (x - a->x) : b->y + fmax(0, slope) * (x - b->x);
}

double gmt_curve_best_rate(const struct gmt_model_curve *curve)
{
    double best = NAN;

    for (size_t i = 0; i < curve->n; i++) {
        best = fmax(best, curve->points[i].x / curve->points[i].y);
    }
    return best;
}

double gmt_curve_latency_bound(const struct gmt_model_curve *curve, double share)
{
    double rate = gmt_curve_best_rate(curve), below = NAN;

    for (size_t i = 0; i < curve->n; i++) {
        double x = curve->points[i].x;

        if (x / rate > (1 - share) * curve->points[i].y) {
            break;
        }
        below = x;
    }
    if (isnan(below)) {
        return NAN;
    }
    /* Between two points; time grows more slowly than size there, so one crossing. */
    double above = below * 64;
    for (int step = 0; step < 40; step++) {
        double middle = sqrt(below * above);

        if (middle / rate > (1 - share) * gmt_curve_at(curve, middle)) {
            above = middle;
        } else {
            below = middle;
        }
    }
    return below;
}

double gmt_curve_relative_spread(const struct gmt_model_curve *curve, double x)
{
    if (curve->n == 0) {
        return NAN;
    }
    const struct gmt_model_point *point = &curve->points[0];
    for (size_t i = 0; i < curve->n && curve->points[i].x <= x; i++) {
        point = &curve->points[i];
    }
    return isfinite(point->spread) ? fmin(1.0, point->spread / point->y) : 0.0;
}

double gmt_curve_linear(const struct gmt_model_curve *curve, double x)
{
    if (curve->n == 0 || isnan(x)) {
        return NAN;
    }
    if (curve->n == 1 || x <= curve->points[0].x) {
        return curve->points[0].y;
    }
    if (x >= curve->points[curve->n - 1].x) {
        return curve->points[curve->n - 1].y;
    }
    const struct gmt_model_point *a = &curve->points[segment_of(curve, x)], *b = a + 1;
    return b->x > a->x ? a->y + (b->y - a->y) * (x - a->x) / (b->x - a->x) : b->y;
}

double gmt_curve_max(const struct gmt_model_curve *curve)
{
    double best = NAN;

    for (size_t i = 0; i < curve->n; i++) {
        best = fmax(best, curve->points[i].y);
    }
    return best;
}

/* Where an ascending curve has the value y. */
static double place_of(const struct gmt_model_curve *curve, double y)
{
    const struct gmt_model_point *p = curve->points;

    if (y <= p[0].y) {
        return p[0].x * y / p[0].y;
    }
    for (size_t i = 1; i < curve->n; i++) {
        if (y <= p[i].y) {
            return p[i - 1].x + (p[i].x - p[i - 1].x) * (y - p[i - 1].y) / (p[i].y - p[i - 1].y);
        }
    }
    return p[curve->n - 1].x;
}

double gmt_curve_lifted(const struct gmt_model_curve *curve, double y, double factor)
{
    if (curve->n == 0 || isnan(y) || isnan(factor)) {
        return NAN;
    }
    const struct gmt_model_point *first = &curve->points[0];
    double x = factor * place_of(curve, y);
    double lifted = x < first->x ? first->y * x / first->x : gmt_curve_linear(curve, x);
    return fmax(y, lifted);
}

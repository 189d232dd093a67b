/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the figures of two traces: what is counted exactly, times beyond the noise of a run. */
#include "analyzer/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/compare/compare_findings.h"
#include "analyzer/compare/compare_result.h"

/*
 * How far two recordings of the same program lie apart, as a share: three standard deviations of
 * such a difference, 3 * sqrt(2) * deviation / median. Measured on ten recordings each of
 * examples/pipeline's two programs, which copy through pageable and through pinned memory, on one
 * H100 (16 cores, nothing else running); the larger of both:
 *   wall time  31 %    (1.85 s to 2.26 s; 1.27 s to 1.54 s)
 *   GPU busy   30 %    (480 ms to 620 ms)
 *   pageable   31 %    (517 ms to 667 ms in copies)
 *   pinned      4.2 %  (82.0 ms to 84.6 ms in copies)
 *   kernels     1.7 %  (14.96 ms to 15.13 ms)
 * Counts and bytes were equal in all ten.
 */
#define GMT_NOISE_WALL 0.31
#define GMT_NOISE_BUSY 0.30
#define GMT_NOISE_PAGEABLE 0.31
#define GMT_NOISE_COPY 0.042
#define GMT_NOISE_KERNEL 0.017
/* A prediction follows the times that it was made of: of findings. Of their sum it was never measured. */
#define GMT_NOISE_SAVING 0.31

/* With fewer runs a median deviation is no measure of anything. */
enum { GMT_NOISE_RUNS = 3 };
/* Nobody acts on less; two times that close count as the same whatever the noise. */
#define GMT_SAME_SHARE 0.02
/* With more noise than this, a difference inside it says nothing. */
#define GMT_NOISE_SMALL 0.05

void gmt_noise_fill(struct gmt_summary *summary)
{
    double *noise = summary->noise;
    double copies = summary->values[GMT_FIGURE_copy_ns];
    double pageable = summary->values[GMT_FIGURE_pageable_ns];

    if (summary->simulated) {
        return;
    }
    noise[GMT_FIGURE_wall_ns] = GMT_NOISE_WALL;
    noise[GMT_FIGURE_gpu_busy_ns] = GMT_NOISE_BUSY;
    noise[GMT_FIGURE_pageable_ns] = GMT_NOISE_PAGEABLE;
    noise[GMT_FIGURE_copy_ns] = copies > 0
                                    ? GMT_NOISE_COPY +
                                          (GMT_NOISE_PAGEABLE - GMT_NOISE_COPY) * pageable / copies
                                    : GMT_NOISE_COPY;
    noise[GMT_FIGURE_kernel_ns] = GMT_NOISE_KERNEL;
    noise[GMT_FIGURE_saving_ns] = GMT_NOISE_SAVING;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double gmt_median(double *values, size_t n)
{
    if (n == 0) {
        return NAN;
    }
    qsort(values, n, sizeof(*values), compare_doubles);
    return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

double gmt_median_deviation(double *values, size_t n, double middle)
{
    for (size_t i = 0; i < n; i++) {
        values[i] = fabs(values[i] - middle);
    }
    return gmt_median(values, n);
}

void gmt_summaries_time_alike(struct gmt_summary *const *summaries, size_t n)
{
    bool all_known = true;

    for (size_t i = 0; i < n; i++) {
        all_known = all_known && !isnan(summaries[i]->own_ns);
    }
    for (size_t i = 0; i < n && !all_known; i++) {
        summaries[i]->values[GMT_FIGURE_wall_ns] = summaries[i]->recorded_ns;
        summaries[i]->own_ns = NAN;
    }
}

void gmt_summaries_join(struct gmt_summary *joined, const struct gmt_summary *runs, size_t n)
{
    double *values = malloc(n * sizeof(*values));

    *joined = runs[0];
    for (size_t i = 0; values != NULL && i < n; i++) {
        values[i] = runs[i].recorded_ns;
    }
    if (values != NULL && n > 0) {
        joined->recorded_ns = gmt_median(values, n);
    }
    for (int figure = 0; values != NULL && n > 1 && figure < GMT_FIGURES; figure++) {
        size_t known = 0;

        for (size_t i = 0; i < n; i++) {
            if (!isnan(runs[i].values[figure])) {
                values[known++] = runs[i].values[figure];
            }
        }
        double middle = gmt_median(values, known);
        joined->values[figure] = middle;
        if (known < GMT_NOISE_RUNS || !(middle > 0)) {
            continue;
        }
        /* Of the difference between one more run and the middle of these. */
        joined->noise[figure] = 3 * sqrt(1 + 1.0 / (double)known) * 1.4826 *
                                gmt_median_deviation(values, known, middle) / middle;
    }
    free(values);
}

/* Less of these is no faster program, only less work or less to gain. */
static bool is_speed(int figure)
{
    return gmt_figure_rows[figure].kind == GMT_KIND_NS && figure != GMT_FIGURE_gpu_busy_ns &&
           figure != GMT_FIGURE_saving_ns;
}

static enum gmt_change change_of(const struct gmt_figure_change *c, int figure)
{
    bool is_time = gmt_figure_rows[figure].kind == GMT_KIND_NS;

    if (isnan(c->share) || isnan(c->noise)) {
        return c->a == c->b ? GMT_CHANGE_SAME : GMT_CHANGE_UNCLEAR;
    }
    if (fabs(c->share) <= c->noise || (is_time && fabs(c->share) <= GMT_SAME_SHARE)) {
        return fabs(c->share) <= GMT_SAME_SHARE || c->noise <= GMT_NOISE_SMALL ? GMT_CHANGE_SAME
                                                                               : GMT_CHANGE_UNCLEAR;
    }
    if (is_speed(figure)) {
        return c->share < 0 ? GMT_CHANGE_FASTER : GMT_CHANGE_SLOWER;
    }
    return c->share < 0 ? GMT_CHANGE_LESS : GMT_CHANGE_MORE;
}

static void compare_figure(struct gmt_figure_change *c, double a, double b, double noise,
                           int figure)
{
    bool known = figure != GMT_FIGURE_saving_ns || noise != GMT_NOISE_SAVING;

    *c = (struct gmt_figure_change){.a = a, .b = b, .share = b / a - 1, .noise = noise};
    if (a == 0) {
        c->share = b > 0 ? INFINITY : b == 0 ? 0 : NAN;
    }
    c->change = known ? change_of(c, figure) : a == b ? GMT_CHANGE_SAME : GMT_CHANGE_UNCLEAR;
}

static bool differ(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) != 0;
}

static const char *warning_of(const struct gmt_summary *a, const struct gmt_summary *b,
                              struct gmt_arena *arena)
{
    const char *modelled_for = a->modelled_for != NULL ? a->modelled_for : b->modelled_for;

    if (a->simulated != b->simulated && modelled_for != NULL) {
        return gmt_arena_text(arena,
                              "one trace is of the software device: its counts are comparable, its "
                              "times are modelled for %s",
                              modelled_for);
    }
    if (a->simulated != b->simulated) {
        return "one trace is of the software device: its counts are comparable, its times are none";
    }
    if (differ(a->modelled_for, b->modelled_for)) {
        return "the times of the traces are modelled for different devices: they differ for that "
               "reason alone";
    }
    if (a->modelled_for != NULL && b->modelled_for != NULL) {
        return gmt_arena_text(arena,
                              "all times are modelled for %s from exact counts: none was measured",
                              a->modelled_for);
    }
    if (differ(a->device_name, b->device_name)) {
        return "the traces are of different GPUs: their times differ for that reason alone";
    }
    if (differ(a->driver_version, b->driver_version)) {
        return "the traces were recorded with different drivers";
    }
    return NULL;
}

void gmt_compare(struct gmt_comparison *comparison, const struct gmt_summary *a,
                 const struct gmt_summary *b, struct gmt_arena *arena)
{
    *comparison = (struct gmt_comparison){.a = a, .b = b, .warning = warning_of(a, b, arena)};
    for (int i = 0; i < GMT_FIGURES; i++) {
        /* What is modelled is no measure of what was measured. */
        bool alike = a->simulated == b->simulated || gmt_figure_rows[i].kind != GMT_KIND_NS;

        compare_figure(&comparison->figures[i], alike || !a->simulated ? a->values[i] : NAN,
                       alike || !b->simulated ? b->values[i] : NAN, fmax(a->noise[i], b->noise[i]),
                       i);
    }
    gmt_compare_findings(comparison, arena);
    gmt_compare_parts(comparison, arena);
    gmt_compare_result(comparison, arena);
}

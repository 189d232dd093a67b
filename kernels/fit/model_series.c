/* SPDX-License-Identifier: Apache-2.0 */
/* Series of samples to points and curves: the transfers, batches and costs of a device model. */
#include "kernels/fit/model_parts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/fit/rawfile.h"

/*
 * Copies of pinned memory that are long enough for their latency not to count take the same time each
 * time (on an idle H200 within 1 %), unless somebody else is on the bus.
 */
#define COPY_NOISE_BYTES 1048576
#define COPY_NOISE_TYPICAL 0.05
/*
 * An empty kernel is waited for a few times as long as its launch takes (on an idle H200 2.6 times, and it
 * spreads by 0.3 of that), unless the device must first let go of what another process has on it: its turn
 * takes milliseconds. What a kernel takes by the device's clock says nothing of such turns.
 */
#define WAIT_NOISE_LAUNCHES 20
#define WAIT_NOISE_SPREAD 4

void gmt_json_put(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

json_t *gmt_json_rounded(double value)
{
    return json_integer((json_int_t)llround(value));
}

/* Samples of an array of numbers; NULL when there are none. The caller frees. */
static double *samples_of(const json_t *array, size_t *n)
{
    *n = json_array_size(array);
    if (*n == 0) {
        return NULL;
    }
    double *samples = calloc(*n, sizeof(*samples));
    if (samples == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < *n; i++) {
        const json_t *value = json_array_get(array, i);

        samples[i] = json_is_number(value) ? json_number_value(value) : NAN;
    }
    return samples;
}

int gmt_samples_stat(const json_t *array, struct gmt_stat *stat)
{
    size_t n;
    double *samples = samples_of(array, &n);
    int rc = samples != NULL ? gmt_stat_of(samples, n, stat) : -EINVAL;

    free(samples);
    return rc;
}

int gmt_samples_rate(const json_t *array, double work, struct gmt_stat *rate)
{
    size_t n;
    double *samples = samples_of(array, &n);
    int rc = samples != NULL ? gmt_stat_rate(samples, n, work, rate) : -EINVAL;

    free(samples);
    return rc;
}

int gmt_series_stat(const json_t *object, const json_t *series, struct gmt_stat *stat)
{
    size_t n, passes_n;
    double *samples = samples_of(series, &n);
    double *pass_of = samples_of(json_object_get(object, GMT_RAW_PASS), &passes_n);
    int rc;

    if (samples == NULL) {
        rc = -EINVAL;
    } else if (pass_of != NULL && passes_n == n) {
        rc = gmt_stat_passes(samples, pass_of, n, stat);
    } else {
        rc = gmt_stat_of(samples, n, stat);
    }
    free(samples);
    free(pass_of);
    return rc;
}

json_t *gmt_stat_json(const struct gmt_stat *stat)
{
    json_t *object = json_object();

    gmt_json_put(object, "median", gmt_json_rounded(stat->median));
    gmt_json_put(object, "spread", gmt_json_rounded(stat->spread));
    gmt_json_put(object, "n", json_integer((json_int_t)stat->n));
    return object;
}

/*
 * The source object with every array of samples "<x>_ns" replaced by its median "<x>_ns" and its
 * spread "<x>_spread_ns"; "samples_ns" becomes median_ns, spread_ns and n. The passes and processes
 * of the samples go into both and not into the result. The rest is taken over.
 * NULL where an array of samples is unusable.
 */
static json_t *summarized(const json_t *source)
{
    json_t *object = json_object();
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)source, key, value)
    {
        size_t length = strlen(key);
        struct gmt_stat stat;
        char name[96];

        if (strcmp(key, GMT_RAW_PASS) == 0 || strcmp(key, GMT_RAW_PROCESS) == 0) {
            continue;
        }
        if (!json_is_array(value) || length <= 3 || strcmp(key + length - 3, "_ns") != 0) {
            json_object_set(object, key, value);
            continue;
        }
        if (length > 64 || gmt_series_stat(source, value, &stat) != 0) {
            json_decref(object);
            return NULL;
        }
        bool main_series = strcmp(key, "samples_ns") == 0;
        gmt_json_put(object, main_series ? "median_ns" : key, gmt_json_rounded(stat.median));
        snprintf(name, sizeof(name), "%.*s_spread_ns", (int)(length - 3), key);
        gmt_json_put(object, main_series ? "spread_ns" : name, gmt_json_rounded(stat.spread));
        gmt_json_put(object, "n", json_integer((json_int_t)stat.n));
    }
    return object;
}

static json_t *summarized_points(const json_t *points)
{
    json_t *array = json_array();
    size_t i;
    json_t *point;

    json_array_foreach(points, i, point)
    {
        json_t *summary = summarized(point);

        if (summary == NULL) {
            json_decref(array);
            return NULL;
        }
        json_array_append_new(array, summary);
    }
    return array;
}

static json_t *rounded_or_null(bool known, double value)
{
    return known && isfinite(value) ? gmt_json_rounded(value) : json_null();
}

static json_t *pieces_json(const struct gmt_pieces *fit)
{
    json_t *array = json_array();

    for (size_t i = 0; i < fit->n; i++) {
        const struct gmt_piece *piece = &fit->pieces[i];
        json_t *object = json_object();

        gmt_json_put(object, "from_bytes", gmt_json_rounded(piece->from_bytes));
        gmt_json_put(object, "to_bytes", gmt_json_rounded(piece->to_bytes));
        gmt_json_put(object, "latency_ns", gmt_json_rounded(piece->latency_ns));
        gmt_json_put(object, "bandwidth_bytes_per_s",
                     rounded_or_null(piece->ns_per_byte > 0, 1e9 / piece->ns_per_byte));
        gmt_json_put(object, "max_relative_error", json_real(piece->max_relative_error));
        json_array_append_new(array, object);
    }
    return array;
}

/* Adds the parameters of Hockney's model; nulls where the points do not allow a fit. */
static void put_curve(json_t *object, const json_t *points)
{
    size_t n = json_array_size(points);
    struct gmt_curve_point *fit_points = calloc(n + 1, sizeof(*fit_points));
    struct gmt_pieces fit = {.n = 0};
    double peak = 0;
    int rc = -ENOMEM;

    if (fit_points != NULL) {
        for (size_t i = 0; i < n; i++) {
            const json_t *point = json_array_get(points, i);

            fit_points[i].bytes = json_number_value(json_object_get(point, "bytes"));
            fit_points[i].time_ns = json_number_value(json_object_get(point, "median_ns"));
            if (fit_points[i].time_ns > 0) {
                peak = fmax(peak, fit_points[i].bytes * 1e9 / fit_points[i].time_ns);
            }
        }
        rc = gmt_fit_pieces(fit_points, n, &fit);
    }
    gmt_json_put(object, "latency_ns", rounded_or_null(rc == 0, fit.curve.latency_ns));
    gmt_json_put(object, "bandwidth_bytes_per_s",
                 rounded_or_null(rc == 0, fit.curve.bandwidth_bytes_per_s));
    gmt_json_put(object, "half_bandwidth_bytes",
                 rounded_or_null(rc == 0, fit.curve.half_bandwidth_bytes));
    gmt_json_put(object, "fit_max_relative_error",
                 rc == 0 ? json_real(fit.curve.max_relative_error) : json_null());
    gmt_json_put(object, "peak_bandwidth_bytes_per_s", rounded_or_null(peak > 0, peak));
    if (rc == 0) {
        gmt_json_put(object, "pieces", pieces_json(&fit));
    }
    free(fit_points);
}

/* { name: [ point ] } becomes { name: { [curve,] points } }. */
json_t *gmt_fit_point_sets(const json_t *raw, bool with_curve)
{
    json_t *object = json_object();
    const char *name;
    json_t *raw_points;

    json_object_foreach((json_t *)raw, name, raw_points)
    {
        json_t *points = summarized_points(raw_points);

        if (points == NULL) {
            json_decref(object);
            return NULL;
        }
        json_t *entry = json_object();
        if (with_curve) {
            put_curve(entry, points);
        }
        gmt_json_put(entry, "points", points);
        gmt_json_put(object, name, entry);
    }
    return object;
}

json_t *gmt_fit_batches(const json_t *raw)
{
    json_t *object = json_object();
    const char *name;
    json_t *batch;

    json_object_foreach((json_t *)raw, name, batch)
    {
        json_t *entry = summarized(batch);
        const json_t *raw_points = json_object_get(batch, "points");

        if (entry != NULL && raw_points != NULL) {
            gmt_json_put(entry, "points", summarized_points(raw_points));
        }
        if (entry == NULL || (raw_points != NULL && json_object_get(entry, "points") == NULL)) {
            json_decref(entry);
            json_decref(object);
            return NULL;
        }
        gmt_json_put(object, name, entry);
    }
    return object;
}

/*
 * Costs are sets of points over size, or a series for what has no size: in files of earlier
 * versions without its passes, as a plain array.
 */
json_t *gmt_fit_costs(const json_t *raw)
{
    json_t *object = json_object();
    const char *name;
    json_t *cost;

    json_object_foreach((json_t *)raw, name, cost)
    {
        json_t *entry = NULL;

        if (json_is_object(json_array_get(cost, 0))) {
            json_t *points = summarized_points(cost);

            if (points != NULL) {
                entry = json_object();
                put_curve(entry, points);
                gmt_json_put(entry, "points", points);
            }
        } else {
            struct gmt_stat stat;

            const json_t *series = json_is_object(cost) ? json_object_get(cost, "samples_ns")
                                                        : cost;

            if (gmt_series_stat(cost, series, &stat) == 0) {
                entry = gmt_stat_json(&stat);
            }
        }
        if (entry == NULL) {
            json_decref(object);
            return NULL;
        }
        gmt_json_put(object, name, entry);
    }
    return object;
}

void gmt_fit_copy_noise(json_t *model)
{
    static const char *const quiet[] = {"h2d_pinned_sync", "h2d_pinned_async", "d2h_pinned_sync",
                                        "d2h_pinned_async"};
    json_t *noise = json_object_get(model, "noise"), *spreads = json_array();
    struct gmt_stat typical;

    for (size_t i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++) {
        const json_t *curve = json_object_get(json_object_get(model, "transfers"), quiet[i]);
        size_t at;
        json_t *point;

        json_array_foreach(json_object_get(curve, "points"), at, point)
        {
            double median_ns = json_number_value(json_object_get(point, "median_ns"));
            double spread_ns = json_number_value(json_object_get(point, "spread_ns"));

            if (json_integer_value(json_object_get(point, "bytes")) >= COPY_NOISE_BYTES &&
                median_ns > 0) {
                json_array_append_new(spreads, json_real(spread_ns / median_ns));
            }
        }
    }
    if (gmt_samples_stat(spreads, &typical) == 0) {
        gmt_json_put(noise, "copies", json_integer((json_int_t)typical.n));
        gmt_json_put(noise, "copies_typical_relative_spread", json_real(typical.median));
        if (typical.median > COPY_NOISE_TYPICAL) {
            gmt_json_put(model, "noisy", json_true());
        }
    }
    json_decref(spreads);
}

void gmt_fit_wait_noise(json_t *model)
{
    const json_t *costs = json_object_get(model, "costs");
    const json_t *wait = json_object_get(costs, "launch_wait_ns");
    double launch_ns = json_number_value(
        json_object_get(json_object_get(costs, "launch_ns"), "median"));
    double median_ns = json_number_value(json_object_get(wait, "median"));
    double spread_ns = json_number_value(json_object_get(wait, "spread"));

    if (!(median_ns > 0)) {
        return;
    }
    gmt_json_put(json_object_get(model, "noise"), "launch_wait_relative_spread",
                 json_real(spread_ns / median_ns));
    if (spread_ns > WAIT_NOISE_SPREAD * median_ns ||
        (launch_ns > 0 && median_ns > WAIT_NOISE_LAUNCHES * launch_ns)) {
        gmt_json_put(model, "noisy", json_true());
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel timings to families, rates, latencies and occupancy curves of a device model. */
#include "kernels/fit/model_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/fit/rawfile.h"

/*
 * A run counts as noisy when the median over all kernels of spread / median exceeds the first
 * figure, or when more than a fifth of the kernels exceed the second, or when more than a twentieth, and
 * more than ten, exceed the third. A throttling device shows the first two. Of one that is shared most kernels are
 * as on an idle one, but some were interrupted, or found the caches emptied: of some 234, five at most
 * spread so widely on idle H200s, and 20 at least on one that three had at a time (docs/measurements.md).
 * Kernels shorter than NOISE_FLOOR_NS are not judged: the resolution of device events is visible there.
 */
#define NOISE_TYPICAL 0.05
#define NOISE_SINGLE 0.25
#define NOISE_WIDE 0.05
#define NOISE_WIDE_MOST 10
#define NOISE_FLOOR_NS 20e3

static double work_of(const json_t *row, const char *key)
{
    return json_number_value(json_object_get(json_object_get(row, "work"), key));
}

static json_t *number_or_null(double value)
{
    if (isnan(value)) {
        return json_null();
    }
    return value == floor(value) ? json_integer((json_int_t)value) : json_real(value);
}

/*
 * Median of the variant that the row is measured against; NAN when neither it nor a stand-in ran.
 */
static double reference_ns(const json_t *rows, const char *family, const char *reference)
{
    double fastest = NAN;
    size_t i;
    json_t *row;

    json_array_foreach(rows, i, row)
    {
        const char *name = json_string_value(json_object_get(row, "variant"));
        const struct gmt_variant *variant = name != NULL ? gmt_variant_find(family, name) : NULL;
        struct gmt_stat stat;

        if (variant == NULL || strcmp(variant->reference, reference) != 0 ||
            gmt_series_stat(row, json_object_get(row, "samples_ns"), &stat) != 0) {
            continue;
        }
        if (strcmp(name, reference) == 0) {
            return stat.median;
        }
        /* Full occupancy is 8 or 12 blocks on some devices: there the fastest step stands in. */
        fastest = fmin(fastest, stat.median);
    }
    return fastest;
}

static void note_noise(struct gmt_noise *noise, const char *name, const struct gmt_stat *stat)
{
    if (stat->median < NOISE_FLOOR_NS || noise->n == GMT_NOISE_SERIES_MAX) {
        return;
    }
    double relative = stat->spread / stat->median;

    noise->relative[noise->n++] = relative;
    if (relative >= noise->worst) {
        noise->worst = relative;
        snprintf(noise->worst_variant, sizeof(noise->worst_variant), "%s", name);
    }
}

static json_t *fit_row(const json_t *rows, const json_t *row, const char *family,
                       struct gmt_noise *noise)
{
    const char *name = json_string_value(json_object_get(row, "variant"));
    const struct gmt_variant *variant = name != NULL ? gmt_variant_find(family, name) : NULL;
    const char *key;
    json_t *value;
    struct gmt_stat stat;

    /* The latter: a raw file of another version of the table. */
    if (gmt_series_stat(row, json_object_get(row, "samples_ns"), &stat) != 0 || variant == NULL) {
        return NULL;
    }
    /* Where passes differ it is the host. */
    if (json_object_get(row, GMT_RAW_PASS) == NULL) {
        note_noise(noise, name, &stat);
    }

    json_t *entry = json_object();
    gmt_json_put(entry, "variant", json_string(name));
    gmt_json_put(entry, "parameter", json_integer((json_int_t)variant->parameter));
    gmt_json_put(entry, "quality", json_string(gmt_quality_name(variant->quality)));
    gmt_json_put(entry, "kernel", json_string(variant->kernel_name));
    gmt_json_put(entry, "reference", json_string(variant->reference));
    gmt_json_put(entry, "rule", variant->rule != NULL ? json_string(variant->rule) : json_null());
    gmt_json_put(entry, "width_bytes", json_integer((json_int_t)variant->width_bytes));
    gmt_json_put(entry, "sectors_per_request", number_or_null(variant->sectors_per_request));
    gmt_json_put(entry, "efficiency_percent", number_or_null(variant->efficiency_percent));
    gmt_json_put(entry, "ways", number_or_null(variant->ways));
    gmt_json_put(entry, "median_ns", gmt_json_rounded(stat.median));
    gmt_json_put(entry, "spread_ns", gmt_json_rounded(stat.spread));
    gmt_json_put(entry, "n", json_integer((json_int_t)stat.n));
    json_object_foreach(json_object_get(row, "work"), key, value)
    {
        json_object_set(entry, key, value);
    }
    double reference = reference_ns(rows, family, variant->reference);
    gmt_json_put(entry, "relative_time",
                 reference > 0 ? json_real(stat.median / reference) : json_null());
    return entry;
}

json_t *gmt_fit_families(const json_t *raw, struct gmt_noise *noise, char *message, size_t bytes)
{
    json_t *families = json_object();
    const char *family;
    json_t *rows;

    json_object_foreach((json_t *)raw, family, rows)
    {
        json_t *fitted = json_array();
        size_t i;
        json_t *row;

        json_array_foreach(rows, i, row)
        {
            json_t *entry = fit_row(rows, row, family, noise);

            if (entry == NULL) {
                const char *name = json_string_value(json_object_get(row, "variant"));

                snprintf(message, bytes, "family %s: variant %s is unknown or has no samples",
                         family, name != NULL ? name : "(none)");
                json_decref(fitted);
                json_decref(families);
                return NULL;
            }
            json_array_append_new(fitted, entry);
        }
        gmt_json_put(families, family, fitted);
    }
    return families;
}

/* { median, spread, n } of work / time of one variant; nothing where it was not measured. */
static void put_rate(json_t *rates, const char *key, const json_t *families, const char *family,
                     const char *variant, const char *work_key)
{
    size_t i;
    json_t *row;

    json_array_foreach(json_object_get(families, family), i, row)
    {
        const char *name = json_string_value(json_object_get(row, "variant"));
        struct gmt_stat rate;

        if (name != NULL && strcmp(name, variant) == 0 &&
            gmt_samples_rate(json_object_get(row, "samples_ns"), work_of(row, work_key), &rate) ==
                0) {
            gmt_json_put(rates, key, gmt_stat_json(&rate));
        }
    }
}

/* The best rate over a family: the rate of a resource is that of whoever used it best. */
static void put_best_rate(json_t *rates, const char *key, const json_t *families,
                          const char *family, const char *work_key)
{
    struct gmt_stat best = {.median = 0};
    size_t i;
    json_t *row;

    json_array_foreach(json_object_get(families, family), i, row)
    {
        struct gmt_stat rate;

        if (gmt_samples_rate(json_object_get(row, "samples_ns"), work_of(row, work_key), &rate) ==
                0 &&
            rate.median > best.median) {
            best = rate;
        }
    }
    if (best.median > 0) {
        gmt_json_put(rates, key, gmt_stat_json(&best));
    }
}

json_t *gmt_fit_rates(const json_t *families)
{
    json_t *rates = json_object();

    put_rate(rates, "dram_bytes_per_s", families, "rate", "dram_read", "bytes_asked");
    put_rate(rates, "dram_copy_bytes_per_s", families, "stride", "stride_1_float4", "bytes_asked");
    put_rate(rates, "l2_sectors_per_s", families, "rate", "l2_read", "load_sectors");
    put_rate(rates, "l1_sectors_per_s", families, "rate", "l1_read", "load_sectors");
    put_rate(rates, "l1_strided_sectors_per_s", families, "rate", "l1_strided", "load_sectors");
    put_rate(rates, "write_sectors_per_s", families, "quiet", "fill16", "store_sectors");
    put_best_rate(rates, "shared_wavefronts_per_s", families, "bank", "wavefronts");
    if (json_object_get(rates, "shared_wavefronts_per_s") == NULL) {
        put_best_rate(rates, "shared_wavefronts_per_s", families, "rate", "wavefronts");
    }
    put_rate(rates, "dram_scattered_sectors_per_s", families, "rate", "dram_scattered",
             "load_sectors");
    put_rate(rates, "l2_scattered_sectors_per_s", families, "rate", "l2_scattered", "load_sectors");
    put_rate(rates, "partial_sectors_per_s", families, "rate", "partial_sectors", "store_sectors");
    put_rate(rates, "partial_pairs_per_s", families, "rate", "partial_pairs", "store_sectors");
    put_rate(rates, "partial_lines_per_s", families, "rate", "partial_lines", "store_sectors");
    put_rate(rates, "constant_words_per_s", families, "rate", "constant_distinct",
             "constant_addresses");
    return rates;
}

/* The time of one dependent load with few warps resident: the latency of device memory. */
json_t *gmt_fit_latencies(const json_t *families)
{
    json_t *latencies = json_object();
    size_t i;
    json_t *row;

    json_array_foreach(json_object_get(families, "occupancy"), i, row)
    {
        const char *name = json_string_value(json_object_get(row, "variant"));
        double steps = work_of(row, "dependent_loads");
        struct gmt_stat stat;

        if (name == NULL || strcmp(name, "occupancy_latency_1") != 0 || !(steps > 0) ||
            gmt_samples_stat(json_object_get(row, "samples_ns"), &stat) != 0) {
            continue;
        }
        stat.median /= steps;
        stat.spread /= steps;
        gmt_json_put(latencies, "dram_load_ns", gmt_stat_json(&stat));
    }
    return latencies;
}

/* Bandwidth over occupancy for the rows of one body, in the order of the raw file (ascending). */
json_t *gmt_fit_occupancy(const json_t *families, enum gmt_variant_kernel kernel)
{
    json_t *curve = json_array();
    size_t i;
    json_t *row;

    json_array_foreach(json_object_get(families, "occupancy"), i, row)
    {
        const char *name = json_string_value(json_object_get(row, "variant"));
        const struct gmt_variant *variant = name != NULL ? gmt_variant_find("occupancy", name)
                                                         : NULL;
        struct gmt_stat rate;

        if (variant == NULL || variant->kernel != kernel ||
            gmt_samples_rate(json_object_get(row, "samples_ns"), work_of(row, "bytes_asked"),
                             &rate) != 0) {
            continue;
        }
        json_t *point = json_object();
        gmt_json_put(point, "occupancy", json_real(work_of(row, "occupancy")));
        gmt_json_put(point, "warps_per_sm", gmt_json_rounded(work_of(row, "warps_per_sm")));
        gmt_json_put(point, "bandwidth_bytes_per_s", gmt_json_rounded(rate.median));
        gmt_json_put(point, "spread", gmt_json_rounded(rate.spread));
        gmt_json_put(point, "n", json_integer((json_int_t)rate.n));
        json_array_append_new(curve, point);
    }
    return curve;
}

void gmt_fit_noise(json_t *model, struct gmt_noise *noise)
{
    json_t *object = json_object();
    struct gmt_stat typical = {.median = 0};
    size_t loud = 0, wide = 0;

    for (size_t i = 0; i < noise->n; i++) {
        loud += noise->relative[i] > NOISE_SINGLE;
        wide += noise->relative[i] > NOISE_WIDE;
    }
    gmt_stat_of(noise->relative, noise->n, &typical);
    gmt_json_put(object, "kernels", json_integer((json_int_t)noise->n));
    gmt_json_put(object, "typical_relative_spread", json_real(typical.median));
    gmt_json_put(object, "worst_relative_spread", json_real(noise->worst));
    gmt_json_put(object, "worst_variant", json_string(noise->worst_variant));
    gmt_json_put(model, "noisy",
                 json_boolean(typical.median > NOISE_TYPICAL || loud * 5 > noise->n ||
                              (wide > NOISE_WIDE_MOST && wide * 20 > noise->n)));
    gmt_json_put(model, "noise", object);
}

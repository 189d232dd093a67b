/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a device model and reads values from its curves. */
#include "analyzer/device_model.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GMT_MODEL_VERSION_READ = 1 };

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *text_of(struct gmt_model *model, const json_t *object, const char *key)
{
    return gmt_arena_copy(&model->arena, json_string_value(json_object_get(object, key)));
}

static int compare_points(const void *a, const void *b)
{
    const struct gmt_model_point *x = a, *y = b;

    return (x->x > y->x) - (x->x < y->x);
}

static void read_curve(struct gmt_model *model, const json_t *array, const char *x_key,
                       const char *y_key, const char *spread_key, struct gmt_model_curve *curve)
{
    size_t i;
    json_t *entry;

    curve->n = 0;
    curve->points = gmt_arena_alloc(&model->arena,
                                    (json_array_size(array) + 1) * sizeof(*curve->points));
    if (curve->points == NULL)
        return;
    json_array_foreach(array, i, entry)
    {
        struct gmt_model_point point = {number_of(entry, x_key), number_of(entry, y_key),
                                        number_of(entry, spread_key)};

        /* Logarithms need positive values; a point that lacks one was not measured. */
        if (point.x > 0 && point.y > 0)
            curve->points[curve->n++] = point;
    }
    if (curve->n > 1)
        qsort(curve->points, curve->n, sizeof(*curve->points), compare_points);
}

static void read_copies(struct gmt_model *model, const json_t *transfers)
{
    static const char *const directions[] = {"h2d", "d2h"};
    static const char *const hosts[] = {"pageable", "pinned"};
    static const char *const modes[] = {"sync", "async"};

    for (size_t d = 0; d < 2; d++) {
        for (size_t h = 0; h < GMT_HOSTS; h++) {
            for (size_t m = 0; m < GMT_MODES; m++) {
                char name[64];

                snprintf(name, sizeof(name), "%s_%s_%s", directions[d], hosts[h], modes[m]);
                const json_t *entry = json_object_get(transfers, name);
                struct gmt_model_curve *curve = &model->copy[d][h][m];

                read_curve(model, json_object_get(entry, "points"), "bytes", "median_ns",
                           "spread_ns", curve);
                curve->half_bandwidth_bytes = number_of(entry, "half_bandwidth_bytes");
                model->copy_2d_factor[d][h][m] = NAN;
            }
        }
    }
}

/* Entries of "batches" name the kind of copy themselves. */
static void read_batch(struct gmt_model *model, const json_t *entry)
{
    const char *direction = json_string_value(json_object_get(entry, "direction"));
    const char *host = json_string_value(json_object_get(entry, "class"));
    const char *mode = json_string_value(json_object_get(entry, "mode"));

    if (direction == NULL || host == NULL || mode == NULL)
        return;
    size_t d = strcmp(direction, "d2h") == 0, h = strcmp(host, "pinned") == 0,
           m = strcmp(mode, "async") == 0;
    const json_t *points = json_object_get(entry, "points");
    if (points != NULL) {
        read_curve(model, points, "bytes", "median_ns", "spread_ns", &model->back_to_back[d][h][m]);
        return;
    }
    double bytes = number_of(entry, "rows") * number_of(entry, "row_bytes");
    double flat_ns = gmt_curve_at(&model->copy[d][h][m], bytes);
    double factor = number_of(entry, "copy_2d_ns") / flat_ns;
    if (isfinite(factor) && factor > 0)
        model->copy_2d_factor[d][h][m] = factor;
}

static double rate_of(const json_t *rates, const char *key)
{
    return number_of(json_object_get(rates, key), "median");
}

static void read_family(struct gmt_model *model, const json_t *rows,
                        struct gmt_model_family *family)
{
    size_t i;
    json_t *row;

    family->variants = gmt_arena_alloc(&model->arena,
                                       (json_array_size(rows) + 1) * sizeof(*family->variants));
    if (family->variants == NULL)
        return;
    json_array_foreach(rows, i, row)
    {
        struct gmt_model_variant *variant = &family->variants[family->n];

        variant->name = text_of(model, row, "variant");
        variant->reference = text_of(model, row, "reference");
        variant->parameter = number_of(row, "parameter");
        variant->sectors_per_request = number_of(row, "sectors_per_request");
        variant->ways = number_of(row, "ways");
        variant->median_ns = number_of(row, "median_ns");
        variant->spread_ns = number_of(row, "spread_ns");
        variant->bytes_asked = number_of(row, "bytes_asked");
        variant->sectors = number_of(row, "load_sectors");
        if (isnan(variant->sectors))
            variant->sectors = number_of(row, "sectors");
        variant->wavefronts = number_of(row, "wavefronts");
        variant->load_requests = number_of(row, "load_requests");
        variant->store_requests = number_of(row, "store_requests");
        variant->store_sectors = number_of(row, "store_sectors");
        variant->shared_requests = number_of(row, "shared_load_requests");
        variant->occupancy = number_of(row, "occupancy");
        variant->relative_time = number_of(row, "relative_time");
        if (variant->name != NULL && variant->median_ns > 0)
            family->n++;
    }
}

static void read_everything(struct gmt_model *model, const json_t *root)
{
    const json_t *device = json_object_get(root, "device");
    const json_t *costs = json_object_get(root, "costs");
    const json_t *rates = json_object_get(root, "rates");
    const json_t *families = json_object_get(root, "families");
    const char *name;
    json_t *batch;
    struct {
        const char *name;
        struct gmt_model_curve *curve;
    } const cost_curves[] = {{"malloc_free", &model->malloc_free},
                             {"malloc_async_free_async", &model->malloc_async_free_async},
                             {"pin_unpin", &model->pin_unpin},
                             {"register_unregister", &model->register_unregister}};

    model->device_name = text_of(model, device, "name");
    model->device_uuid = text_of(model, device, "uuid");
    model->created = text_of(model, root, "created");
    model->noisy = json_is_true(json_object_get(root, "noisy"));
    read_copies(model, json_object_get(root, "transfers"));
    json_object_foreach(json_object_get(root, "batches"), name, batch)
    {
        read_batch(model, batch);
    }
    for (size_t i = 0; i < sizeof(cost_curves) / sizeof(cost_curves[0]); i++)
        read_curve(model, json_object_get(json_object_get(costs, cost_curves[i].name), "points"),
                   "bytes", "median_ns", "spread_ns", cost_curves[i].curve);
    model->dram_bytes_per_s = rate_of(rates, "dram_bytes_per_s");
    model->dram_copy_bytes_per_s = rate_of(rates, "dram_copy_bytes_per_s");
    model->dram_load_ns = rate_of(json_object_get(root, "latencies"), "dram_load_ns");
    model->l2_sectors_per_s = rate_of(rates, "l2_sectors_per_s");
    model->l1_sectors_per_s = rate_of(rates, "l1_sectors_per_s");
    model->shared_wavefronts_per_s = rate_of(rates, "shared_wavefronts_per_s");
    read_curve(model, json_object_get(root, "occupancy_curve"), "occupancy",
               "bandwidth_bytes_per_s", "spread", &model->occupancy);
    read_family(model, json_object_get(families, "offset"), &model->offset);
    read_family(model, json_object_get(families, "stride"), &model->stride);
    read_family(model, json_object_get(families, "bank"), &model->bank);
    read_family(model, json_object_get(families, "occupancy"), &model->occupancies);
}

int gmt_model_parse(struct gmt_model *model, const char *json, size_t bytes, const char *origin,
                    char *message, size_t message_bytes)
{
    json_error_t error;
    json_t *root = json_loadb(json, bytes, 0, &error);
    int rc = -EINVAL;

    *model = (struct gmt_model){.provenance = GMT_MODEL_NONE};
    if (root == NULL) {
        snprintf(message, message_bytes, "not JSON: %s (line %d)", error.text, error.line);
        return rc;
    }
    const char *format = json_string_value(json_object_get(root, "format"));
    double version = number_of(root, "version");
    if (format == NULL || strcmp(format, "gmtrace-device-model") != 0) {
        snprintf(message, message_bytes, "not a gmtrace device model");
    } else if (!(version >= 1) || version > GMT_MODEL_VERSION_READ) {
        snprintf(message, message_bytes, "device model of version %.0f; this program reads %d",
                 version, GMT_MODEL_VERSION_READ);
    } else {
        model->origin = gmt_arena_copy(&model->arena, origin);
        read_everything(model, root);
        rc = model->arena.failed ? -ENOMEM : 0;
        model->provenance = GMT_MODEL_MODELLED;
    }
    json_decref(root);
    return rc;
}

void gmt_model_free(struct gmt_model *model)
{
    gmt_arena_free(&model->arena);
    *model = (struct gmt_model){.provenance = GMT_MODEL_NONE};
}

/* The pair of points around x; for x outside, the outermost pair. n >= 2. */
static size_t segment_of(const struct gmt_model_curve *curve, double x)
{
    size_t i = 0;

    while (i + 2 < curve->n && curve->points[i + 1].x < x)
        i++;
    return i;
}

double gmt_curve_at(const struct gmt_model_curve *curve, double x)
{
    if (curve->n == 0 || isnan(x))
        return NAN;
    if (curve->n == 1 || x <= curve->points[0].x)
        return curve->points[0].y;
    const struct gmt_model_point *a = &curve->points[segment_of(curve, x)], *b = a + 1;
    double span = log(b->x) - log(a->x);
    if (span <= 0)
        return b->y;
    double slope = (log(b->y) - log(a->y)) / span;
    return exp(log(a->y) + slope * (log(x) - log(a->x)));
}

double gmt_curve_relative_spread(const struct gmt_model_curve *curve, double x)
{
    if (curve->n == 0)
        return NAN;
    const struct gmt_model_point *point = &curve->points[0];
    for (size_t i = 0; i < curve->n && curve->points[i].x <= x; i++)
        point = &curve->points[i];
    return isfinite(point->spread) ? fmin(1.0, point->spread / point->y) : 0.0;
}

double gmt_curve_linear(const struct gmt_model_curve *curve, double x)
{
    if (curve->n == 0 || isnan(x))
        return NAN;
    if (curve->n == 1 || x <= curve->points[0].x)
        return curve->points[0].y;
    if (x >= curve->points[curve->n - 1].x)
        return curve->points[curve->n - 1].y;
    const struct gmt_model_point *a = &curve->points[segment_of(curve, x)], *b = a + 1;
    return b->x > a->x ? a->y + (b->y - a->y) * (x - a->x) / (b->x - a->x) : b->y;
}

double gmt_curve_max(const struct gmt_model_curve *curve)
{
    double best = NAN;

    for (size_t i = 0; i < curve->n; i++)
        best = fmax(best, curve->points[i].y);
    return best;
}

const struct gmt_model_variant *gmt_family_variant(const struct gmt_model_family *family,
                                                   const char *name)
{
    for (size_t i = 0; i < family->n; i++) {
        if (strcmp(family->variants[i].name, name) == 0)
            return &family->variants[i];
    }
    return NULL;
}

enum gmt_provenance gmt_model_judge(const struct gmt_model *model, const char *device_name,
                                    const char *device_uuid)
{
    if (model->device_uuid != NULL && device_uuid != NULL &&
        strcmp(model->device_uuid, device_uuid) == 0)
        return GMT_MODEL_CALIBRATED;
    if (model->device_name != NULL && device_name != NULL &&
        strcmp(model->device_name, device_name) == 0)
        return GMT_MODEL_OTHER_BOARD;
    return GMT_MODEL_MODELLED;
}

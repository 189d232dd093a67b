/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what copies and calls cost from a device model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/model/device_model_parse.h"

static void read_transfers(struct gmt_model *model, const json_t *transfers)
{
    static const char *const directions[] = {"h2d", "d2h"};
    static const char *const hosts[] = {"pageable", "pinned", "registered"};
    static const char *const modes[] = {"sync", "async"};

    for (size_t d = 0; d < 2; d++) {
        for (size_t h = 0; h < GMT_HOSTS; h++) {
            for (size_t m = 0; m < GMT_MODES; m++) {
                char name[64];

                snprintf(name, sizeof(name), "%s_%s_%s", directions[d], hosts[h], modes[m]);
                const json_t *entry = gmt_model_part(model, transfers, name);
                struct gmt_model_curve *curve = &model->copy[d][h][m];

                gmt_model_read_curve(model, gmt_model_list(model, entry, "points"), "bytes",
                                     "median_ns", "spread_ns", curve);
                curve->half_bandwidth_bytes = gmt_model_number(model, entry,
                                                               "half_bandwidth_bytes");
                model->copy_2d_factor[d][h][m] = NAN;
            }
        }
    }
}

static int compare_shapes(const void *a, const void *b)
{
    const struct gmt_model_shape *x = a, *y = b;

    if (x->width_bytes < y->width_bytes || x->width_bytes > y->width_bytes) {
        return x->width_bytes < y->width_bytes ? -1 : 1;
    }
    if (x->rows < y->rows || x->rows > y->rows) {
        return x->rows < y->rows ? -1 : 1;
    }
    return (x->pitch_bytes > y->pitch_bytes) - (x->pitch_bytes < y->pitch_bytes);
}

static void read_shapes(struct gmt_model *model, const json_t *points,
                        struct gmt_model_shapes *shapes)
{
    size_t i;
    json_t *point;

    shapes->n = 0;
    shapes->shapes = gmt_arena_alloc(&model->arena,
                                     (json_array_size(points) + 1) * sizeof(*shapes->shapes));
    if (shapes->shapes == NULL) {
        return;
    }
    json_array_foreach(points, i, point)
    {
        struct gmt_model_shape shape = {gmt_model_number(model, point, "width"),
                                        gmt_model_number(model, point, "rows"),
                                        gmt_model_number(model, point, "device_pitch_bytes"),
                                        gmt_model_number(model, point, "median_ns") /
                                            gmt_model_number(model, point, "flat_ns")};

        if (shape.width_bytes > 0 && shape.rows > 0 && isfinite(shape.factor) && shape.factor > 0) {
            shapes->shapes[shapes->n++] = shape;
        }
    }
    if (shapes->n > 1) {
        qsort(shapes->shapes, shapes->n, sizeof(*shapes->shapes), compare_shapes);
    }
}

/* The time of a batch is that of all its copies. */
static void read_batched(struct gmt_model *model, const json_t *entry, const json_t *points,
                         struct gmt_model_curve *curve)
{
    double copies = gmt_model_number(model, entry, "copies");

    gmt_model_read_curve(model, points, "bytes", "batch_ns", "batch_spread_ns", curve);
    if (!(copies > 0)) {
        curve->n = 0;
    }
    for (size_t i = 0; i < curve->n; i++) {
        curve->points[i].y /= copies;
        curve->points[i].spread /= copies;
    }
}

/* Entries of "batches" name the kind of copy themselves. */
static void read_batch(struct gmt_model *model, const json_t *entry)
{
    const char *direction = gmt_model_text(model, entry, "direction");
    const char *host = gmt_model_text(model, entry, "class");
    const char *mode = gmt_model_text(model, entry, "mode");

    if (direction == NULL || host == NULL || mode == NULL) {
        return;
    }
    size_t d = strcmp(direction, "d2h") == 0, h = strcmp(host, "pinned") == 0,
           m = strcmp(mode, "async") == 0;
    const json_t *points = gmt_model_list(model, entry, "points");
    if (json_object_get(json_array_get(points, 0), "width") != NULL) {
        read_shapes(model, points, &model->copy_2d[d][h][m]);
        return;
    }
    if (points != NULL) {
        gmt_model_read_curve(model, points, "bytes", "median_ns", "spread_ns",
                             &model->back_to_back[d][h][m]);
        read_batched(model, entry, points, &model->batched[d][h][m]);
        return;
    }
    double bytes = gmt_model_number(model, entry, "rows") *
                   gmt_model_number(model, entry, "row_bytes");
    double flat_ns = gmt_curve_at(&model->copy[d][h][m], bytes);
    double factor = gmt_model_number(model, entry, "copy_2d_ns") / flat_ns;
    if (isfinite(factor) && factor > 0) {
        model->copy_2d_factor[d][h][m] = factor;
    }
}

void gmt_model_read_copies(struct gmt_model *model, const json_t *root)
{
    const json_t *transfers = gmt_model_part(model, root, "transfers");
    const json_t *costs = gmt_model_part(model, root, "costs");
    const char *name;
    json_t *batch;
    const struct {
        const json_t *in;
        const char *name, *time, *spread;
        struct gmt_model_curve *curve;
    } curves[] = {
        {costs, "malloc_free", "median_ns", "spread_ns", &model->malloc_free},
        {costs, "malloc_async_free_async", "median_ns", "spread_ns",
         &model->malloc_async_free_async},
        {costs, "pin_unpin", "median_ns", "spread_ns", &model->pin_unpin},
        {costs, "register_unregister", "median_ns", "spread_ns", &model->register_unregister},
        {transfers, "peer_async", "median_ns", "spread_ns", &model->peer},
        {transfers, "d2d_async", "median_ns", "spread_ns", &model->on_device},
        {transfers, "mapped_read", "device_ns", "device_spread_ns", &model->mapped_read},
        {transfers, "mapped_write", "device_ns", "device_spread_ns", &model->mapped_write},
        {transfers, "device_read", "device_ns", "device_spread_ns", &model->device_read}};

    read_transfers(model, transfers);
    for (size_t i = 0; i < sizeof(curves) / sizeof(curves[0]); i++) {
        gmt_model_read_curve(
            model,
            gmt_model_list(model, gmt_model_part(model, curves[i].in, curves[i].name), "points"),
            "bytes", curves[i].time, curves[i].spread, curves[i].curve);
    }
    json_t *batches = gmt_model_part(model, root, "batches");
    json_object_foreach(batches, name, batch)
    {
        read_batch(model, gmt_model_part(model, batches, name));
    }
}

/* Between (x0, y0) and (x1, y1) on logarithms of both; held beyond the ends. */
static double between(double x0, double y0, double x1, double y1, double x)
{
    double share = x1 > x0 ? (log(x) - log(x0)) / (log(x1) - log(x0)) : 0;

    return exp(log(y0) + fmin(1, fmax(0, share)) * (log(y1) - log(y0)));
}

/* The shapes [begin, end) have one width; of equal rows the least pitch comes first and counts. */
static double factor_of_width(const struct gmt_model_shape *shapes, size_t begin, size_t end,
                              double rows)
{
    const struct gmt_model_shape *below = &shapes[begin], *above = &shapes[begin];

    for (size_t i = begin; i < end; i++) {
        if (shapes[i].rows <= rows && shapes[i].rows > below->rows) {
            below = &shapes[i];
        }
        if (above->rows < rows && shapes[i].rows > above->rows) {
            above = &shapes[i];
        }
    }
    return between(below->rows, below->factor, above->rows, above->factor, rows);
}

double gmt_shapes_factor(const struct gmt_model_shapes *shapes, double width_bytes, double rows)
{
    double below_width = NAN, below = NAN;

    for (size_t begin = 0, end; begin < shapes->n; begin = end) {
        double width = shapes->shapes[begin].width_bytes;

        for (end = begin + 1; end < shapes->n && shapes->shapes[end].width_bytes <= width; end++) {
        }
        double factor = factor_of_width(shapes->shapes, begin, end, rows);
        if (width >= width_bytes) {
            return isnan(below) ? factor : between(below_width, below, width, factor, width_bytes);
        }
        below_width = width;
        below = factor;
    }
    return below;
}

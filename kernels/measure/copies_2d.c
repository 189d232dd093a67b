/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D copies over width, rows and pitch, each beside a 1-D copy of as many bytes. */
#include <jansson.h>

#include "kernels/fit/rawfile.h"
#include "kernels/measure/parts.h"
#include "kernels/measure/pass_loop.h"
#include "libtrace/base/progress.h"

#define PITCH_ALIGNMENT 512 /* what cudaMallocPitch rounds to, or a multiple of it */
#define BYTES_MOST ((size_t)16 << 20)

static const size_t widths[] = {64, 500, 4000, 32000};
static const size_t heights[] = {32, 512, 4096};
/* Rows on the device lie that many times the least pitch apart: the usual case, and a tile. */
static const unsigned spacings[] = {1, 4};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

struct copy_kind {
    const char *name;
    bool to_device;
    bool pinned;
    bool async;
};

static const struct copy_kind kinds[] = {
    {"copies_2d_h2d_pageable_sync", true, false, false},
    {"copies_2d_h2d_pinned_async", true, true, true},
    {"copies_2d_d2h_pageable_sync", false, false, false},
    {"copies_2d_d2h_pinned_async", false, true, true},
};

struct copy_shape {
    size_t width;
    size_t height;
    size_t pitch; /* on the device; rows lie packed on the host */
};

static int time_shape(struct gmt_bench *bench, const struct copy_kind *kind,
                      const struct copy_shape *shape, double *whole_ns, double *flat_ns)
{
    unsigned char *host = kind->pinned ? bench->pinned : bench->pageable;
    void *target = kind->to_device ? bench->far_to : host;
    const void *source = kind->to_device ? host : bench->far_to;
    size_t target_pitch = kind->to_device ? shape->pitch : shape->width;
    size_t source_pitch = kind->to_device ? shape->width : shape->pitch;
    enum cudaMemcpyKind direction = kind->to_device ? cudaMemcpyHostToDevice
                                                    : cudaMemcpyDeviceToHost;
    size_t bytes = shape->width * shape->height;
    int rc;

    GMT_TRY(bench, cudaDeviceSynchronize());
    uint64_t began = gmt_now_ns();
    if (kind->async) {
        GMT_TRY(bench, cudaMemcpy2DAsync(target, target_pitch, source, source_pitch, shape->width,
                                         shape->height, direction, bench->stream));
    } else {
        GMT_TRY(bench, cudaMemcpy2D(target, target_pitch, source, source_pitch, shape->width,
                                    shape->height, direction));
    }
    GMT_TRY(bench, cudaDeviceSynchronize());
    uint64_t between = gmt_now_ns();
    if (kind->async) {
        GMT_TRY(bench, cudaMemcpyAsync(target, source, bytes, direction, bench->stream));
    } else {
        GMT_TRY(bench, cudaMemcpy(target, source, bytes, direction));
    }
    GMT_TRY(bench, cudaDeviceSynchronize());
    *whole_ns = (double)(between - began);
    *flat_ns = (double)(gmt_now_ns() - between);
out:
    return rc;
}

/* The point of that shape, made when missing. */
static json_t *point_of(json_t *points, const struct copy_shape *shape)
{
    json_t *point;
    size_t i;

    json_array_foreach(points, i, point)
    {
        if (json_integer_value(json_object_get(point, "width")) == (json_int_t)shape->width &&
            json_integer_value(json_object_get(point, "rows")) == (json_int_t)shape->height &&
            json_integer_value(json_object_get(point, "device_pitch_bytes")) ==
                (json_int_t)shape->pitch) {
            return point;
        }
    }
    point = json_object();
    json_object_set_new(point, "width", json_integer((json_int_t)shape->width));
    json_object_set_new(point, "rows", json_integer((json_int_t)shape->height));
    json_object_set_new(point, "device_pitch_bytes", json_integer((json_int_t)shape->pitch));
    json_array_append_new(points, point);
    return point;
}

static int measure(struct gmt_bench *bench, const struct copy_kind *kind,
                   const struct copy_shape *shape, bool keep)
{
    double whole_ns = 0, flat_ns = 0;
    int rc = time_shape(bench, kind, shape, &whole_ns, &flat_ns);

    if (rc != 0 || !keep) {
        return rc;
    }
    json_t *entry = gmt_raw_object(gmt_raw_object(bench->raw, "batches"), kind->name);
    json_object_set_new(entry, "direction", json_string(kind->to_device ? "h2d" : "d2h"));
    json_object_set_new(entry, "class", json_string(kind->pinned ? "pinned" : "pageable"));
    json_object_set_new(entry, "mode", json_string(kind->async ? "async" : "sync"));
    json_t *point = point_of(gmt_raw_array(entry, "points"), shape);
    gmt_raw_sample(point, "samples_ns", whole_ns);
    gmt_raw_sample(point, "flat_ns", flat_ns);
    gmt_raw_pass(point, bench->pass);
    return 0;
}

static int measure_shape(struct gmt_bench *bench, const struct copy_kind *kind,
                         const struct copy_shape *shape)
{
    struct gmt_sample_loop loop = gmt_bench_sample_loop(bench, shape->width * shape->height);
    int rc = 0;

    if (shape->width * shape->height > BYTES_MOST ||
        shape->pitch * shape->height > bench->host_bytes) {
        return 0;
    }
    while (rc == 0 && gmt_sample_loop_next(&loop, gmt_now_ns())) {
        rc = measure(bench, kind, shape, loop.counts);
    }
    return rc;
}

static int measure_kind(struct gmt_bench *bench, const struct copy_kind *kind)
{
    int rc = 0;

    for (size_t w = 0; w < COUNT_OF(widths); w++) {
        for (size_t h = 0; h < COUNT_OF(heights); h++) {
            for (size_t s = 0; rc == 0 && s < COUNT_OF(spacings); s++) {
                size_t least = (widths[w] + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT *
                               PITCH_ALIGNMENT;
                const struct copy_shape shape = {widths[w], heights[h], spacings[s] * least};

                rc = measure_shape(bench, kind, &shape);
            }
        }
    }
    return rc;
}

int gmt_bench_copies_2d(struct gmt_bench *bench)
{
    const size_t all = COUNT_OF(kinds);
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < COUNT_OF(kinds); i++) {
        rc = measure_kind(bench, &kinds[i]);
        gmt_progress_add_part(GMT_BATCH_UNITS / 2 / (double)all, "2-D copies");
    }
    return rc;
}

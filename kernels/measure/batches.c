/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies in runs: many small ones against one large one and against one batch, and row by row
 * against one 2-D copy.
 */
#include <errno.h>
#include <jansson.h>

#include "kernels/fit/rawfile.h"
#include "kernels/measure/parts.h"
#include "kernels/measure/pass_loop.h"
#include "libtrace/base/progress.h"

#define ROWS 512
#define ROW_BYTES 4000 /* 1000 floats */
#define ROW_PITCH 4096
#define COPIES 256

struct batch {
    const char *rows_name;
    const char *run_name;
    bool to_device;
    bool pinned;
    bool async;
};

/* rows_512 is the case that programs show most: blocking copies of pageable memory. */
static const struct batch batches[] = {
    {"rows_512", "back_to_back_h2d_pageable_sync", true, false, false},
    {"rows_512_h2d_pinned_async", "back_to_back_h2d_pinned_async", true, true, true},
    {"rows_512_d2h_pageable_sync", "back_to_back_d2h_pageable_sync", false, false, false},
    {"rows_512_d2h_pinned_async", "back_to_back_d2h_pinned_async", false, true, true},
};

#define BATCH_COUNT (sizeof(batches) / sizeof(batches[0]))

static const size_t run_sizes[] = {64, 1024, 4096, 16384, 65536};

#define RUN_SIZE_COUNT (sizeof(run_sizes) / sizeof(run_sizes[0]))

static enum cudaMemcpyKind kind_of(const struct batch *batch)
{
    return batch->to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
}

/* count copies of bytes each, stepping by the two pitches, until all of them are done. */
static int time_copies(struct gmt_bench *bench, const struct batch *batch, size_t count,
                       size_t bytes, size_t host_pitch, size_t device_pitch, double *elapsed_ns)
{
    unsigned char *host = batch->pinned ? bench->pinned : bench->pageable;
    int rc;

    GMT_TRY(bench, cudaDeviceSynchronize());
    uint64_t began = gmt_now_ns();
    for (size_t i = 0; i < count; i++) {
        unsigned char *host_row = host + i * host_pitch;
        unsigned char *device_row = bench->arena + i * device_pitch;
        void *target = batch->to_device ? device_row : host_row;
        const void *source = batch->to_device ? host_row : device_row;

        if (batch->async) {
            GMT_TRY(bench, cudaMemcpyAsync(target, source, bytes, kind_of(batch), bench->stream));
        } else {
            GMT_TRY(bench, cudaMemcpy(target, source, bytes, kind_of(batch)));
        }
    }
    GMT_TRY(bench, cudaDeviceSynchronize());
    *elapsed_ns = (double)(gmt_now_ns() - began);
out:
    return rc;
}

static int time_2d(struct gmt_bench *bench, const struct batch *batch, double *elapsed_ns)
{
    unsigned char *host = batch->pinned ? bench->pinned : bench->pageable;
    void *target = batch->to_device ? bench->arena : host;
    const void *source = batch->to_device ? host : bench->arena;
    size_t target_pitch = batch->to_device ? ROW_PITCH : ROW_BYTES;
    size_t source_pitch = batch->to_device ? ROW_BYTES : ROW_PITCH;
    int rc;

    GMT_TRY(bench, cudaDeviceSynchronize());
    uint64_t began = gmt_now_ns();
    if (batch->async) {
        GMT_TRY(bench, cudaMemcpy2DAsync(target, target_pitch, source, source_pitch, ROW_BYTES,
                                         ROWS, kind_of(batch), bench->stream));
    } else {
        GMT_TRY(bench, cudaMemcpy2D(target, target_pitch, source, source_pitch, ROW_BYTES, ROWS,
                                    kind_of(batch)));
    }
    GMT_TRY(bench, cudaDeviceSynchronize());
    *elapsed_ns = (double)(gmt_now_ns() - began);
out:
    return rc;
}

static void describe(const struct batch *batch, json_t *object)
{
    json_object_set_new(object, "direction", json_string(batch->to_device ? "h2d" : "d2h"));
    json_object_set_new(object, "class", json_string(batch->pinned ? "pinned" : "pageable"));
    json_object_set_new(object, "mode", json_string(batch->async ? "async" : "sync"));
}

static int measure_rows(struct gmt_bench *bench, const struct batch *batch, bool keep)
{
    double rows_ns = 0, whole_ns = 0;
    int rc = time_copies(bench, batch, ROWS, ROW_BYTES, ROW_BYTES, ROW_PITCH, &rows_ns);

    if (rc == 0) {
        rc = time_2d(bench, batch, &whole_ns);
    }
    if (rc != 0 || !keep) {
        return rc;
    }
    json_t *entry = gmt_raw_object(gmt_raw_object(bench->raw, "batches"), batch->rows_name);
    describe(batch, entry);
    json_object_set_new(entry, "rows", json_integer(ROWS));
    json_object_set_new(entry, "row_bytes", json_integer(ROW_BYTES));
    json_object_set_new(entry, "device_pitch_bytes", json_integer(ROW_PITCH));
    gmt_raw_sample(entry, "row_copies_ns", rows_ns);
    gmt_raw_sample(entry, "copy_2d_ns", whole_ns);
    gmt_raw_pass(entry, bench->pass);
    return 0;
}

/* The same copies in one call. -ENOTSUP: this driver has no such call, or not for this memory. */
static int time_batch(struct gmt_bench *bench, const struct batch *batch, size_t bytes,
                      double *elapsed_ns)
{
    unsigned char *host = batch->pinned ? bench->pinned : bench->pageable;
    struct cudaMemcpyAttributes attributes = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    void *targets[COPIES];
    const void *sources[COPIES];
    size_t sizes[COPIES], first = 0;
    int rc;

    for (size_t i = 0; i < COPIES; i++) {
        void *host_part = host + i * bytes, *device_part = bench->arena + i * bytes;

        targets[i] = batch->to_device ? device_part : host_part;
        sources[i] = batch->to_device ? host_part : device_part;
        sizes[i] = bytes;
    }
    GMT_TRY(bench, cudaDeviceSynchronize());
    uint64_t began = gmt_now_ns();
    if (cudaMemcpyBatchAsync(targets, sources, sizes, COPIES, &attributes, &first, 1,
                             bench->stream) != cudaSuccess) {
        cudaGetLastError();
        return -ENOTSUP;
    }
    GMT_TRY(bench, cudaStreamSynchronize(bench->stream));
    *elapsed_ns = (double)(gmt_now_ns() - began);
out:
    return rc;
}

/*
 * Of a point: samples_ns is the time per copy, merged_ns that of one copy of all the bytes, batch_ns
 * that of all of them in one cudaMemcpyBatchAsync.
 */
static int measure_run(struct gmt_bench *bench, const struct batch *batch, size_t bytes, bool keep)
{
    double run_ns = 0, merged_ns = 0, batch_ns = 0;
    int rc = time_copies(bench, batch, COPIES, bytes, bytes, bytes, &run_ns);

    if (rc == 0) {
        rc = time_copies(bench, batch, 1, COPIES * bytes, 0, 0, &merged_ns);
    }
    int batched = rc == 0 ? time_batch(bench, batch, bytes, &batch_ns) : rc;
    if (rc == 0 && batched != -ENOTSUP) {
        rc = batched;
    }
    if (rc != 0 || !keep) {
        return rc;
    }
    json_t *entry = gmt_raw_object(gmt_raw_object(bench->raw, "batches"), batch->run_name);
    describe(batch, entry);
    json_object_set_new(entry, "copies", json_integer(COPIES));
    json_t *point = gmt_raw_point(gmt_raw_array(entry, "points"), bytes);
    gmt_raw_sample(point, "samples_ns", run_ns / COPIES);
    gmt_raw_sample(point, "merged_ns", merged_ns);
    if (batched == 0) {
        gmt_raw_sample(point, "batch_ns", batch_ns);
    }
    gmt_raw_pass(point, bench->pass);
    return 0;
}

static int measure_batch(struct gmt_bench *bench, const struct batch *batch)
{
    const size_t all = BATCH_COUNT;
    struct gmt_sample_loop loop = gmt_bench_sample_loop(bench, ROWS * ROW_BYTES);
    int rc = 0;

    while (rc == 0 && gmt_sample_loop_next(&loop, gmt_now_ns())) {
        rc = measure_rows(bench, batch, loop.counts);
    }
    for (size_t i = 0; rc == 0 && i < RUN_SIZE_COUNT; i++) {
        loop = gmt_bench_sample_loop(bench, COPIES * run_sizes[i]);
        while (rc == 0 && gmt_sample_loop_next(&loop, gmt_now_ns())) {
            rc = measure_run(bench, batch, run_sizes[i], loop.counts);
        }
    }
    gmt_progress_add_part(GMT_BATCH_UNITS / 2 / (double)all, "copies in runs");
    return rc;
}

int gmt_bench_batches(struct gmt_bench *bench)
{
    int rc = gmt_bench_host_buffers(bench);

    if (rc == 0 && bench->host_bytes < COPIES * run_sizes[RUN_SIZE_COUNT - 1]) {
        gmt_bench_note(bench, "little free memory: copies in runs were not measured");
        return 0;
    }
    for (size_t i = 0; rc == 0 && i < BATCH_COUNT; i++) {
        rc = measure_batch(bench, &batches[i]);
    }
    if (rc == 0) {
        rc = gmt_bench_copies_2d(bench);
    }
    return rc;
}

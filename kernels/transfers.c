/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies over size: both directions, pageable and pinned, blocking and async, and within the
 * device.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "progress.h"
#include "rawfile.h"

#define SIZE_LEAST ((size_t)4)
#define SIZE_STEP 4
#define SIZE_MOST ((size_t)256 << 20)
#define SIZE_MOST_QUICK ((size_t)64 << 20)
#define LARGE_BYTES ((size_t)16 << 20) /* one round of warm-up is enough from here on */
#define PAGE_BYTES 4096

struct curve {
    const char *name;
    enum cudaMemcpyKind kind;
    bool pinned;
    bool async;
    bool on_device_clock; /* also timed between device events */
};

static const struct curve curves[] = {
    {"h2d_pageable_sync", cudaMemcpyHostToDevice, false, false, false},
    {"h2d_pinned_sync", cudaMemcpyHostToDevice, true, false, false},
    {"h2d_pageable_async", cudaMemcpyHostToDevice, false, true, false},
    {"h2d_pinned_async", cudaMemcpyHostToDevice, true, true, true},
    {"d2h_pageable_sync", cudaMemcpyDeviceToHost, false, false, false},
    {"d2h_pinned_sync", cudaMemcpyDeviceToHost, true, false, false},
    {"d2h_pageable_async", cudaMemcpyDeviceToHost, false, true, false},
    {"d2h_pinned_async", cudaMemcpyDeviceToHost, true, true, true},
    {"d2d_async", cudaMemcpyDeviceToDevice, true, true, true},
};

#define CURVE_COUNT (sizeof(curves) / sizeof(curves[0]))

int gmt_bench_host_buffers(struct gmt_bench *bench)
{
    size_t wanted = bench->quick ? SIZE_MOST_QUICK : SIZE_MOST;
    long free_pages = sysconf(_SC_AVPHYS_PAGES);
    long page_bytes = sysconf(_SC_PAGESIZE);
    int rc = 0;

    if (bench->pinned != NULL)
        return 0;
    bench->host_bytes = wanted;
    if (bench->host_bytes > bench->working_set_bytes)
        bench->host_bytes = bench->working_set_bytes;
    while (free_pages > 0 && bench->host_bytes > PAGE_BYTES &&
           bench->host_bytes > (size_t)free_pages * (size_t)page_bytes / 8)
        bench->host_bytes /= 2;
    while (cudaMallocHost((void **)&bench->pinned, bench->host_bytes) != cudaSuccess) {
        cudaGetLastError();
        bench->pinned = NULL;
        bench->host_bytes /= 2;
        if (bench->host_bytes < ((size_t)1 << 20)) {
            rc = gmt_bench_check(bench, cudaErrorMemoryAllocation, "cudaMallocHost");
            goto out;
        }
    }
    if (posix_memalign((void **)&bench->pageable, PAGE_BYTES, bench->host_bytes) != 0) {
        bench->pageable = NULL;
        rc = gmt_bench_check(bench, cudaErrorMemoryAllocation, "posix_memalign");
        goto out;
    }
    /* First touch is a cost of its own and no part of a copy. */
    memset(bench->pageable, 1, bench->host_bytes);
    memset(bench->pinned, 1, bench->host_bytes);
    if (bench->host_bytes < wanted)
        gmt_bench_note(bench, "little free memory: the largest copies were left out");
out:
    return rc;
}

static void ends_of(const struct gmt_bench *bench, const struct curve *curve, void **target,
                    const void **source)
{
    unsigned char *host = curve->pinned ? bench->pinned : bench->pageable;

    *source = curve->kind == cudaMemcpyHostToDevice ? host : bench->arena;
    *target = curve->kind == cudaMemcpyDeviceToHost ? host : bench->arena;
    if (curve->kind == cudaMemcpyDeviceToDevice)
        *target = bench->arena + bench->working_set_bytes + GMT_ARENA_PAD_BYTES;
}

/*
 * Blocking copies: the time in the call. Async ones: from the call until the stream is idle, which
 * is when the data can be used, and beside it the time in the call alone.
 */
static int copy_once(struct gmt_bench *bench, const struct curve *curve, size_t bytes,
                     double *call_ns, double *elapsed_ns)
{
    const void *source;
    void *target;
    uint64_t began, returned;
    int rc;

    ends_of(bench, curve, &target, &source);
    GMT_TRY(bench, cudaDeviceSynchronize());
    began = gmt_now_ns();
    if (curve->async) {
        GMT_TRY(bench, cudaMemcpyAsync(target, source, bytes, curve->kind, bench->stream));
        returned = gmt_now_ns();
        GMT_TRY(bench, cudaStreamSynchronize(bench->stream));
    } else {
        GMT_TRY(bench, cudaMemcpy(target, source, bytes, curve->kind));
        returned = gmt_now_ns();
    }
    *elapsed_ns = (double)((curve->async ? gmt_now_ns() : returned) - began);
    *call_ns = (double)(returned - began);
out:
    return rc;
}

static int copy_on_device_clock(struct gmt_bench *bench, const struct curve *curve, size_t bytes,
                                double *device_ns)
{
    const void *source;
    void *target;
    float elapsed_ms;
    int rc;

    ends_of(bench, curve, &target, &source);
    GMT_TRY(bench, gmt_launch_delay(bench->stream));
    GMT_TRY(bench, cudaEventRecord(bench->start, bench->stream));
    GMT_TRY(bench, cudaMemcpyAsync(target, source, bytes, curve->kind, bench->stream));
    GMT_TRY(bench, cudaEventRecord(bench->stop, bench->stream));
    GMT_TRY(bench, cudaEventSynchronize(bench->stop));
    GMT_TRY(bench, cudaEventElapsedTime(&elapsed_ms, bench->start, bench->stop));
    *device_ns = (double)elapsed_ms * 1e6;
out:
    return rc;
}

/* One round: each curve once. Nothing is kept from a round of warm-up. */
static int measure_round(struct gmt_bench *bench, size_t bytes, bool keep)
{
    json_t *all = gmt_raw_object(bench->raw, "transfers");
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < CURVE_COUNT; i++) {
        const struct curve *curve = &curves[i];
        double call_ns = 0, elapsed_ns = 0, device_ns = 0;

        rc = copy_once(bench, curve, bytes, &call_ns, &elapsed_ns);
        if (rc == 0 && curve->on_device_clock)
            rc = copy_on_device_clock(bench, curve, bytes, &device_ns);
        if (rc != 0 || !keep)
            continue;
        json_t *point = gmt_raw_point(gmt_raw_array(all, curve->name), bytes);
        gmt_raw_sample(point, "samples_ns", elapsed_ns);
        if (curve->async)
            gmt_raw_sample(point, "call_ns", call_ns);
        if (curve->on_device_clock)
            gmt_raw_sample(point, "device_ns", device_ns);
    }
    return rc;
}

int gmt_bench_transfers(struct gmt_bench *bench)
{
    /* Time goes with the bytes: each size is worth about a quarter of the next larger one. */
    int rc = gmt_bench_host_buffers(bench);
    double share;

    if (rc != 0)
        return rc;
    share = 0.75 * (double)SIZE_LEAST / (double)bench->host_bytes;
    for (size_t bytes = SIZE_LEAST; rc == 0 && bytes <= bench->host_bytes; bytes *= SIZE_STEP) {
        unsigned samples = gmt_bench_samples(bench);
        unsigned warm_up = bytes < LARGE_BYTES ? 2 : 1;

        for (unsigned round = 0; rc == 0 && round < warm_up + samples; round++) {
            rc = measure_round(bench, bytes, round >= warm_up);
            gmt_progress_add(bench->progress, GMT_TRANSFER_UNITS * share / (warm_up + samples),
                             "transfers");
        }
        share *= SIZE_STEP;
    }
    return rc;
}

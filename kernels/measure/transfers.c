/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times over size: copies in both directions from and to each kind of host memory, within the
 * device and to another one, memset, and kernels that work on host memory through its mapping.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/fit/rawfile.h"
#include "kernels/measure/parts.h"
#include "kernels/measure/pass_loop.h"
#include "libtrace/base/progress.h"

#define SIZE_LEAST ((size_t)4)
#define SIZE_LARGE ((size_t)64 << 20) /* above it steps are wide: the curve is straight there */
#define STEP 2
#define STEP_LARGE 4
#define STEP_QUICK 4
#define SWEEP_LEAST ((size_t)16) /* a kernel's access is that wide */
#define SIZES_MOST 40

enum memory_kind { PAGEABLE, PINNED, REGISTERED, DEVICE, OTHER_DEVICE };
enum action { COPY, SET, SWEEP_READ, SWEEP_WRITE };

struct curve {
    const char *name;
    enum memory_kind from;
    enum memory_kind to;
    bool async;
    bool on_device_clock; /* also timed between device events */
    enum action action;   /* SET and SWEEP_* work on `to` */
};

static const struct curve curves[] = {
    {"h2d_pageable_sync", PAGEABLE, DEVICE, false, false, COPY},
    {"h2d_pinned_sync", PINNED, DEVICE, false, false, COPY},
    {"h2d_registered_sync", REGISTERED, DEVICE, false, false, COPY},
    {"h2d_pageable_async", PAGEABLE, DEVICE, true, false, COPY},
    {"h2d_pinned_async", PINNED, DEVICE, true, true, COPY},
    {"h2d_registered_async", REGISTERED, DEVICE, true, false, COPY},
    {"d2h_pageable_sync", DEVICE, PAGEABLE, false, false, COPY},
    {"d2h_pinned_sync", DEVICE, PINNED, false, false, COPY},
    {"d2h_registered_sync", DEVICE, REGISTERED, false, false, COPY},
    {"d2h_pageable_async", DEVICE, PAGEABLE, true, false, COPY},
    {"d2h_pinned_async", DEVICE, PINNED, true, true, COPY},
    {"d2h_registered_async", DEVICE, REGISTERED, true, false, COPY},
    {"d2d_async", DEVICE, DEVICE, true, true, COPY},
    {"peer_async", DEVICE, OTHER_DEVICE, true, true, COPY},
    {"memset_async", DEVICE, DEVICE, true, true, SET},
    {"mapped_read", PINNED, PINNED, true, true, SWEEP_READ},
    {"mapped_write", PINNED, PINNED, true, true, SWEEP_WRITE},
    {"device_read", DEVICE, DEVICE, true, true, SWEEP_READ},
};

enum { CURVE_COUNT = sizeof(curves) / sizeof(curves[0]) };

/* The second device, where there is one, and its end of peer copies. */
struct peer {
    int device; /* -1: none */
    unsigned char *memory;
};

static int peer_open(struct gmt_bench *bench, struct peer *peer)
{
    int devices = 0, direct = 0;
    int rc;

    *peer = (struct peer){.device = -1};
    GMT_TRY(bench, cudaGetDeviceCount(&devices));
    if (devices < 2) {
        return 0;
    }
    int other = bench->device == 0 ? 1 : 0;
    GMT_TRY(bench, cudaDeviceCanAccessPeer(&direct, bench->device, other));
    GMT_TRY(bench, cudaSetDevice(other));
    /* A device that is full or held by others is no reason to fail: there is no such curve then. */
    if (cudaMalloc((void **)&peer->memory, bench->host_bytes) == cudaSuccess) {
        peer->device = other;
    }
    cudaGetLastError();
    GMT_TRY(bench, cudaSetDevice(bench->device));
    if (direct) {
        cudaDeviceEnablePeerAccess(other, 0);
    }
    cudaGetLastError();
    if (!direct && peer->device >= 0) {
        gmt_bench_note(bench, "peer copies are staged: the devices cannot access each other");
    }
out:
    return rc;
}

static void peer_close(struct gmt_bench *bench, struct peer *peer)
{
    if (peer->device < 0) {
        return;
    }
    cudaSetDevice(peer->device);
    cudaFree(peer->memory);
    cudaSetDevice(bench->device);
    cudaDeviceDisablePeerAccess(peer->device);
    cudaGetLastError();
    peer->device = -1;
}

static unsigned char *address_of(const struct gmt_bench *bench, const struct peer *peer,
                                 enum memory_kind place, bool target)
{
    switch (place) {
    case PAGEABLE: return bench->pageable;
    case PINNED: return bench->pinned;
    case REGISTERED: return bench->registered;
    case DEVICE: return target ? bench->far_to : bench->far_from;
    case OTHER_DEVICE: break;
    }
    return peer->memory;
}

static bool is_possible(const struct gmt_bench *bench, const struct peer *peer,
                        const struct curve *curve, size_t bytes)
{
    bool is_sweep = curve->action == SWEEP_READ || curve->action == SWEEP_WRITE;

    if (curve->from == REGISTERED || curve->to == REGISTERED) {
        return bench->is_registered;
    }
    if (curve->to == OTHER_DEVICE) {
        return peer->device >= 0;
    }
    if (is_sweep && curve->to == PINNED && !bench->properties.canMapHostMemory) {
        return false;
    }
    return !is_sweep || bytes >= SWEEP_LEAST;
}

/* As programs name it: cudaMemcpyDefault takes another path through the driver. */
static enum cudaMemcpyKind kind_of(const struct curve *curve)
{
    if (curve->from == DEVICE) {
        return curve->to == DEVICE ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost;
    }
    return cudaMemcpyHostToDevice;
}

static cudaError_t start(struct gmt_bench *bench, const struct peer *peer,
                         const struct curve *curve, size_t bytes)
{
    void *target = address_of(bench, peer, curve->to, true);
    const void *source = address_of(bench, peer, curve->from, false);

    switch (curve->action) {
    case SET: return cudaMemsetAsync(target, 0, bytes, bench->stream);
    case SWEEP_READ: return gmt_launch_sweep(bench, target, bytes, false);
    case SWEEP_WRITE: return gmt_launch_sweep(bench, target, bytes, true);
    case COPY: break;
    }
    if (curve->to == OTHER_DEVICE) {
        return cudaMemcpyPeerAsync(target, peer->device, source, bench->device, bytes,
                                   bench->stream);
    }
    if (curve->async) {
        return cudaMemcpyAsync(target, source, bytes, kind_of(curve), bench->stream);
    }
    return cudaMemcpy(target, source, bytes, kind_of(curve));
}

/*
 * Blocking: the time in the call. Async: from the call until the stream is idle, which is when the
 * data can be used, and beside it the time in the call alone.
 */
static int time_once(struct gmt_bench *bench, const struct peer *peer, const struct curve *curve,
                     size_t bytes, double *call_ns, double *elapsed_ns)
{
    uint64_t began, returned;
    int rc;

    GMT_TRY(bench, cudaDeviceSynchronize());
    began = gmt_now_ns();
    rc = gmt_bench_check(bench, start(bench, peer, curve, bytes), curve->name);
    if (rc != 0) {
        goto out;
    }
    returned = gmt_now_ns();
    if (curve->async) {
        GMT_TRY(bench, cudaStreamSynchronize(bench->stream));
    }
    *elapsed_ns = (double)((curve->async ? gmt_now_ns() : returned) - began);
    *call_ns = (double)(returned - began);
out:
    return rc;
}

static int time_on_device_clock(struct gmt_bench *bench, const struct peer *peer,
                                const struct curve *curve, size_t bytes, double *device_ns)
{
    float elapsed_ms;
    int rc;

    GMT_TRY(bench, gmt_launch_delay(bench->stream));
    GMT_TRY(bench, cudaEventRecord(bench->start, bench->stream));
    rc = gmt_bench_check(bench, start(bench, peer, curve, bytes), curve->name);
    if (rc != 0) {
        goto out;
    }
    GMT_TRY(bench, cudaEventRecord(bench->stop, bench->stream));
    GMT_TRY(bench, cudaEventSynchronize(bench->stop));
    GMT_TRY(bench, cudaEventElapsedTime(&elapsed_ms, bench->start, bench->stop));
    *device_ns = (double)elapsed_ms * 1e6;
out:
    return rc;
}

/* One sample of one curve. */
static int sample(struct gmt_bench *bench, const struct peer *peer, const struct curve *curve,
                  size_t bytes, bool keep)
{
    double elapsed_ns = 0, call_ns = 0, device_ns = 0;
    int rc = time_once(bench, peer, curve, bytes, &call_ns, &elapsed_ns);

    if (rc == 0 && curve->on_device_clock) {
        rc = time_on_device_clock(bench, peer, curve, bytes, &device_ns);
    }
    if (rc != 0 || !keep) {
        return rc;
    }
    json_t *all = gmt_raw_object(bench->raw, "transfers");
    json_t *point = gmt_raw_point(gmt_raw_array(all, curve->name), bytes);
    gmt_raw_sample(point, "samples_ns", elapsed_ns);
    if (curve->async) {
        gmt_raw_sample(point, "call_ns", call_ns);
    }
    if (curve->on_device_clock) {
        gmt_raw_sample(point, "device_ns", device_ns);
    }
    gmt_raw_pass(point, bench->pass);
    return 0;
}

static int measure_point(struct gmt_bench *bench, const struct peer *peer,
                         const struct curve *curve, size_t bytes)
{
    struct gmt_sample_loop loop = gmt_bench_sample_loop(bench, bytes);
    int rc = 0;

    while (rc == 0 && gmt_sample_loop_next(&loop, gmt_now_ns())) {
        rc = sample(bench, peer, curve, bytes, loop.counts);
    }
    return rc;
}

static int measure_size(struct gmt_bench *bench, const struct peer *peer, size_t bytes,
                        double units)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < CURVE_COUNT; i++) {
        if (is_possible(bench, peer, &curves[i], bytes)) {
            rc = measure_point(bench, peer, &curves[i], bytes);
        }
        gmt_progress_add_part(units / CURVE_COUNT, "transfers");
    }
    return rc;
}

/* Ascending; the number of them. */
static size_t sizes_of(const struct gmt_bench *bench, size_t *sizes)
{
    size_t count = 0;

    for (size_t bytes = SIZE_LEAST; bytes <= bench->host_bytes && count < SIZES_MOST;) {
        sizes[count++] = bytes;
        bytes *= bench->quick ? STEP_QUICK : bytes < SIZE_LARGE ? STEP : STEP_LARGE;
    }
    return count;
}

/* What a size takes in a pass: samples move some 10 GB/s on average, and none is below 20 us. */
static double cost_ns(struct gmt_bench *bench, size_t bytes)
{
    struct gmt_sample_loop loop = gmt_bench_sample_loop(bench, bytes);

    return CURVE_COUNT * gmt_sample_loop_cost_ns(&loop, 20e3 + (double)bytes / 10);
}

int gmt_bench_transfers(struct gmt_bench *bench)
{
    int rc = gmt_bench_host_buffers(bench);
    size_t sizes[SIZES_MOST], count;
    struct peer peer = {.device = -1};
    double total_ns = 0;

    if (rc == 0) {
        rc = peer_open(bench, &peer);
    }
    if (rc != 0) {
        return rc;
    }
    count = sizes_of(bench, sizes);
    for (size_t i = 0; i < count; i++) {
        total_ns += cost_ns(bench, sizes[i]);
    }
    for (size_t i = 0; rc == 0 && i < count; i++) {
        if (gmt_bench_too_late(bench, cost_ns(bench, sizes[i]))) {
            gmt_bench_note(
                bench, bench->pass == 0
                           ? "slow machine or busy device: the largest copies were left out"
                           : "slow machine or busy device: the largest copies have fewer samples");
            break;
        }
        rc = measure_size(bench, &peer, sizes[i],
                          GMT_TRANSFER_UNITS * cost_ns(bench, sizes[i]) / total_ns);
    }
    peer_close(bench, &peer);
    return rc;
}

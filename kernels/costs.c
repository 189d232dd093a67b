/* SPDX-License-Identifier: Apache-2.0 */
/* What calls cost: allocating and freeing, pinning, registering, launching, synchronizing. */
#include <errno.h>
#include <jansson.h>

#include "bench.h"
#include "progress.h"
#include "rawfile.h"

#define WARM_UP_ROUNDS 2
#define LAUNCHES 256

static const size_t device_sizes[] = {256, 65536, 1 << 20, 16 << 20, 64 << 20};
static const size_t host_sizes[] = {4096, 65536, 1 << 20, 16 << 20};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Fields of a cost: acquire and release separately, and their sum in samples_ns. */
static void keep_pair(struct gmt_bench *bench, const char *name, size_t bytes, uint64_t began,
                      uint64_t between, uint64_t ended)
{
    json_t *costs = gmt_raw_object(bench->raw, "costs");
    json_t *point = gmt_raw_point(gmt_raw_array(costs, name), bytes);

    gmt_raw_sample(point, "samples_ns", (double)(ended - began));
    gmt_raw_sample(point, "acquire_ns", (double)(between - began));
    gmt_raw_sample(point, "release_ns", (double)(ended - between));
}

static int malloc_free(struct gmt_bench *bench, size_t bytes, bool keep)
{
    void *memory = NULL;
    uint64_t began, between;
    int rc;

    GMT_TRY(bench, cudaDeviceSynchronize());
    began = gmt_now_ns();
    GMT_TRY(bench, cudaMalloc(&memory, bytes));
    between = gmt_now_ns();
    GMT_TRY(bench, cudaFree(memory));
    if (keep)
        keep_pair(bench, "malloc_free", bytes, began, between, gmt_now_ns());
out:
    return rc;
}

static int malloc_async_free_async(struct gmt_bench *bench, size_t bytes, bool keep)
{
    void *memory = NULL;
    uint64_t began, between;
    int rc;

    GMT_TRY(bench, cudaDeviceSynchronize());
    began = gmt_now_ns();
    GMT_TRY(bench, cudaMallocAsync(&memory, bytes, bench->stream));
    between = gmt_now_ns();
    GMT_TRY(bench, cudaFreeAsync(memory, bench->stream));
    if (keep)
        keep_pair(bench, "malloc_async_free_async", bytes, began, between, gmt_now_ns());
out:
    return rc;
}

static int pin_unpin(struct gmt_bench *bench, size_t bytes, bool keep)
{
    void *memory = NULL;
    uint64_t began, between;
    int rc;

    began = gmt_now_ns();
    GMT_TRY(bench, cudaMallocHost(&memory, bytes));
    between = gmt_now_ns();
    GMT_TRY(bench, cudaFreeHost(memory));
    if (keep)
        keep_pair(bench, "pin_unpin", bytes, began, between, gmt_now_ns());
out:
    return rc;
}

/* Pages that are touched already, as those of a buffer in use are. */
static int register_unregister(struct gmt_bench *bench, size_t bytes, bool keep)
{
    uint64_t began, between;
    int rc;

    began = gmt_now_ns();
    GMT_TRY(bench, cudaHostRegister(bench->pageable, bytes, cudaHostRegisterDefault));
    between = gmt_now_ns();
    GMT_TRY(bench, cudaHostUnregister(bench->pageable));
    if (keep)
        keep_pair(bench, "register_unregister", bytes, began, between, gmt_now_ns());
out:
    return rc;
}

static int launch_and_sync(struct gmt_bench *bench, bool keep)
{
    json_t *costs = gmt_raw_object(bench->raw, "costs");
    uint64_t began, launched, finished, synced, queued, drained;
    int rc;

    GMT_TRY(bench, cudaDeviceSynchronize());
    began = gmt_now_ns();
    GMT_TRY(bench, gmt_launch_empty(bench->stream));
    launched = gmt_now_ns();
    GMT_TRY(bench, cudaStreamSynchronize(bench->stream));
    finished = gmt_now_ns();
    GMT_TRY(bench, cudaDeviceSynchronize());
    synced = gmt_now_ns();
    for (unsigned i = 0; i < LAUNCHES; i++)
        GMT_TRY(bench, gmt_launch_empty(bench->stream));
    queued = gmt_now_ns();
    GMT_TRY(bench, cudaStreamSynchronize(bench->stream));
    drained = gmt_now_ns();
    if (keep) {
        gmt_raw_sample(costs, "launch_ns", (double)(launched - began));
        gmt_raw_sample(costs, "launch_wait_ns", (double)(finished - began));
        gmt_raw_sample(costs, "sync_ns", (double)(synced - finished));
        gmt_raw_sample(costs, "launch_queued_ns", (double)(queued - synced) / LAUNCHES);
        gmt_raw_sample(costs, "launch_throughput_ns", (double)(drained - synced) / LAUNCHES);
    }
out:
    return rc;
}

/* Device sizes that fit: an eighth of what is free is left to allocations of this kind. */
static int measure_device(struct gmt_bench *bench, size_t most_bytes, bool pools, bool keep)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < COUNT_OF(device_sizes); i++) {
        if (device_sizes[i] > most_bytes)
            break;
        rc = malloc_free(bench, device_sizes[i], keep);
        if (rc == 0 && pools)
            rc = malloc_async_free_async(bench, device_sizes[i], keep);
    }
    return rc;
}

static int measure_host(struct gmt_bench *bench, bool registers, bool keep)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < COUNT_OF(host_sizes); i++) {
        if (host_sizes[i] > bench->host_bytes)
            break;
        rc = pin_unpin(bench, host_sizes[i], keep);
        if (rc == 0 && registers)
            rc = register_unregister(bench, host_sizes[i], keep);
    }
    return rc;
}

int gmt_bench_costs(struct gmt_bench *bench)
{
    unsigned rounds = WARM_UP_ROUNDS + gmt_bench_samples(bench);
    cudaMemPool_t pool = NULL;
    size_t free_bytes, total_bytes;
    uint64_t keep_all = UINT64_MAX;
    int has_pools = 0, registers = 0;
    int rc = gmt_bench_host_buffers(bench);

    if (rc != 0)
        return rc;
    GMT_TRY(bench, cudaMemGetInfo(&free_bytes, &total_bytes));
    GMT_TRY(bench,
            cudaDeviceGetAttribute(&has_pools, cudaDevAttrMemoryPoolsSupported, bench->device));
    GMT_TRY(bench,
            cudaDeviceGetAttribute(&registers, cudaDevAttrHostRegisterSupported, bench->device));
    if (has_pools) {
        /* The pool keeps its memory, which is how it is meant to be used in a loop. */
        GMT_TRY(bench, cudaDeviceGetDefaultMemPool(&pool, bench->device));
        GMT_TRY(bench, cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep_all));
    }
    for (unsigned round = 0; rc == 0 && round < rounds; round++) {
        bool keep = round >= WARM_UP_ROUNDS;

        rc = measure_device(bench, free_bytes / 8, has_pools != 0, keep);
        if (rc == 0)
            rc = measure_host(bench, registers != 0, keep);
        if (rc == 0)
            rc = launch_and_sync(bench, keep);
        gmt_progress_add(bench->progress, 1.0 / rounds, "costs of calls");
    }
    if (rc == 0 && has_pools) {
        GMT_TRY(bench, cudaDeviceSynchronize());
        GMT_TRY(bench, cudaMemPoolTrimTo(pool, 0));
    }
out:
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What calls cost: allocating and freeing, pinning, registering, launching, synchronizing. */
#include <errno.h>
#include <jansson.h>

#include "kernels/fit/rawfile.h"
#include "kernels/measure/parts.h"
#include "kernels/measure/pass_loop.h"
#include "libtrace/base/progress.h"

#define LAUNCHES 256
#define KEPT_BYTES 256
#define PAGE_BYTES 4096

#define DEVICE_SHARE 8 /* an allocation takes at most that part of the free memory */

static const size_t sizes[] = {256,
                               4096,
                               65536,
                               (size_t)1 << 20,
                               (size_t)4 << 20,
                               (size_t)16 << 20,
                               (size_t)64 << 20,
                               (size_t)256 << 20,
                               (size_t)1 << 30};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* A call that acquires and its opposite. */
struct pair {
    uint64_t began;
    uint64_t between;
    uint64_t ended;
};

/* Fields of a cost: acquire and release separately, and their sum in samples_ns. */
static void keep_pair(struct gmt_bench *bench, const char *name, size_t bytes,
                      const struct pair *pair)
{
    json_t *costs = gmt_raw_object(bench->raw, "costs");
    json_t *point = gmt_raw_point(gmt_raw_array(costs, name), bytes);

    gmt_raw_sample(point, "samples_ns", (double)(pair->ended - pair->began));
    gmt_raw_sample(point, "acquire_ns", (double)(pair->between - pair->began));
    gmt_raw_sample(point, "release_ns", (double)(pair->ended - pair->between));
    gmt_raw_pass(point, bench->pass);
}

static int malloc_free(struct gmt_bench *bench, size_t bytes, struct pair *pair)
{
    void *memory = NULL;
    int rc;

    GMT_TRY(bench, cudaDeviceSynchronize());
    pair->began = gmt_now_ns();
    GMT_TRY(bench, cudaMalloc(&memory, bytes));
    pair->between = gmt_now_ns();
    GMT_TRY(bench, cudaFree(memory));
    pair->ended = gmt_now_ns();
out:
    return rc;
}

static int malloc_async_free_async(struct gmt_bench *bench, size_t bytes, struct pair *pair)
{
    void *memory = NULL;
    int rc;

    GMT_TRY(bench, cudaDeviceSynchronize());
    pair->began = gmt_now_ns();
    GMT_TRY(bench, cudaMallocAsync(&memory, bytes, bench->stream));
    pair->between = gmt_now_ns();
    GMT_TRY(bench, cudaFreeAsync(memory, bench->stream));
    pair->ended = gmt_now_ns();
out:
    return rc;
}

static int pin_unpin(struct gmt_bench *bench, size_t bytes, struct pair *pair)
{
    void *memory = NULL;
    int rc;

    pair->began = gmt_now_ns();
    GMT_TRY(bench, cudaMallocHost(&memory, bytes));
    pair->between = gmt_now_ns();
    GMT_TRY(bench, cudaFreeHost(memory));
    pair->ended = gmt_now_ns();
out:
    return rc;
}

/* Pages that are touched already, as those of a buffer in use are. */
static int register_unregister(struct gmt_bench *bench, size_t bytes, struct pair *pair)
{
    int rc;

    pair->began = gmt_now_ns();
    GMT_TRY(bench, cudaHostRegister(bench->pageable, bytes, cudaHostRegisterDefault));
    pair->between = gmt_now_ns();
    GMT_TRY(bench, cudaHostUnregister(bench->pageable));
    pair->ended = gmt_now_ns();
out:
    return rc;
}

static void keep_call(struct gmt_bench *bench, const char *name, double time_ns)
{
    json_t *cost = gmt_raw_object(gmt_raw_object(bench->raw, "costs"), name);

    gmt_raw_sample(cost, "samples_ns", time_ns);
    gmt_raw_pass(cost, bench->pass);
}

static int launch_and_sync(struct gmt_bench *bench, bool keep)
{
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
    for (unsigned i = 0; i < LAUNCHES; i++) {
        GMT_TRY(bench, gmt_launch_empty(bench->stream));
    }
    queued = gmt_now_ns();
    GMT_TRY(bench, cudaStreamSynchronize(bench->stream));
    drained = gmt_now_ns();
    if (keep) {
        keep_call(bench, "launch_ns", (double)(launched - began));
        keep_call(bench, "launch_wait_ns", (double)(finished - began));
        keep_call(bench, "sync_ns", (double)(synced - finished));
        keep_call(bench, "launch_queued_ns", (double)(queued - synced) / LAUNCHES);
        keep_call(bench, "launch_throughput_ns", (double)(drained - synced) / LAUNCHES);
    }
out:
    return rc;
}

static int measure_calls(struct gmt_bench *bench)
{
    struct gmt_sample_loop loop = gmt_bench_sample_loop(bench, 0);
    int rc = 0;

    while (rc == 0 && gmt_sample_loop_next(&loop, gmt_now_ns())) {
        rc = launch_and_sync(bench, loop.counts);
    }
    return rc;
}

/* Costs that have a size, and the sizes that this machine has room for. */
struct sized {
    const char *name;
    int (*once)(struct gmt_bench *bench, size_t bytes, struct pair *pair);
    unsigned pace; /* a turn takes as long as copying the size / pace; 0: however large it is */
    size_t least_bytes;
    size_t most_bytes; /* 0: not at all */
};

static int measure_size(struct gmt_bench *bench, const struct sized *cost, size_t bytes)
{
    struct gmt_sample_loop loop = gmt_bench_sample_loop(bench,
                                                        cost->pace > 0 ? bytes / cost->pace : 0);
    int rc = 0;

    while (rc == 0 && gmt_sample_loop_next(&loop, gmt_now_ns())) {
        struct pair pair = {.began = 0};

        rc = cost->once(bench, bytes, &pair);
        if (rc == 0 && loop.counts) {
            keep_pair(bench, cost->name, bytes, &pair);
        }
    }
    return rc;
}

static int measure_all(struct gmt_bench *bench, const struct sized *costs, size_t count)
{
    int rc = measure_calls(bench);

    for (size_t i = 0; rc == 0 && i < count; i++) {
        for (size_t j = 0; rc == 0 && j < COUNT_OF(sizes); j++) {
            if (sizes[j] >= costs[i].least_bytes && sizes[j] <= costs[i].most_bytes) {
                rc = measure_size(bench, &costs[i], sizes[j]);
            }
        }
        gmt_progress_add_part(GMT_COST_UNITS / (double)count, "costs of calls");
    }
    return rc;
}

int gmt_bench_costs(struct gmt_bench *bench)
{
    cudaMemPool_t pool = NULL;
    size_t free_bytes, total_bytes, most;
    uint64_t keep_all = UINT64_MAX;
    int has_pools = 0, registers = 0;
    void *kept = NULL;
    int rc = gmt_bench_host_buffers(bench);

    if (rc != 0) {
        return rc;
    }
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
    /*
     * The driver cuts small allocations out of a block, which it gives back with the last of them.
     * A program has others alive, so that its loop does not make a block in every turn.
     */
    GMT_TRY(bench, cudaMalloc(&kept, KEPT_BYTES));
    most = free_bytes / DEVICE_SHARE < bench->host_bytes ? free_bytes / DEVICE_SHARE
                                                         : bench->host_bytes;
    const struct sized costs[] = {
        {"malloc_free", malloc_free, 0, sizes[0], most},
        {"malloc_async_free_async", malloc_async_free_async, 0, sizes[0], has_pools ? most : 0},
        {"pin_unpin", pin_unpin, 1, PAGE_BYTES, bench->host_bytes},
        {"register_unregister", register_unregister, 8, PAGE_BYTES,
         registers && bench->is_registered ? bench->host_bytes : 0},
    };
    rc = measure_all(bench, costs, COUNT_OF(costs));
    if (rc == 0 && has_pools) {
        GMT_TRY(bench, cudaDeviceSynchronize());
        GMT_TRY(bench, cudaMemPoolTrimTo(pool, 0));
    }
out:
    cudaFree(kept);
    return rc;
}

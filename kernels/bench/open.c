/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the device with an arena for its kernels, and settles how much is measured. */
#include "kernels/bench/bench.h"

#define SAMPLES_FULL 21
#define SAMPLES_QUICK 11
/*
 * Of each process: 45 and 6 passes in all, a third of them full ones (pass_loop.c). Passes of one process
 * differ by 8 % in calls and copies, processes by 2 % (12 of 3 passes each on an H200): a calibration
 * wants passes, and a further process costs as much time as two of the full ones.
 */
#define PASSES_FULL 15
#define PASSES_QUICK 3
#define PROCESSES_FULL 3
#define PROCESSES_QUICK 2
#define BUDGET_FULL_NS 60000000000ull
#define BUDGET_QUICK_NS 10000000000ull
#define WORKING_SET_LEAST ((size_t)16 << 20)
#define WORKING_SET_USUAL ((size_t)256 << 20) /* whatever L2 holds */
#define WORKING_SET_MOST ((size_t)1 << 30)

static size_t power_of_two_from(size_t bytes)
{
    size_t power = 1;

    while (power < bytes) {
        power *= 2;
    }
    return power;
}

static int allocate_arena(struct gmt_bench *bench)
{
    size_t wanted = power_of_two_from(4 * (size_t)bench->properties.l2CacheSize);
    size_t free_bytes, total_bytes;
    int rc;

    if (wanted < WORKING_SET_USUAL) {
        wanted = WORKING_SET_USUAL;
    }
    if (wanted > WORKING_SET_MOST) {
        wanted = WORKING_SET_MOST;
    }
    bench->working_set_bytes = wanted;
    GMT_TRY(bench, cudaMemGetInfo(&free_bytes, &total_bytes));
    for (;;) {
        size_t bytes = 2 * bench->working_set_bytes + (size_t)2 * GMT_ARENA_PAD_BYTES;

        /* Half of what is free stays free for whoever else runs. */
        if (bytes <= free_bytes / 2 || bench->working_set_bytes == WORKING_SET_LEAST) {
            rc = gmt_bench_check(bench, cudaMalloc((void **)&bench->arena, bytes), "cudaMalloc");
            if (rc == 0) {
                GMT_TRY(bench, cudaMemset(bench->arena, 0, bytes));
                break;
            }
        }
        if (bench->working_set_bytes == WORKING_SET_LEAST) {
            return rc;
        }
        bench->working_set_bytes /= 2;
    }
    if (bench->working_set_bytes < wanted) {
        gmt_bench_note(bench, "little free device memory: working sets are smaller than planned");
    }
    if (bench->working_set_bytes < 4 * (size_t)bench->properties.l2CacheSize) {
        gmt_bench_note(bench, "working sets are below four times L2: device memory looks faster");
    }
out:
    return rc;
}

/* More processes than usual are an experiment, and have as much more time. */
static void set_extent(struct gmt_bench *bench)
{
    unsigned usual = bench->quick ? PROCESSES_QUICK : PROCESSES_FULL;

    bench->pass_count = bench->quick ? PASSES_QUICK : PASSES_FULL;
    bench->budget_ns = bench->quick ? BUDGET_QUICK_NS : BUDGET_FULL_NS;
    if (bench->process_count == GMT_PROCESSES_USUAL) {
        bench->process_count = usual;
    } else if (bench->process_count > usual) {
        bench->budget_ns = bench->budget_ns / usual * bench->process_count;
    }
    if (bench->process_count == 0) {
        bench->pass_count *= usual;
    }
}

int gmt_bench_open(struct gmt_bench *bench, int device)
{
    int rc;

    bench->device = device;
    bench->sample_count = bench->quick ? SAMPLES_QUICK : SAMPLES_FULL;
    set_extent(bench);
    GMT_TRY(bench, cudaSetDevice(device));
    GMT_TRY(bench, cudaGetDeviceProperties(&bench->properties, device));
    bench->sm_count = (unsigned)bench->properties.multiProcessorCount;
    bench->max_warps_per_sm = (unsigned)bench->properties.maxThreadsPerMultiProcessor / 32;
    GMT_TRY(bench, cudaStreamCreateWithFlags(&bench->stream, cudaStreamNonBlocking));
    GMT_TRY(bench, cudaEventCreate(&bench->start));
    GMT_TRY(bench, cudaEventCreate(&bench->stop));
    rc = allocate_arena(bench);
out:
    return rc;
}

void gmt_bench_close(struct gmt_bench *bench)
{
    gmt_bench_release_buffers(bench);
    cudaFree(bench->arena);
    if (bench->stop != NULL) {
        cudaEventDestroy(bench->stop);
    }
    if (bench->start != NULL) {
        cudaEventDestroy(bench->start);
    }
    if (bench->stream != NULL) {
        cudaStreamDestroy(bench->stream);
    }
}

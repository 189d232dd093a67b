/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for transfers: pageable, page-locked and registered on the host, and ends on the device. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/bench/bench.h"

#define MOST ((size_t)1 << 30)
#define MOST_QUICK ((size_t)64 << 20)
#define LEAST ((size_t)1 << 20)
#define PAGE_BYTES 4096
/* Three buffers of an eighth each leave more than half of the free memory to others. */
#define SHARE_OF_HOST 8
/* The two ends on the device together take at most half of what is free. */
#define SHARE_OF_DEVICE 4

static void release(struct gmt_bench *bench)
{
    cudaFreeHost(bench->pinned);
    if (bench->is_registered) {
        cudaHostUnregister(bench->registered);
    }
    free(bench->registered);
    free(bench->pageable);
    cudaFree(bench->far_from);
    cudaFree(bench->far_to);
    bench->is_registered = false;
    bench->pinned = bench->registered = bench->pageable = NULL;
    bench->far_from = bench->far_to = NULL;
    /* What did not fit is tried again with less; the error is not another call's. */
    cudaGetLastError();
}

static bool take(struct gmt_bench *bench)
{
    if (cudaMallocHost((void **)&bench->pinned, bench->host_bytes) != cudaSuccess ||
        cudaMalloc((void **)&bench->far_from, bench->host_bytes) != cudaSuccess ||
        cudaMalloc((void **)&bench->far_to, bench->host_bytes) != cudaSuccess) {
        return false;
    }
    if (posix_memalign((void **)&bench->pageable, PAGE_BYTES, bench->host_bytes) != 0) {
        bench->pageable = NULL;
    }
    if (posix_memalign((void **)&bench->registered, PAGE_BYTES, bench->host_bytes) != 0) {
        bench->registered = NULL;
    }
    return bench->pageable != NULL && bench->registered != NULL;
}

/* Without registration there are no figures of registered memory; all else is measured. */
static void try_register(struct gmt_bench *bench)
{
    bench->is_registered = cudaHostRegister(bench->registered, bench->host_bytes,
                                            cudaHostRegisterDefault) == cudaSuccess;
    if (!bench->is_registered) {
        cudaGetLastError();
        gmt_bench_note(bench, "host memory cannot be registered here: not measured");
    }
}

int gmt_bench_host_buffers(struct gmt_bench *bench)
{
    size_t wanted = bench->quick ? MOST_QUICK : MOST, free_bytes = 0, total_bytes = 0;
    long free_pages = sysconf(_SC_AVPHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    int rc;

    if (bench->pinned != NULL) {
        return 0;
    }
    GMT_TRY(bench, cudaMemGetInfo(&free_bytes, &total_bytes));
    bench->host_bytes = wanted;
    while (bench->host_bytes > LEAST &&
           (bench->host_bytes > free_bytes / SHARE_OF_DEVICE ||
            (free_pages > 0 &&
             bench->host_bytes > (size_t)free_pages * (size_t)page_bytes / SHARE_OF_HOST))) {
        bench->host_bytes /= 2;
    }
    while (!take(bench)) {
        release(bench);
        bench->host_bytes /= 2;
        if (bench->host_bytes < LEAST) {
            rc = gmt_bench_check(bench, cudaErrorMemoryAllocation, "memory for copies");
            goto out;
        }
    }
    /* First touch is a cost of its own and no part of a copy. */
    memset(bench->pageable, 1, bench->host_bytes);
    memset(bench->registered, 1, bench->host_bytes);
    memset(bench->pinned, 1, bench->host_bytes);
    try_register(bench);
    GMT_TRY(bench, cudaMemset(bench->far_from, 1, bench->host_bytes));
    GMT_TRY(bench, cudaMemset(bench->far_to, 1, bench->host_bytes));
    if (bench->host_bytes < wanted) {
        gmt_bench_note(bench, "little free memory: the largest copies were left out");
    }
out:
    return rc;
}

void gmt_bench_release_buffers(struct gmt_bench *bench)
{
    if (bench->pinned != NULL) {
        release(bench);
    }
    cudaFreeHost(bench->mapped);
    cudaFree(bench->mapped_copy);
    bench->mapped = bench->mapped_copy = NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory and memory pools of the software device's runtime. */
#include "check.h"

Test(managed, is_prefetched_and_advised)
{
    int *data = NULL;
    struct cudaMemLocation device = {cudaMemLocationTypeDevice, 0};
    expect_success(cudaMallocManaged((void **)&data, 4096, cudaMemAttachGlobal));
    data[0] = 42;
    expect_success(cudaMemAdvise(data, 4096, cudaMemAdviseSetReadMostly, device));
    expect_success(cudaMemPrefetchAsync(data, 4096, device, 0, NULL));
    void *parts[] = {data};
    size_t sizes[] = {4096};
    size_t first = 0;
    cudaStream_t stream;
    expect_success(cudaStreamCreate(&stream));
    expect_success(cudaMemPrefetchBatchAsync(parts, sizes, 1, &device, &first, 1, 0, stream));
    expect_success(cudaDeviceSynchronize());
    cr_assert_eq(data[0], 42);
    expect_success(cudaFree(data));
}

Test(pools, give_and_take_memory)
{
    cudaMemPool_t pool;
    void *memory = NULL;
    struct cudaMemPoolProps properties = {
        .allocType = cudaMemAllocationTypePinned,
        .location = {cudaMemLocationTypeDevice, 0},
    };
    expect_success(cudaMallocAsync(&memory, 256, NULL));
    expect_success(cudaFreeAsync(memory, NULL));
    expect_success(cudaMemPoolCreate(&pool, &properties));
    uint64_t keep = 1 << 20;
    uint64_t read = 0;
    expect_success(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    expect_success(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &read));
    cr_assert_eq(read, keep);
    expect_success(cudaMallocFromPoolAsync(&memory, 256, pool, NULL));
    expect_success(cudaMemsetAsync(memory, 1, 256, NULL));
    expect_success(cudaFreeAsync(memory, NULL));
    expect_success(cudaStreamSynchronize(NULL));
    expect_success(cudaMemPoolTrimTo(pool, 0));
    expect_success(cudaMemPoolDestroy(pool));
    expect_success(cudaDeviceGetDefaultMemPool(&pool, 0));
    cr_assert_not_null(pool);
}

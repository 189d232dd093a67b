/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what the driver answers about occupancy: registers x shared memory x carve-out x block size.
 * The output is a fixture of tests/unit/test_occupancy.c: tests/data/occupancy_<device>.txt.
 *
 *   device   major minor sms threads_per_sm registers_per_sm shared_per_sm optin reserved
 *   threads  block sizes
 *   blocks   registers static dynamic carveout barriers = resident blocks at each of them
 *   best     registers static dynamic = block grid
 *   clusters registers dynamic cluster threads = resident clusters of the device
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

#include "check.cuh"

/* `live` values are in registers at once: all are loaded before the first is stored. */
template <int live> __global__ void hold(float *data)
{
    float value[live];

#pragma unroll
    for (int i = 0; i < live; i++)
        asm volatile("ld.global.f32 %0, [%1];" : "=f"(value[i]) : "l"(data + i * 32));
#pragma unroll
    for (int i = 0; i < live; i++)
        asm volatile("st.global.f32 [%0], %1;" ::"l"(data + i * 32 + 1), "f"(value[live - 1 - i])
                     : "memory");
}

__global__ void keep_shared(float *data)
{
    __shared__ float tile[4096];

    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = tile[threadIdx.x ^ 1];
}

__global__ void name_barriers(float *data)
{
    asm volatile("bar.sync 11;" ::: "memory");
    data[threadIdx.x] += 1;
    asm volatile("bar.sync 0;" ::: "memory");
}

static const struct {
    const void *function;
    int barriers;
} kernels[] = {
    {(const void *)hold<1>, 1},   {(const void *)hold<20>, 1},    {(const void *)hold<28>, 1},
    {(const void *)hold<36>, 1},  {(const void *)hold<44>, 1},    {(const void *)hold<56>, 1},
    {(const void *)hold<64>, 1},  {(const void *)hold<88>, 1},    {(const void *)hold<116>, 1},
    {(const void *)hold<124>, 1}, {(const void *)hold<160>, 1},   {(const void *)hold<200>, 1},
    {(const void *)hold<240>, 1}, {(const void *)keep_shared, 1}, {(const void *)name_barriers, 12},
};
static const int threads[] = {1, 32, 33, 64, 96, 128, 160, 192, 256, 320, 384, 512, 640, 768, 1024};
static const int shared_kib[] = {0, 1, 2, 4, 7, 12, 16, 24, 31, 48, 56, 75, 99, 113, 163, 227};
static const int carveouts[] = {-1, 0, 25, 50, 100};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void print_blocks(const void *function, const struct cudaFuncAttributes *attributes,
                         int barriers, int dynamic, int carveout)
{
    CHECK(cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout, carveout));
    printf("blocks %d %zu %d %d %d =", attributes->numRegs, attributes->sharedSizeBytes, dynamic,
           carveout, barriers);
    for (size_t i = 0; i < COUNT(threads); i++) {
        int blocks = -1;

        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads[i],
                                                            (size_t)dynamic));
        printf(" %d", blocks);
    }
    printf("\n");
}

static void print_best(const void *function, const struct cudaFuncAttributes *attributes,
                       int dynamic)
{
    int block = 0, grid = 0;

    CHECK(cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout, -1));
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, function, (size_t)dynamic, 0));
    printf("best %d %zu %d = %d %d\n", attributes->numRegs, attributes->sharedSizeBytes, dynamic,
           block, grid);
}

static void print_clusters(const void *function, int registers, int dynamic, int size)
{
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    int clusters = 0;

    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = (unsigned)size;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = dim3((unsigned)size * 1024);
    config.blockDim = dim3(256);
    config.dynamicSmemBytes = (size_t)dynamic;
    config.attrs = &attribute;
    config.numAttrs = 1;
    if (cudaOccupancyMaxActiveClusters(&clusters, function, &config) == cudaSuccess)
        printf("clusters %d %d %d 256 = %d\n", registers, dynamic, size, clusters);
    (void)cudaGetLastError();
}

static void print_kernel(const struct cudaDeviceProp *device, const void *function, int barriers)
{
    struct cudaFuncAttributes attributes;

    CHECK(cudaFuncGetAttributes(&attributes, function));
    int most = (int)(device->sharedMemPerBlockOptin - attributes.sharedSizeBytes);
    CHECK(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
    for (size_t i = 0; i < COUNT(shared_kib); i++) {
        int dynamic = shared_kib[i] * 1024;

        if (dynamic > most)
            continue;
        for (size_t k = 0; k < COUNT(carveouts); k++)
            print_blocks(function, &attributes, barriers, dynamic, carveouts[k]);
        print_best(function, &attributes, dynamic);
        for (int size = 1; device->major >= 9 && size <= 8; size *= 2)
            print_clusters(function, attributes.numRegs, dynamic, size);
    }
}

int main(void)
{
    struct cudaDeviceProp device;
    int driver = 0;

    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaDriverGetVersion(&driver));
    printf("# SPDX-License-Identifier: Apache-2.0\n# %s, CUDA driver %d: occupancy\n", device.name,
           driver);
    printf("device %d %d %d %d %d %zu %zu %zu\n", device.major, device.minor,
           device.multiProcessorCount, device.maxThreadsPerMultiProcessor,
           device.regsPerMultiprocessor, device.sharedMemPerMultiprocessor,
           device.sharedMemPerBlockOptin, device.reservedSharedMemPerBlock);
    printf("threads");
    for (size_t i = 0; i < COUNT(threads); i++)
        printf(" %d", threads[i]);
    printf("\n");
    for (size_t i = 0; i < COUNT(kernels); i++)
        print_kernel(&device, kernels[i].function, kernels[i].barriers);
    return 0;
}

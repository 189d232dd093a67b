/* SPDX-License-Identifier: Apache-2.0 */
/* Occupancy, as the toolkit's cuda_occupancy.h computes it for compute capability 9.0. */
#include <cuda_occupancy.h>

#include "simgpu/driver/driver.h"

static const cudaOccDeviceProp properties = {
    .computeMajor = SIM_COMPUTE_MAJOR,
    .computeMinor = SIM_COMPUTE_MINOR,
    .maxThreadsPerBlock = 1024,
    .maxThreadsPerMultiprocessor = 2048,
    .regsPerBlock = 65536,
    .regsPerMultiprocessor = 65536,
    .warpSize = 32,
    .sharedMemPerBlock = SIM_DEFAULT_SHARED_BYTES,
    .sharedMemPerMultiprocessor = 233472,
    .numSms = SIM_MULTIPROCESSORS,
    .sharedMemPerBlockOptin = SIM_MAX_SHARED_BYTES,
    .reservedSharedMemPerBlock = 1024,
};

struct occupancy_input {
    cudaOccFuncAttributes attributes;
    cudaOccDeviceState state;
};

static bool ask(CUfunction handle, struct occupancy_input *question)
{
    struct sim_context *context = sim_current();
    const struct sim_function *function = sim_function_of(handle, context);
    if (function == NULL) {
        return false;
    }
    *question = (struct occupancy_input){
        .attributes = {.maxThreadsPerBlock = (int)function->info->max_threads_per_block,
                       .numRegs = (int)function->registers,
                       .sharedSizeBytes = function->info->static_shared_bytes,
                       .partitionedGCConfig = PARTITIONED_GC_OFF,
                       .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
                       .maxDynamicSharedSizeBytes = (size_t)function->max_dynamic_bytes,
                       .numBlockBarriers = 1},
        .state = {.cacheConfig = CACHE_PREFER_NONE, .carveoutConfig = function->carveout},
    };
    return true;
}

static CUresult result_of(cudaOccError error)
{
    return error == CUDA_OCC_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func,
                                                                  int blockSize,
                                                                  size_t dynamicSMemSize,
                                                                  unsigned int flags)
{
    struct occupancy_input question;
    cudaOccResult answer;
    if (numBlocks == NULL || blockSize <= 0 || flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!ask(func, &question)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    CUresult result = result_of(cudaOccMaxActiveBlocksPerMultiprocessor(
        &answer, &properties, &question.attributes, &question.state, blockSize, dynamicSMemSize));
    if (result == CUDA_SUCCESS) {
        *numBlocks = answer.activeBlocksPerMultiprocessor;
    }
    return result;
}

CUresult sim_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func,
                                                         int blockSize, size_t dynamicSMemSize)
{
    return sim_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks, func, blockSize, dynamicSMemSize, CU_OCCUPANCY_DEFAULT);
}

CUresult
sim_cuOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, CUfunction func,
                                              CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                              size_t dynamicSMemSize, int blockSizeLimit,
                                              unsigned int flags)
{
    struct occupancy_input question;
    if (minGridSize == NULL || blockSize == NULL || blockSizeLimit < 0 ||
        flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!ask(func, &question)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (blockSizeLimit > 0 && blockSizeLimit < question.attributes.maxThreadsPerBlock) {
        question.attributes.maxThreadsPerBlock = blockSizeLimit;
    }
    return result_of(cudaOccMaxPotentialOccupancyBlockSize(
        minGridSize, blockSize, &properties, &question.attributes, &question.state,
        blockSizeToDynamicSMemSize, dynamicSMemSize));
}

CUresult sim_cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction func,
                                              CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                              size_t dynamicSMemSize, int blockSizeLimit)
{
    return sim_cuOccupancyMaxPotentialBlockSizeWithFlags(
        minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit,
        CU_OCCUPANCY_DEFAULT);
}

CUresult sim_cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, CUfunction func,
                                                     int numBlocks, int blockSize)
{
    struct occupancy_input question;
    if (dynamicSmemSize == NULL || numBlocks <= 0 || blockSize <= 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!ask(func, &question)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    return result_of(cudaOccAvailableDynamicSMemPerBlock(
        dynamicSmemSize, &properties, &question.attributes, &question.state, numBlocks, blockSize));
}

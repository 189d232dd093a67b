/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of kernels and their occupancy. */
#include "simgpu/runtime/runtime.h"

#include <string.h>

/* The fields of struct cudaFuncAttributes; all are of type int except those in bytes. */
#define ATTRIBUTES(X) \
    X(sharedSizeBytes, SHARED_SIZE_BYTES) \
    X(constSizeBytes, CONST_SIZE_BYTES) \
    X(localSizeBytes, LOCAL_SIZE_BYTES) \
    X(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK) \
    X(numRegs, NUM_REGS) \
    X(ptxVersion, PTX_VERSION) \
    X(binaryVersion, BINARY_VERSION) \
    X(cacheModeCA, CACHE_MODE_CA) \
    X(maxDynamicSharedSizeBytes, MAX_DYNAMIC_SHARED_SIZE_BYTES) \
    X(preferredShmemCarveout, PREFERRED_SHARED_MEMORY_CARVEOUT) \
    X(clusterDimMustBeSet, CLUSTER_SIZE_MUST_BE_SET) \
    X(requiredClusterWidth, REQUIRED_CLUSTER_WIDTH) \
    X(requiredClusterHeight, REQUIRED_CLUSTER_HEIGHT) \
    X(requiredClusterDepth, REQUIRED_CLUSTER_DEPTH) \
    X(clusterSchedulingPolicyPreference, CLUSTER_SCHEDULING_POLICY_PREFERENCE) \
    X(nonPortableClusterSizeAllowed, NON_PORTABLE_CLUSTER_SIZE_ALLOWED)

cudaError_t sim_cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func)
{
    CUkernel kernel;
    cudaError_t error = attr == NULL ? cudaErrorInvalidValue : sim_kernel_of(func, &kernel);
    if (error != cudaSuccess) {
        return error;
    }
    CUdevice device = sim_current_device();
    CUresult result = CUDA_SUCCESS;
    memset(attr, 0, sizeof *attr);
#define READ(field, attribute) \
    if (result == CUDA_SUCCESS) { \
        int value = 0; \
        result = SIM_CU->cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_##attribute, kernel, \
                                              device); \
        attr->field = (__typeof__(attr->field))value; \
    }
    ATTRIBUTES(READ)
    return sim_rt_error(result);
}

cudaError_t sim_cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute attr,
                                                int value, int device)
{
    if (attr < cudaFuncAttributeMaxDynamicSharedMemorySize || attr >= cudaFuncAttributeMax) {
        return cudaErrorInvalidValue;
    }
    return sim_rt_error(
        SIM_CU->cuKernelSetAttribute((CUfunction_attribute)attr, value, kernel, device));
}

cudaError_t sim_cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value)
{
    CUkernel kernel;
    cudaError_t error = sim_kernel_of(func, &kernel);
    return error != cudaSuccess
               ? error
               : sim_cudaKernelSetAttributeForDevice(kernel, attr, value, sim_current_device());
}

cudaError_t sim_cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache cacheConfig)
{
    CUkernel kernel;
    cudaError_t error = (unsigned)cacheConfig > cudaFuncCachePreferEqual
                            ? cudaErrorInvalidValue
                            : sim_kernel_of(func, &kernel);
    return error != cudaSuccess ? error
                                : sim_rt_error(SIM_CU->cuKernelSetCacheConfig(
                                      kernel, (CUfunc_cache)cacheConfig, sim_current_device()));
}

/* Accepted and without effect, as on every device whose banks have one width. */
cudaError_t sim_cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config)
{
    CUkernel kernel;
    return (unsigned)config > cudaSharedMemBankSizeEightByte ? cudaErrorInvalidValue
                                                             : sim_kernel_of(func, &kernel);
}

cudaError_t sim_cudaFuncGetName(const char **name, const void *func)
{
    CUkernel kernel;
    cudaError_t error = name == NULL ? cudaErrorInvalidValue : sim_kernel_of(func, &kernel);
    return error != cudaSuccess ? error : sim_rt_error(SIM_CU->cuKernelGetName(name, kernel));
}

cudaError_t sim_cudaFuncGetParamInfo(const void *func, size_t paramIndex, size_t *paramOffset,
                                     size_t *paramSize)
{
    CUkernel kernel;
    cudaError_t error = sim_kernel_of(func, &kernel);
    return error != cudaSuccess ? error
                                : sim_rt_error(SIM_CU->cuKernelGetParamInfo(
                                      kernel, paramIndex, paramOffset, paramSize));
}

cudaError_t sim_cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr)
{
    CUkernel kernel;
    cudaError_t error = functionPtr == NULL ? cudaErrorInvalidValue
                                            : sim_kernel_of(symbolPtr, &kernel);
    return error != cudaSuccess ? error
                                : sim_rt_error(SIM_CU->cuKernelGetFunction(functionPtr, kernel));
}

cudaError_t sim_cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr)
{
    return kernelPtr == NULL ? cudaErrorInvalidValue : sim_kernel_of(entryFuncAddr, kernelPtr);
}

/* ---- occupancy ------------------------------------------------------------------------------ */

cudaError_t sim_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *numBlocks, const void *func, int blockSize, size_t dynamicSMemSize, unsigned int flags)
{
    CUkernel kernel;
    cudaError_t error = numBlocks == NULL ? cudaErrorInvalidValue : sim_kernel_of(func, &kernel);
    return error != cudaSuccess
               ? error
               : sim_rt_error(SIM_CU->cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                     numBlocks, (CUfunction)kernel, blockSize, dynamicSMemSize, flags));
}

cudaError_t sim_cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *func,
                                                              int blockSize, size_t dynamicSMemSize)
{
    return sim_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks, func, blockSize, dynamicSMemSize, cudaOccupancyDefault);
}

cudaError_t sim_cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, const void *func,
                                                          int numBlocks, int blockSize)
{
    CUkernel kernel;
    cudaError_t error = dynamicSmemSize == NULL ? cudaErrorInvalidValue
                                                : sim_kernel_of(func, &kernel);
    return error != cudaSuccess ? error
                                : sim_rt_error(SIM_CU->cuOccupancyAvailableDynamicSMemPerBlock(
                                      dynamicSmemSize, (CUfunction)kernel, numBlocks, blockSize));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of a context: limits, cache and bank preferences, and which peers' memory it may touch. */
#include "simgpu/driver/driver.h"

/* Bounds of a limit; the rest of enum CUlimit is not supported. */
static const struct {
    size_t standard, most;
} limits[CU_LIMIT_MAX] = {
    [CU_LIMIT_STACK_SIZE] = {1024, 512 << 10},
    [CU_LIMIT_PRINTF_FIFO_SIZE] = {1 << 20, SIZE_MAX},
    [CU_LIMIT_MALLOC_HEAP_SIZE] = {8 << 20, SIZE_MAX},
    [CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = {2048, SIZE_MAX},
    [CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = {128, 128},
};

void sim_limits_default(struct sim_context *context)
{
    for (unsigned i = 0; i < CU_LIMIT_MAX; i++) {
        context->limits[i] = limits[i].standard;
    }
}

static CUresult limit_check(CUlimit limit, const struct sim_context *context)
{
    return (unsigned)limit >= CU_LIMIT_MAX ? CUDA_ERROR_INVALID_VALUE
           : limits[limit].most == 0       ? CUDA_ERROR_UNSUPPORTED_LIMIT
           : context == NULL               ? CUDA_ERROR_INVALID_CONTEXT
                                           : CUDA_SUCCESS;
}

CUresult sim_cuCtxGetLimit(size_t *pvalue, CUlimit limit)
{
    struct sim_context *context = sim_current();
    CUresult result = pvalue == NULL ? CUDA_ERROR_INVALID_VALUE : limit_check(limit, context);
    if (result == CUDA_SUCCESS) {
        *pvalue = __atomic_load_n(&context->limits[limit], __ATOMIC_RELAXED);
    }
    return result;
}

CUresult sim_cuCtxSetLimit(CUlimit limit, size_t value)
{
    struct sim_context *context = sim_current();
    CUresult result = limit_check(limit, context);
    if (result == CUDA_SUCCESS && value > limits[limit].most) {
        result = CUDA_ERROR_INVALID_VALUE;
    }
    if (result == CUDA_SUCCESS) {
        __atomic_store_n(&context->limits[limit], value, __ATOMIC_RELAXED);
    }
    return result;
}

/* The stack a program asked for; 0 where it left that to the device. */
size_t sim_stack_bytes(const struct sim_context *context)
{
    size_t bytes = __atomic_load_n(&context->limits[CU_LIMIT_STACK_SIZE], __ATOMIC_RELAXED);
    return bytes != limits[CU_LIMIT_STACK_SIZE].standard ? bytes : 0;
}

CUresult sim_cuCtxGetCacheConfig(CUfunc_cache *pconfig)
{
    struct sim_context *context = sim_current();
    if (pconfig == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (context == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *pconfig = context->cache_config;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxSetCacheConfig(CUfunc_cache config)
{
    struct sim_context *context = sim_current();
    if ((unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (context == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    context->cache_config = config;
    return CUDA_SUCCESS;
}

/* Banks are four bytes wide since compute capability 5.0: asking for others has no effect. */
CUresult sim_cuCtxGetSharedMemConfig(CUsharedconfig *pConfig)
{
    if (pConfig == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pConfig = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return sim_current() != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    return (unsigned)config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE ? CUDA_ERROR_INVALID_VALUE
           : sim_current() != NULL                                      ? CUDA_SUCCESS
                                   : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_cuCtxResetPersistingL2Cache(void)
{
    return sim_current() != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    if (sim_current() == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (leastPriority != NULL) {
        *leastPriority = SIM_PRIORITY_LEAST;
    }
    if (greatestPriority != NULL) {
        *greatestPriority = SIM_PRIORITY_GREATEST;
    }
    return CUDA_SUCCESS;
}

/* ---- peers ---- */

static CUresult peer_check(CUcontext peer, const struct sim_context *current, unsigned *bit)
{
    if (current == NULL || (CUcontext)current == peer || !sim_object_is(peer, SIM_CONTEXT)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    CUdevice device = ((const struct sim_context *)peer)->device;
    *bit = 1u << device;
    return device == current->device ? CUDA_ERROR_PEER_ACCESS_UNSUPPORTED : CUDA_SUCCESS;
}

CUresult sim_cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
{
    unsigned bit;
    struct sim_context *context = sim_current();
    if (Flags != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = peer_check(peerContext, context, &bit);
    if (result == CUDA_SUCCESS && (atomic_fetch_or(&context->peers, bit) & bit) != 0) {
        return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    }
    sim_map_changed();
    return result;
}

CUresult sim_cuCtxDisablePeerAccess(CUcontext peerContext)
{
    unsigned bit;
    struct sim_context *context = sim_current();
    CUresult result = peer_check(peerContext, context, &bit);
    if (result == CUDA_SUCCESS && (atomic_fetch_and(&context->peers, ~bit) & bit) == 0) {
        return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    }
    sim_map_changed();
    return result;
}

/* Every device reaches every other, and all equally well: they are the host's memory. */
CUresult sim_cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib, CUdevice srcDevice,
                                     CUdevice dstDevice)
{
    if (value == NULL || srcDevice == dstDevice) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!sim_device_valid(srcDevice) || !sim_device_valid(dstDevice)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    switch (attrib) {
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED: *value = 1; return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED:
        *value = 0;
        return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Primary contexts: one per device, counted references, the runtime's own. */
#include <pthread.h>

#include "simgpu/driver/driver.h"

static pthread_mutex_t primary_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sim_context *primaries[SIM_MAX_DEVICES];
static unsigned primary_flags[SIM_MAX_DEVICES];

CUresult sim_cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
    if (pctx == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!sim_device_valid(dev)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    pthread_mutex_lock(&primary_lock);
    if (primaries[dev] == NULL) {
        primaries[dev] = sim_context_new(dev, primary_flags[dev], true);
    }
    struct sim_context *context = primaries[dev];
    if (context != NULL) {
        context->retained++;
    }
    pthread_mutex_unlock(&primary_lock);
    *pctx = (CUcontext)context;
    return context != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Drop one reference, or all of them; the last one destroys the context. */
static CUresult primary_release(CUdevice dev, bool all)
{
    if (!sim_device_valid(dev)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    struct sim_context *gone = NULL;
    pthread_mutex_lock(&primary_lock);
    struct sim_context *context = primaries[dev];
    if (context != NULL && (all || --context->retained == 0)) {
        gone = context;
        primaries[dev] = NULL;
    }
    pthread_mutex_unlock(&primary_lock);
    if (gone != NULL) {
        sim_context_delete(gone);
    }
    return context != NULL || all ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
    return primary_release(dev, false);
}

CUresult sim_cuDevicePrimaryCtxRelease(CUdevice dev)
{
    return primary_release(dev, false);
}

CUresult sim_cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
    return primary_release(dev, true);
}

CUresult sim_cuDevicePrimaryCtxReset(CUdevice dev)
{
    return primary_release(dev, true);
}

CUresult sim_cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active)
{
    if (flags == NULL || active == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!sim_device_valid(dev)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    pthread_mutex_lock(&primary_lock);
    *flags = primary_flags[dev];
    *active = primaries[dev] != NULL;
    pthread_mutex_unlock(&primary_lock);
    return CUDA_SUCCESS;
}

CUresult sim_cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
    if (!sim_device_valid(dev)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    if ((flags & ~(unsigned)CU_CTX_FLAGS_MASK) != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    pthread_mutex_lock(&primary_lock);
    primary_flags[dev] = flags;
    pthread_mutex_unlock(&primary_lock);
    return CUDA_SUCCESS;
}

CUresult sim_cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags)
{
    return sim_cuDevicePrimaryCtxSetFlags_v2(dev, flags);
}

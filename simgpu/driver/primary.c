/* SPDX-License-Identifier: Apache-2.0 */
/* Primary contexts: one per device, counted references, the runtime's own. */
#include <pthread.h>

#include "simgpu/driver/driver.h"

static pthread_mutex_t primary_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sim_context *primaries[SIM_MAX_DEVICES];
static unsigned primary_flags[SIM_MAX_DEVICES];
static unsigned primary_retained[SIM_MAX_DEVICES]; /* a reset leaves it, as an H200's driver does */

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
        primary_retained[dev]++;
    }
    pthread_mutex_unlock(&primary_lock);
    *pctx = (CUcontext)context;
    return context != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Caller holds the lock, and deletes what it gets. */
static struct sim_context *take_primary(CUdevice dev)
{
    struct sim_context *context = primaries[dev];
    primaries[dev] = NULL;
    return context;
}

/* Drop one reference; the last one destroys the context. */
static CUresult primary_release(CUdevice dev)
{
    if (!sim_device_valid(dev)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    pthread_mutex_lock(&primary_lock);
    bool retained = primary_retained[dev] > 0;
    struct sim_context *gone = retained && --primary_retained[dev] == 0 ? take_primary(dev) : NULL;
    pthread_mutex_unlock(&primary_lock);
    if (gone != NULL) {
        sim_context_delete(gone);
    }
    return retained ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult primary_reset(CUdevice dev)
{
    if (!sim_device_valid(dev)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    pthread_mutex_lock(&primary_lock);
    struct sim_context *gone = take_primary(dev);
    pthread_mutex_unlock(&primary_lock);
    if (gone != NULL) {
        sim_context_delete(gone);
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
    return primary_release(dev);
}

CUresult sim_cuDevicePrimaryCtxRelease(CUdevice dev)
{
    return primary_release(dev);
}

CUresult sim_cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
    return primary_reset(dev);
}

CUresult sim_cuDevicePrimaryCtxReset(CUdevice dev)
{
    return primary_reset(dev);
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

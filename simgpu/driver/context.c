/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts of the software device: the thread's stack of them, and the primary ones. */
#include "simgpu/driver/driver.h"

#include <pthread.h>
#include <string.h>

_Thread_local struct sim_thread sim_thread;

static pthread_mutex_t primary_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sim_context *primaries[SIM_MAX_DEVICES];
static unsigned primary_flags[SIM_MAX_DEVICES];
static unsigned long long last_context_id;

static bool is_context(const void *context)
{
    return sim_object_is(context, SIM_CONTEXT);
}

/* The current context, NULL if there is none or it has been destroyed. */
struct sim_context *sim_current(void)
{
    struct sim_context *context = sim_thread.depth > 0 ? sim_thread.contexts[sim_thread.depth - 1]
                                                       : NULL;
    return context != NULL && is_context(context) ? context : NULL;
}

CUresult sim_capture_safe(void)
{
    return sim_thread.unsafe_captures > 0 &&
                   sim_thread.capture_mode != CU_STREAM_CAPTURE_MODE_RELAXED
               ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
               : CUDA_SUCCESS;
}

static struct sim_context *context_new(CUdevice device, unsigned flags, bool primary)
{
    struct sim_context *context = sim_object_new(SIM_CONTEXT, sizeof *context);
    if (context != NULL) {
        context->device = device;
        context->flags = flags;
        context->primary = primary;
        context->id = __atomic_add_fetch(&last_context_id, 1, __ATOMIC_RELAXED);
    }
    return context;
}

static CUresult push(struct sim_context *context)
{
    if (sim_thread.depth == SIM_CONTEXT_DEPTH) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_thread.contexts[sim_thread.depth++] = context;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
    if (pctx == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!sim_device_valid(dev)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    struct sim_context *context = context_new(dev, flags, false);
    if (context == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *pctx = (CUcontext)context;
    return push(context);
}

CUresult sim_cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams,
                            unsigned int flags, CUdevice dev)
{
    return paramsArray != NULL || numParams != 0 ? CUDA_ERROR_NOT_SUPPORTED
                                                 : sim_cuCtxCreate_v2(pctx, flags, dev);
}

CUresult sim_cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags,
                            CUdevice dev)
{
    (void)ctxCreateParams;
    return sim_cuCtxCreate_v2(pctx, flags, dev);
}

CUresult sim_cuCtxDestroy_v2(CUcontext ctx)
{
    struct sim_context *context = (struct sim_context *)ctx;
    if (!is_context(context) || context->primary) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (sim_current() == context) {
        sim_thread.depth--;
    }
    sim_context_release(context);
    return sim_object_delete(context, SIM_CONTEXT) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_cuCtxDestroy(CUcontext ctx)
{
    return sim_cuCtxDestroy_v2(ctx);
}

CUresult sim_cuCtxPushCurrent_v2(CUcontext ctx)
{
    return is_context(ctx) ? push((struct sim_context *)ctx) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_cuCtxPushCurrent(CUcontext ctx)
{
    return sim_cuCtxPushCurrent_v2(ctx);
}

CUresult sim_cuCtxPopCurrent_v2(CUcontext *pctx)
{
    if (sim_thread.depth == 0) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    sim_thread.depth--;
    if (pctx != NULL) {
        *pctx = (CUcontext)sim_thread.contexts[sim_thread.depth];
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxPopCurrent(CUcontext *pctx)
{
    return sim_cuCtxPopCurrent_v2(pctx);
}

CUresult sim_cuCtxSetCurrent(CUcontext ctx)
{
    if (ctx == NULL) {
        sim_thread.depth -= sim_thread.depth > 0;
        return CUDA_SUCCESS;
    }
    if (!is_context(ctx)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (sim_thread.depth == 0) {
        sim_thread.depth = 1;
    }
    sim_thread.contexts[sim_thread.depth - 1] = (struct sim_context *)ctx;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetCurrent(CUcontext *pctx)
{
    if (pctx == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pctx = (CUcontext)sim_current();
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetDevice(CUdevice *device)
{
    if (device == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (sim_current() == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *device = sim_current()->device;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx)
{
    if (ctx == NULL) {
        return sim_cuCtxGetDevice(device);
    }
    if (device == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!is_context(ctx)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *device = ((struct sim_context *)ctx)->device;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetFlags(unsigned int *flags)
{
    if (flags == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (sim_current() == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *flags = sim_current()->flags;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetId(CUcontext ctx, unsigned long long *ctxId)
{
    struct sim_context *context = ctx != NULL ? (struct sim_context *)ctx : sim_current();
    if (ctxId == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (context == NULL || !is_context(context)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *ctxId = context->id;
    return CUDA_SUCCESS;
}

static size_t limits[CU_LIMIT_MAX] = {
    [CU_LIMIT_STACK_SIZE] = 1024,
    [CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20,
    [CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20,
};

CUresult sim_cuCtxGetLimit(size_t *pvalue, CUlimit limit)
{
    if (pvalue == NULL || limit >= CU_LIMIT_MAX) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pvalue = __atomic_load_n(&limits[limit], __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxSetLimit(CUlimit limit, size_t value)
{
    if (limit >= CU_LIMIT_MAX) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    __atomic_store_n(&limits[limit], value, __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetApiVersion(CUcontext ctx, unsigned int *version)
{
    if (version == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (ctx != NULL && !is_context(ctx)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *version = 3020;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetCacheConfig(CUfunc_cache *pconfig)
{
    if (pconfig == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pconfig = CU_FUNC_CACHE_PREFER_NONE;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxSetCacheConfig(CUfunc_cache config)
{
    return (unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult sim_cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    if (leastPriority != NULL) {
        *leastPriority = 0;
    }
    if (greatestPriority != NULL) {
        *greatestPriority = -5;
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxSynchronize(void)
{
    return sim_current() == NULL ? CUDA_ERROR_INVALID_CONTEXT : sim_capture_safe();
}

CUresult sim_cuCtxSynchronize_v2(CUcontext ctx)
{
    return ctx == NULL        ? sim_cuCtxSynchronize()
           : !is_context(ctx) ? CUDA_ERROR_INVALID_CONTEXT
                              : sim_capture_safe();
}

CUresult sim_cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
{
    return Flags != 0                 ? CUDA_ERROR_INVALID_VALUE
           : !is_context(peerContext) ? CUDA_ERROR_INVALID_CONTEXT
                                      : CUDA_SUCCESS;
}

CUresult sim_cuCtxDisablePeerAccess(CUcontext peerContext)
{
    return is_context(peerContext) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

/* ---- primary contexts ---- */

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
        primaries[dev] = context_new(dev, primary_flags[dev], true);
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
        sim_context_release(gone);
        sim_object_delete(gone, SIM_CONTEXT);
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
    pthread_mutex_lock(&primary_lock);
    primary_flags[dev] = flags;
    pthread_mutex_unlock(&primary_lock);
    return CUDA_SUCCESS;
}

CUresult sim_cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags)
{
    return sim_cuDevicePrimaryCtxSetFlags_v2(dev, flags);
}

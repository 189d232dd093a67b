/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: making and deleting them, and the thread's stack of them. */
#include <stdlib.h>

#include "simgpu/driver/late.h"
#include "simgpu/driver/registry.h"

static unsigned long long last_context_id;

static bool is_context(const void *context)
{
    return sim_object_is(context, SIM_CONTEXT);
}

struct sim_context *sim_context_new(CUdevice device, unsigned flags, bool primary)
{
    struct sim_context *context = sim_object_new(SIM_CONTEXT, sizeof *context, NULL);
    if (context != NULL) {
        context->device = device;
        context->flags = flags;
        context->primary = primary;
        context->id = __atomic_add_fetch(&last_context_id, 1, __ATOMIC_RELAXED);
        context->legacy = (struct sim_stream){.context = context, .id = 1};
        sim_limits_default(context);
    }
    return context;
}

struct owned {
    const struct sim_context *context;
    void *object;
    enum sim_kind kind;
};

static bool find_owned(struct sim_range *range, void *data)
{
    struct owned *owned = data;
    if (range->context != owned->context) {
        return true;
    }
    owned->object = (void *)range->start;
    owned->kind = range->kind;
    return false;
}

/* Delete the objects that it owns. Work lock held for writing. */
static void release_objects(struct sim_context *context)
{
    for (;;) {
        struct owned owned = {.context = context};
        pthread_mutex_lock(&sim_registry.lock);
        sim_tree_walk(&sim_registry.objects, find_owned, &owned);
        pthread_mutex_unlock(&sim_registry.lock);
        switch (owned.kind) {
        case SIM_NOTHING: return;
        case SIM_STREAM:
            sim_capture_drop(owned.object);
            sim_late_stream_gone(owned.object);
            sim_frontier_free(&((struct sim_stream *)owned.object)->frontier);
            sim_object_delete(owned.object, owned.kind);
            break;
        case SIM_EVENT: (void)sim_cuEventDestroy_v2(owned.object); break;
        case SIM_IMAGE: sim_image_free(owned.object); break;
        case SIM_ARRAY:
            free(((struct sim_array *)owned.object)->data);
            sim_object_delete(owned.object, owned.kind);
            break;
        default: sim_object_delete(owned.object, owned.kind); break;
        }
    }
}

void sim_context_delete(struct sim_context *context)
{
    sim_order_drain();
    sim_late_stream_gone(&context->legacy);
    sim_print_flush();
    sim_work_stop();
    release_objects(context);
    sim_heap_release(context);
    sim_fault_forget(context);
    free((void *)(uintptr_t)context->map.regions);
    sim_object_delete(context, SIM_CONTEXT);
    sim_work_resume();
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
    if (pctx == NULL || (flags & ~(unsigned)CU_CTX_FLAGS_MASK) != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!sim_device_valid(dev)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    struct sim_context *context = sim_context_new(dev, flags, false);
    if (context == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    CUresult result = push(context);
    if (result != CUDA_SUCCESS) {
        sim_context_delete(context);
        return result;
    }
    *pctx = (CUcontext)context;
    return CUDA_SUCCESS;
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
    return ctxCreateParams != NULL && (ctxCreateParams->numExecAffinityParams != 0 ||
                                       ctxCreateParams->cigParams != NULL)
               ? CUDA_ERROR_NOT_SUPPORTED
               : sim_cuCtxCreate_v2(pctx, flags, dev);
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
    sim_context_delete(context);
    return CUDA_SUCCESS;
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
    /* A context that was destroyed stays current, a primary one after its last release as well: read on an
     * H200. cuCtxGetApiVersion reports it. */
    *pctx = sim_thread.depth > 0 ? (CUcontext)sim_thread.contexts[sim_thread.depth - 1] : NULL;
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

CUresult sim_cuCtxSetFlags(unsigned int flags)
{
    struct sim_context *context = sim_current();
    if ((flags & ~(unsigned)CU_CTX_FLAGS_MASK) != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (context == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    context->flags = flags;
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

static CUresult synchronize(struct sim_context *context)
{
    if (sim_order_on()) {
        sim_late_wait_context(context);
    }
    return sim_synchronize(context);
}

CUresult sim_cuCtxSynchronize(void)
{
    struct sim_context *context = sim_current();
    CUresult safe = sim_capture_safe();
    return context == NULL        ? CUDA_ERROR_INVALID_CONTEXT
           : safe != CUDA_SUCCESS ? safe
                                  : synchronize(context);
}

CUresult sim_cuCtxSynchronize_v2(CUcontext ctx)
{
    CUresult safe = sim_capture_safe();
    return ctx == NULL            ? sim_cuCtxSynchronize()
           : !is_context(ctx)     ? CUDA_ERROR_INVALID_CONTEXT
           : safe != CUDA_SUCCESS ? safe
                                  : synchronize((struct sim_context *)ctx);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: what is queued on one is done, or recorded, before the call returns; late under SIMGPU_ORDER. */
#include <stdlib.h>

#include "simgpu/driver/late.h"

static unsigned long long last_stream_id = SIM_PER_THREAD_STREAM_ID;

CUresult sim_cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority)
{
    if (phStream == NULL || flags > CU_STREAM_NON_BLOCKING) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct sim_context *context = sim_current();
    if (context == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    struct sim_stream *stream = sim_object_new(SIM_STREAM, sizeof *stream, context);
    if (stream == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    stream->context = context;
    stream->flags = flags;
    stream->priority = priority > SIM_PRIORITY_LEAST      ? SIM_PRIORITY_LEAST
                       : priority < SIM_PRIORITY_GREATEST ? SIM_PRIORITY_GREATEST
                                                          : priority;
    stream->id = __atomic_add_fetch(&last_stream_id, 1, __ATOMIC_RELAXED);
    *phStream = (CUstream)stream;
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamCreate(CUstream *phStream, unsigned int Flags)
{
    return sim_cuStreamCreateWithPriority(phStream, Flags, 0);
}

CUresult sim_cuStreamDestroy_v2(CUstream hStream)
{
    if (!sim_object_is(hStream, SIM_STREAM)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    sim_capture_drop((struct sim_stream *)hStream);
    sim_late_stream_gone((struct sim_stream *)hStream);
    sim_frontier_free(&((struct sim_stream *)hStream)->frontier);
    return sim_object_delete(hStream, SIM_STREAM) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_cuStreamDestroy(CUstream hStream)
{
    return sim_cuStreamDestroy_v2(hStream);
}

static CUresult synchronizable(CUstream hStream, struct sim_stream **stream)
{
    CUresult result = sim_stream_of(hStream, stream);
    return result != CUDA_SUCCESS       ? result
           : (*stream)->capture != NULL ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                                        : sim_capture_safe();
}

CUresult sim_cuStreamSynchronize(CUstream hStream)
{
    struct sim_stream *stream;
    CUresult result = synchronizable(hStream, &stream);
    if (result == CUDA_SUCCESS && sim_order_on()) {
        sim_late_wait_stream(stream);
    }
    return result != CUDA_SUCCESS ? result : sim_synchronize(stream->context);
}

/* Nothing is ever left to do (but under SIMGPU_ORDER), but an error may be waiting to be returned. */
CUresult sim_cuStreamQuery(CUstream hStream)
{
    struct sim_stream *stream;
    CUresult result = synchronizable(hStream, &stream);
    if (result == CUDA_SUCCESS && sim_order_on() && !sim_late_query_stream(stream)) {
        return CUDA_ERROR_NOT_READY;
    }
    return result != CUDA_SUCCESS ? result : sim_synchronize(stream->context);
}

CUresult sim_cuStreamGetFlags(CUstream hStream, unsigned int *flags)
{
    struct sim_stream *stream;
    CUresult result = flags == NULL ? CUDA_ERROR_INVALID_VALUE : sim_stream_of(hStream, &stream);
    if (result == CUDA_SUCCESS) {
        *flags = stream->flags;
    }
    return result;
}

CUresult sim_cuStreamGetPriority(CUstream hStream, int *priority)
{
    struct sim_stream *stream;
    CUresult result = priority == NULL ? CUDA_ERROR_INVALID_VALUE : sim_stream_of(hStream, &stream);
    if (result == CUDA_SUCCESS) {
        *priority = stream->priority;
    }
    return result;
}

CUresult sim_cuStreamGetCtx(CUstream hStream, CUcontext *pctx)
{
    struct sim_stream *stream;
    CUresult result = pctx == NULL ? CUDA_ERROR_INVALID_VALUE : sim_stream_of(hStream, &stream);
    if (result == CUDA_SUCCESS) {
        *pctx = (CUcontext)stream->context;
    }
    return result;
}

CUresult sim_cuStreamGetCtx_v2(CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx)
{
    if (pGreenCtx != NULL) {
        *pGreenCtx = NULL;
    }
    return sim_cuStreamGetCtx(hStream, pCtx);
}

CUresult sim_cuStreamGetId(CUstream hStream, unsigned long long *streamId)
{
    struct sim_stream *stream;
    CUresult result = streamId == NULL ? CUDA_ERROR_INVALID_VALUE : sim_stream_of(hStream, &stream);
    if (result == CUDA_SUCCESS) {
        *streamId = stream->id;
    }
    return result;
}

CUresult sim_cuStreamGetDevice(CUstream hStream, CUdevice *device)
{
    CUcontext context;
    CUresult result = sim_cuStreamGetCtx(hStream, &context);
    return result != CUDA_SUCCESS ? result : sim_cuCtxGetDevice_v2(device, context);
}

struct callback {
    struct sim_context *context;
    CUstream handle;
    CUstreamCallback call;
    void *data;
};

static void call_back(void *data)
{
    const struct callback *callback = data;
    sim_print_flush();
    callback->call(callback->handle, (CUresult)atomic_load(&callback->context->fault),
                   callback->data);
}

static CUresult call_back_late(struct sim_stream *stream, const struct callback *given)
{
    struct callback *callback = malloc(sizeof *callback);
    if (callback == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *callback = *given;
    return sim_late_call(stream, "stream callback", call_back, free, callback);
}

/* Everything queued is done already, so the callback is due now. */
CUresult sim_cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData,
                                 unsigned int flags)
{
    struct sim_stream *stream;
    if (callback == NULL || flags != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = sim_stream_of(hStream, &stream);
    if (result == CUDA_SUCCESS && stream->capture != NULL) {
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (result == CUDA_SUCCESS) {
        struct callback given = {stream->context, hStream, callback, userData};
        if (sim_order_on()) {
            return call_back_late(stream, &given);
        }
        call_back(&given);
    }
    return result;
}

/* ---- attributes: kept nowhere, since nothing depends on them ---- */

CUresult sim_cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr,
                                  const CUstreamAttrValue *param)
{
    struct sim_stream *stream;
    CUresult result = param == NULL ? CUDA_ERROR_INVALID_VALUE : sim_stream_of(hStream, &stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    switch (attr) {
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: stream->priority = param->priority; return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

/* ---- values written in stream order ---- */

static CUresult write_value(CUstream stream, CUdeviceptr address, uint64_t value, unsigned bytes,
                            unsigned flags)
{
    if (address % bytes != 0 || flags > CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER ||
        !sim_heap_covers((uintptr_t)address, bytes)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct sim_node node = {.kind = SIM_NODE_VALUE,
                            .value = {.address = address, .value = value, .bytes = bytes}};
    return sim_submit(stream, &node, false);
}

CUresult sim_cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value,
                                     unsigned int flags)
{
    return write_value(stream, addr, value, sizeof value, flags);
}

CUresult sim_cuStreamWriteValue32(CUstream stream, CUdeviceptr addr, cuuint32_t value,
                                  unsigned int flags)
{
    return write_value(stream, addr, value, sizeof value, flags);
}

CUresult sim_cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value,
                                     unsigned int flags)
{
    return write_value(stream, addr, value, sizeof value, flags);
}

CUresult sim_cuStreamWriteValue64(CUstream stream, CUdeviceptr addr, cuuint64_t value,
                                  unsigned int flags)
{
    return write_value(stream, addr, value, sizeof value, flags);
}

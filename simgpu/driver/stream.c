/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events and stream capture of the software device. */
#include "simgpu/driver/driver.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct sim_event {
    unsigned flags;
    bool recorded;
    uint64_t recorded_ns;
};

static unsigned long long last_stream_id = 2;
static struct sim_stream legacy_streams[SIM_MAX_DEVICES];

/* 0: the legacy or the thread's default stream, by the entry point; 1 and 2: one of them by name. */
CUresult sim_stream_of(CUstream handle, struct sim_stream **stream)
{
    struct sim_context *current = sim_current();
    bool own = handle == CU_STREAM_PER_THREAD || (handle == NULL && sim_thread.per_thread);
    if (handle != NULL && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD) {
        *stream = (struct sim_stream *)handle;
        return sim_object_is(handle, SIM_STREAM) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    }
    if (current == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *stream = own ? &sim_thread.default_stream : &legacy_streams[current->device];
    if (own) {
        (*stream)->context = current;
        (*stream)->id = 2;
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority)
{
    if (phStream == NULL || flags > CU_STREAM_NON_BLOCKING) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (sim_current() == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    struct sim_stream *stream = sim_object_new(SIM_STREAM, sizeof *stream);
    if (stream == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    stream->context = sim_current();
    stream->flags = flags;
    stream->priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
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
    return sim_object_delete(hStream, SIM_STREAM) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_cuStreamDestroy(CUstream hStream)
{
    return sim_cuStreamDestroy_v2(hStream);
}

CUresult sim_cuStreamSynchronize(CUstream hStream)
{
    struct sim_stream *stream;
    CUresult result = sim_stream_of(hStream, &stream);
    return result != CUDA_SUCCESS    ? result
           : stream->capture != NULL ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                                     : sim_capture_safe();
}

CUresult sim_cuStreamQuery(CUstream hStream)
{
    return sim_cuStreamSynchronize(hStream);
}

CUresult sim_cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
    struct sim_stream *stream;
    CUresult result = sim_stream_of(hStream, &stream);
    if (result == CUDA_SUCCESS && !sim_object_is(hEvent, SIM_EVENT)) {
        result = CUDA_ERROR_INVALID_HANDLE;
    }
    return result == CUDA_SUCCESS && Flags > CU_EVENT_WAIT_EXTERNAL ? CUDA_ERROR_INVALID_VALUE
                                                                    : result;
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
        *pctx = (CUcontext)(stream->context != NULL ? stream->context : sim_current());
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
        *streamId = stream->id != 0 ? stream->id : 1;
    }
    return result;
}

CUresult sim_cuStreamGetDevice(CUstream hStream, CUdevice *device)
{
    CUcontext context;
    CUresult result = sim_cuStreamGetCtx(hStream, &context);
    return result != CUDA_SUCCESS ? result : sim_cuCtxGetDevice_v2(device, context);
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
        callback(hStream, CUDA_SUCCESS, userData);
    }
    return result;
}

/* ---- events ---- */

CUresult sim_cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
    if (phEvent == NULL || Flags > 7) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (sim_current() == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    struct sim_event *event = sim_object_new(SIM_EVENT, sizeof *event);
    if (event == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    event->flags = Flags;
    *phEvent = (CUevent)event;
    return CUDA_SUCCESS;
}

CUresult sim_cuEventDestroy_v2(CUevent hEvent)
{
    return sim_object_delete(hEvent, SIM_EVENT) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_cuEventDestroy(CUevent hEvent)
{
    return sim_cuEventDestroy_v2(hEvent);
}

CUresult sim_cuEventRecord(CUevent hEvent, CUstream hStream)
{
    struct sim_stream *stream;
    CUresult result = sim_stream_of(hStream, &stream);
    if (result != CUDA_SUCCESS || !sim_object_is(hEvent, SIM_EVENT)) {
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_HANDLE;
    }
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct sim_event *event = (struct sim_event *)hEvent;
    event->recorded_ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
    event->recorded = true;
    return CUDA_SUCCESS;
}

CUresult sim_cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags)
{
    return flags > CU_EVENT_RECORD_EXTERNAL ? CUDA_ERROR_INVALID_VALUE
                                            : sim_cuEventRecord(hEvent, hStream);
}

CUresult sim_cuEventQuery(CUevent hEvent)
{
    return sim_object_is(hEvent, SIM_EVENT) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_cuEventSynchronize(CUevent hEvent)
{
    return sim_cuEventQuery(hEvent);
}

CUresult sim_cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    const struct sim_event *start = (struct sim_event *)hStart;
    const struct sim_event *end = (struct sim_event *)hEnd;
    if (pMilliseconds == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!sim_object_is(start, SIM_EVENT) || !sim_object_is(end, SIM_EVENT) || !start->recorded ||
        !end->recorded || ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    *pMilliseconds = (float)((double)(int64_t)(end->recorded_ns - start->recorded_ns) * 1e-6);
    return CUDA_SUCCESS;
}

CUresult sim_cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    return sim_cuEventElapsedTime_v2(pMilliseconds, hStart, hEnd);
}

/* ---- capture ---- */

static CUresult begin_capture(CUstream hStream, struct sim_graph *into, CUstreamCaptureMode mode)
{
    struct sim_stream *stream;
    CUresult result = sim_stream_of(hStream, &stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    bool legacy = hStream == CU_STREAM_LEGACY || (hStream == NULL && !sim_thread.per_thread);
    if (legacy || stream->capture != NULL) {
        return legacy ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_ERROR_ILLEGAL_STATE;
    }
    CUgraph graph = (CUgraph)into;
    if (into == NULL) {
        result = sim_cuGraphCreate(&graph, 0);
    }
    if (result == CUDA_SUCCESS) {
        stream->capture = (struct sim_graph *)graph;
        stream->mode = mode;
        sim_thread.unsafe_captures += mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    }
    return result;
}

CUresult sim_cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode)
{
    return begin_capture(hStream, NULL, mode);
}

/* Nodes run in the order in which they were added, so dependencies need not be kept. */
CUresult sim_cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph,
                                         const CUgraphNode *dependencies,
                                         const CUgraphEdgeData *dependencyData,
                                         size_t numDependencies, CUstreamCaptureMode mode)
{
    (void)dependencyData;
    return !sim_object_is(hGraph, SIM_GRAPH) || (dependencies == NULL && numDependencies != 0)
               ? CUDA_ERROR_INVALID_VALUE
               : begin_capture(hStream, (struct sim_graph *)hGraph, mode);
}

CUresult sim_cuStreamBeginCapture(CUstream hStream)
{
    return sim_cuStreamBeginCapture_v2(hStream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult sim_cuStreamEndCapture(CUstream hStream, CUgraph *phGraph)
{
    struct sim_stream *stream;
    CUresult result = sim_stream_of(hStream, &stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (stream->capture == NULL || phGraph == NULL) {
        return phGraph == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_ILLEGAL_STATE;
    }
    *phGraph = (CUgraph)stream->capture;
    stream->capture = NULL;
    sim_thread.unsafe_captures -= stream->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                       cuuint64_t *id_out, CUgraph *graph_out,
                                       const CUgraphNode **dependencies_out,
                                       const CUgraphEdgeData **edgeData_out,
                                       size_t *numDependencies_out)
{
    struct sim_stream *stream;
    CUresult result = captureStatus_out == NULL ? CUDA_ERROR_INVALID_VALUE
                                                : sim_stream_of(hStream, &stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    *captureStatus_out = stream->capture != NULL ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                                 : CU_STREAM_CAPTURE_STATUS_NONE;
    if (stream->capture == NULL) {
        return CUDA_SUCCESS; /* the other results are only written during a capture */
    }
    if (id_out != NULL) {
        *id_out = (cuuint64_t)(uintptr_t)stream->capture;
    }
    if (graph_out != NULL) {
        *graph_out = (CUgraph)stream->capture;
    }
    if (dependencies_out != NULL) {
        *dependencies_out = NULL;
    }
    if (edgeData_out != NULL) {
        *edgeData_out = NULL;
    }
    if (numDependencies_out != NULL) {
        *numDependencies_out = 0;
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                       cuuint64_t *id_out, CUgraph *graph_out,
                                       const CUgraphNode **dependencies_out,
                                       size_t *numDependencies_out)
{
    return sim_cuStreamGetCaptureInfo_v3(hStream, captureStatus_out, id_out, graph_out,
                                         dependencies_out, NULL, numDependencies_out);
}

CUresult sim_cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                    cuuint64_t *id_out)
{
    return sim_cuStreamGetCaptureInfo_v3(hStream, captureStatus_out, id_out, NULL, NULL, NULL,
                                         NULL);
}

CUresult sim_cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus)
{
    return sim_cuStreamGetCaptureInfo(hStream, captureStatus, NULL);
}

CUresult sim_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    if (mode == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUstreamCaptureMode previous = sim_thread.capture_mode;
    sim_thread.capture_mode = *mode;
    *mode = previous;
    return CUDA_SUCCESS;
}

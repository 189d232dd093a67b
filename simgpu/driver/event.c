/* SPDX-License-Identifier: Apache-2.0 */
/* Events: their times are the host's clock when the work before them was done, not a GPU's. */
#include <time.h>

#include "simgpu/driver/late.h"

struct sim_event {
    struct sim_context *context;
    unsigned flags;
    bool recorded;
    uint64_t recorded_ns;
    struct sim_graph *capture;    /* last recorded in a stream that was being captured */
    struct sim_frontier frontier; /* under SIMGPU_ORDER: that stream's */
    struct sim_late_mark *mark;   /* under SIMGPU_ORDER: its last record, NULL = none */
};

static struct sim_event *event_of(CUevent handle)
{
    return sim_object_is(handle, SIM_EVENT) ? (struct sim_event *)handle : NULL;
}

CUresult sim_cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
    const unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING;
    struct sim_context *context = sim_current();
    if (phEvent == NULL || (Flags & ~(known | CU_EVENT_INTERPROCESS)) != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if ((Flags & CU_EVENT_INTERPROCESS) != 0) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (context == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    struct sim_event *event = sim_object_new(SIM_EVENT, sizeof *event, context);
    if (event == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    event->context = context;
    event->flags = Flags;
    *phEvent = (CUevent)event;
    return CUDA_SUCCESS;
}

CUresult sim_cuEventDestroy_v2(CUevent hEvent)
{
    struct sim_event *event = event_of(hEvent);
    if (event != NULL) {
        sim_late_mark_free(event->mark);
        event->mark = NULL;
        sim_frontier_free(&event->frontier);
    }
    return sim_object_delete(hEvent, SIM_EVENT) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_cuEventDestroy(CUevent hEvent)
{
    return sim_cuEventDestroy_v2(hEvent);
}

void sim_event_record(struct sim_event *event, struct sim_graph *capture)
{
    event->capture = capture;
    if (capture != NULL) {
        return;
    }
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    event->recorded_ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
    event->recorded = true;
}

CUresult sim_event_record_late(struct sim_event *event, struct sim_stream *stream)
{
    event->capture = NULL;
    event->recorded = true;
    return sim_late_mark_record(&event->mark, stream, stream->context);
}

CUresult sim_cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags)
{
    struct sim_stream *stream;
    struct sim_event *event = event_of(hEvent);
    if (flags > CU_EVENT_RECORD_EXTERNAL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = sim_stream_of(hStream, &stream);
    if (result == CUDA_SUCCESS && event == NULL) {
        result = CUDA_ERROR_INVALID_HANDLE;
    }
    if (result == CUDA_SUCCESS && stream->capture == NULL && sim_order_on()) {
        return sim_event_record_late(event, stream);
    }
    if (result == CUDA_SUCCESS) {
        sim_event_record(event, stream->capture);
        event->frontier.count = 0;
        result = sim_frontier_join(&event->frontier, &stream->frontier) ? CUDA_SUCCESS
                                                                        : CUDA_ERROR_OUT_OF_MEMORY;
    }
    return result;
}

CUresult sim_cuEventRecord(CUevent hEvent, CUstream hStream)
{
    return sim_cuEventRecordWithFlags(hEvent, hStream, CU_EVENT_RECORD_DEFAULT);
}

/* A stream that waits for an event of a capture takes part in it from then on. */
CUresult sim_cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
    struct sim_stream *stream;
    const struct sim_event *event = event_of(hEvent);
    if (Flags > CU_EVENT_WAIT_EXTERNAL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = sim_stream_of(hStream, &stream);
    if (result != CUDA_SUCCESS || event == NULL) {
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_HANDLE;
    }
    if (event->capture == NULL) {
        return stream->capture != NULL && event->recorded ? CUDA_ERROR_STREAM_CAPTURE_ISOLATION
               : stream->capture == NULL && sim_order_on()
                   ? sim_late_mark_wait(&event->mark, stream)
                   : CUDA_SUCCESS;
    }
    bool joins = stream->capture == NULL;
    result = sim_capture_join(stream, event->capture);
    if (result == CUDA_SUCCESS) {
        stream->frontier.count = joins ? 0 : stream->frontier.count;
        result = sim_frontier_join(&stream->frontier, &event->frontier) ? CUDA_SUCCESS
                                                                        : CUDA_ERROR_OUT_OF_MEMORY;
    }
    return result;
}

static CUresult wait_for(CUevent hEvent, bool asks)
{
    const struct sim_event *event = event_of(hEvent);
    if (event == NULL || event->capture != NULL) {
        return event == NULL ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_CAPTURED_EVENT;
    }
    if (asks && !sim_late_mark_query(&event->mark)) {
        return CUDA_ERROR_NOT_READY;
    }
    sim_late_mark_host_waits(&event->mark);
    return sim_synchronize(event->context);
}

CUresult sim_cuEventQuery(CUevent hEvent)
{
    return wait_for(hEvent, true);
}

CUresult sim_cuEventSynchronize(CUevent hEvent)
{
    return wait_for(hEvent, false);
}

/* When it was reached; false: it was not, yet. */
static bool reached(const struct sim_event *event, uint64_t *ns)
{
    *ns = event->recorded_ns;
    if (event->mark != NULL && !sim_late_mark_query(&event->mark)) {
        return false;
    }
    *ns = event->mark != NULL ? sim_late_mark_ns(event->mark) : *ns;
    return true;
}

CUresult sim_cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    const struct sim_event *start = event_of(hStart), *end = event_of(hEnd);
    if (pMilliseconds == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (start == NULL || end == NULL || !start->recorded || !end->recorded ||
        ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) != 0) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    uint64_t start_ns, end_ns;
    if (!reached(start, &start_ns) || !reached(end, &end_ns)) {
        return CUDA_ERROR_NOT_READY;
    }
    *pMilliseconds = (float)((double)(int64_t)(end_ns - start_ns) * 1e-6);
    return CUDA_SUCCESS;
}

CUresult sim_cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    return sim_cuEventElapsedTime_v2(pMilliseconds, hStart, hEnd);
}

/* ---- all that a context does ---- */

static CUresult context_check(CUcontext ctx, CUevent hEvent)
{
    return !sim_object_is(ctx, SIM_CONTEXT) ? CUDA_ERROR_INVALID_CONTEXT
           : event_of(hEvent) == NULL       ? CUDA_ERROR_INVALID_HANDLE
                                            : CUDA_SUCCESS;
}

CUresult sim_cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent)
{
    CUresult result = context_check(hCtx, hEvent);
    if (result == CUDA_SUCCESS) {
        struct sim_event *event = event_of(hEvent);
        sim_event_record(event, NULL);
        result = sim_order_on()
                     ? sim_late_mark_record(&event->mark, NULL, (struct sim_context *)hCtx)
                     : CUDA_SUCCESS;
    }
    return result;
}

CUresult sim_cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent)
{
    CUresult result = context_check(hCtx, hEvent);
    if (result == CUDA_SUCCESS) { /* what the event marks has happened */
        sim_late_mark_host_waits(&event_of(hEvent)->mark);
    }
    return result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Stream capture: what is queued on the streams that take part goes into a graph instead of being done. */
#include "simgpu/driver/late.h"

static CUresult begin_capture(CUstream hStream, struct sim_graph *into, CUstreamCaptureMode mode,
                              const CUgraphNode *dependencies, size_t count)
{
    struct sim_stream *stream;
    CUresult result = sim_stream_of(hStream, &stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED) {
        return CUDA_ERROR_INVALID_VALUE;
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
        result = sim_capture_begin(stream, (struct sim_graph *)graph);
    }
    if (result == CUDA_SUCCESS) {
        stream->frontier.count = 0;
        (void)sim_frontier_of_nodes(&stream->frontier, (struct sim_graph *)graph, dependencies,
                                    count);
        stream->mode = mode;
        sim_thread.unsafe_captures += mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    }
    return result;
}

CUresult sim_cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode)
{
    return begin_capture(hStream, NULL, mode, NULL, 0);
}

/* Nodes run in the order in which they were added, so dependencies matter under SIMGPU_ORDER only. */
CUresult sim_cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph,
                                         const CUgraphNode *dependencies,
                                         const CUgraphEdgeData *dependencyData,
                                         size_t numDependencies, CUstreamCaptureMode mode)
{
    (void)dependencyData;
    return !sim_object_is(hGraph, SIM_GRAPH) || (dependencies == NULL && numDependencies != 0)
               ? CUDA_ERROR_INVALID_VALUE
               : begin_capture(hStream, (struct sim_graph *)hGraph, mode, dependencies,
                               numDependencies);
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
    if (!stream->is_origin) {
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    *phGraph = (CUgraph)stream->capture;
    sim_thread.unsafe_captures -= stream->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    sim_capture_end(stream->capture);
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

/* Nodes run in the order in which they were added, whatever they are said to depend on; not so under SIMGPU_ORDER. */
CUresult sim_cuStreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode *dependencies,
                                                  const CUgraphEdgeData *dependencyData,
                                                  size_t numDependencies, unsigned int flags)
{
    struct sim_stream *stream;
    (void)dependencyData;
    if ((dependencies == NULL && numDependencies != 0) ||
        flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = sim_stream_of(hStream, &stream);
    if (result != CUDA_SUCCESS || stream->capture == NULL) {
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_ILLEGAL_STATE;
    }
    if (sim_order_on()) {
        stream->frontier.count = flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES
                                     ? 0
                                     : stream->frontier.count;
        result = sim_frontier_of_nodes(&stream->frontier, stream->capture, dependencies,
                                       numDependencies)
                     ? CUDA_SUCCESS
                     : CUDA_ERROR_INVALID_VALUE;
    }
    return result;
}

CUresult sim_cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode *dependencies,
                                               size_t numDependencies, unsigned int flags)
{
    return sim_cuStreamUpdateCaptureDependencies_v2(hStream, dependencies, NULL, numDependencies,
                                                    flags);
}

CUresult sim_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    if (mode == NULL || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUstreamCaptureMode previous = sim_thread.capture_mode;
    sim_thread.capture_mode = *mode;
    *mode = previous;
    return CUDA_SUCCESS;
}

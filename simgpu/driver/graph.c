/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: lists of what was recorded, in the order in which it was, and launching them. */
#include <stdlib.h>

#include "simgpu/driver/late.h"

static void clear(struct sim_graph *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        if (graph->nodes[i].kind == SIM_NODE_CALL) {
            free(graph->nodes[i].call);
        }
    }
    free(graph->nodes);
    free(graph->edges);
    sim_operation_release(graph->last);
}

static CUresult destroy(void *handle, enum sim_kind kind)
{
    if (!sim_object_is(handle, kind)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    sim_capture_end(handle);
    clear(handle);
    sim_object_delete(handle, kind);
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphCreate(CUgraph *phGraph, unsigned int flags)
{
    if (phGraph == NULL || flags != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *phGraph = sim_object_new(SIM_GRAPH, sizeof(struct sim_graph), NULL);
    return *phGraph != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_cuGraphDestroy(CUgraph hGraph)
{
    return destroy(hGraph, SIM_GRAPH);
}

CUresult sim_cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes)
{
    if (numNodes == NULL || !sim_object_is(hGraph, SIM_GRAPH)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const struct sim_graph *graph = (const struct sim_graph *)hGraph;
    if (nodes != NULL && sim_order_on()) {
        if (!sim_late_list(graph, nodes, *numNodes)) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        nodes = NULL;
    }
    for (size_t i = 0; nodes != NULL && i < *numNodes; i++) {
        nodes[i] = i < graph->count ? (CUgraphNode)&graph->nodes[i] : NULL;
    }
    *numNodes = graph->count;
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph,
                                         unsigned long long flags)
{
    (void)flags;
    if (phGraphExec == NULL || !sim_object_is(hGraph, SIM_GRAPH)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const struct sim_graph *graph = (const struct sim_graph *)hGraph;
    struct sim_graph *exec = sim_object_new(SIM_GRAPH_EXEC, sizeof *exec, NULL);
    if (exec == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (size_t i = 0; i < graph->count; i++) {
        CUresult result = sim_graph_add(exec, &graph->nodes[i]);
        if (result != CUDA_SUCCESS) {
            (void)destroy(exec, SIM_GRAPH_EXEC);
            return result;
        }
    }
    if (!sim_edges_copy(exec, graph)) {
        (void)destroy(exec, SIM_GRAPH_EXEC);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    exec->source = graph;
    *phGraphExec = (CUgraphExec)exec;
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph,
                                          CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
    return instantiateParams == NULL
               ? CUDA_ERROR_INVALID_VALUE
               : sim_cuGraphInstantiateWithFlags(phGraphExec, hGraph, instantiateParams->flags);
}

CUresult sim_cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph,
                                   CUgraphNode *phErrorNode, char *logBuffer, size_t bufferSize)
{
    if (phErrorNode != NULL) {
        *phErrorNode = NULL;
    }
    if (logBuffer != NULL && bufferSize != 0) {
        logBuffer[0] = '\0';
    }
    return sim_cuGraphInstantiateWithFlags(phGraphExec, hGraph, 0);
}

CUresult sim_cuGraphInstantiate(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode,
                                char *logBuffer, size_t bufferSize)
{
    return sim_cuGraphInstantiate_v2(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize);
}

CUresult sim_cuGraphExecDestroy(CUgraphExec hGraphExec)
{
    return destroy(hGraphExec, SIM_GRAPH_EXEC);
}

CUresult sim_cuGraphUpload(CUgraphExec hGraph, CUstream hStream)
{
    struct sim_stream *stream;
    return sim_object_is(hGraph, SIM_GRAPH_EXEC) ? sim_stream_of(hStream, &stream)
                                                 : CUDA_ERROR_INVALID_VALUE;
}

static CUresult launch_late(struct sim_graph *exec, CUstream handle)
{
    struct sim_stream *stream;
    CUresult result = sim_stream_of(handle, &stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    return stream->capture != NULL        ? sim_late_capture_graph(stream, exec)
           : sim_faulted(stream->context) ? sim_fault(stream->context, false)
                                          : sim_late_graph(exec, stream);
}

/* Inside a capture the graph becomes a child of the captured one: its nodes are added. */
CUresult sim_cuGraphLaunch(CUgraphExec hGraph, CUstream hStream)
{
    CUresult result = sim_cuGraphUpload(hGraph, hStream);
    const struct sim_graph *exec = (const struct sim_graph *)hGraph;
    sim_counting_forget();
    if (result == CUDA_SUCCESS && sim_order_on()) {
        return launch_late((struct sim_graph *)hGraph, hStream);
    }
    sim_thread.in_graph = true;
    for (size_t i = 0; result == CUDA_SUCCESS && i < exec->count; i++) {
        if (!exec->nodes[i].is_off) {
            result = sim_submit(hStream, &exec->nodes[i], false);
        }
    }
    sim_thread.in_graph = false;
    return result;
}

CUresult sim_cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
    struct sim_node node = {.kind = SIM_NODE_HOST, .host = {.call = fn, .data = userData}};
    return fn == NULL ? CUDA_ERROR_INVALID_VALUE : sim_submit(hStream, &node, false);
}

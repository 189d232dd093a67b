/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of graphs: adding them, what they do, and giving an executable graph others. */
#include <stdlib.h>
#include <string.h>

#include "simgpu/driver/late.h"

CUresult sim_graph_add(struct sim_graph *graph, const struct sim_node *node)
{
    if (graph->count == graph->capacity) {
        size_t capacity = graph->capacity != 0 ? graph->capacity * 2 : 16;
        struct sim_node *grown = realloc(graph->nodes, capacity * sizeof *grown);
        if (grown == NULL) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        graph->nodes = grown;
        graph->capacity = capacity;
    }
    struct sim_node kept = *node;
    if (node->kind == SIM_NODE_CALL) {
        size_t bytes = sizeof *kept.call + node->call->param_bytes;
        kept.call = malloc(bytes);
        if (kept.call == NULL) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        memcpy(kept.call, node->call, bytes);
    }
    graph->nodes[graph->count++] = kept;
    return CUDA_SUCCESS;
}

static const struct sim_node *node_of(CUgraphNode handle)
{
    return (const struct sim_node *)handle;
}

CUresult sim_cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)
{
    static const CUgraphNodeType types[] = {
        [SIM_NODE_COPY] = CU_GRAPH_NODE_TYPE_MEMCPY,
        [SIM_NODE_SET] = CU_GRAPH_NODE_TYPE_MEMSET,
        [SIM_NODE_CALL] = CU_GRAPH_NODE_TYPE_KERNEL,
        [SIM_NODE_HOST] = CU_GRAPH_NODE_TYPE_HOST,
        [SIM_NODE_VALUE] = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
    };
    if (hNode == NULL || type == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *type = types[node_of(hNode)->kind];
    return CUDA_SUCCESS;
}

static bool is(CUgraphNode node, const void *out, int kind)
{
    return node != NULL && out != NULL && (int)node_of(node)->kind == kind;
}

CUresult sim_cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams)
{
    if (!is(hNode, nodeParams, SIM_NODE_COPY)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const struct sim_copy *copy = &node_of(hNode)->copy;
    *nodeParams = (CUDA_MEMCPY3D){
        .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
        .srcDevice = (CUdeviceptr)copy->src,
        .srcPitch = copy->src_pitch,
        .srcHeight = copy->src_pitch != 0 ? copy->src_slice / copy->src_pitch : 0,
        .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
        .dstDevice = (CUdeviceptr)copy->dst,
        .dstPitch = copy->dst_pitch,
        .dstHeight = copy->dst_pitch != 0 ? copy->dst_slice / copy->dst_pitch : 0,
        .WidthInBytes = copy->width,
        .Height = copy->height,
        .Depth = copy->depth,
    };
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS *nodeParams)
{
    if (!is(hNode, nodeParams, SIM_NODE_SET)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const struct sim_memset *set = &node_of(hNode)->set;
    *nodeParams = (CUDA_MEMSET_NODE_PARAMS){.dst = (CUdeviceptr)set->dst,
                                            .pitch = set->pitch,
                                            .value = set->value,
                                            .elementSize = set->element_bytes,
                                            .width = set->width,
                                            .height = set->height};
    return CUDA_SUCCESS;
}

/* Its parameters come as one buffer, which lives as long as the graph. */
CUresult sim_cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    if (!is(hNode, nodeParams, SIM_NODE_CALL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct sim_node *node = (struct sim_node *)hNode;
    struct sim_call *call = node->call;
    node->param_bytes = call->param_bytes;
    node->extra[0] = CU_LAUNCH_PARAM_BUFFER_POINTER;
    node->extra[1] = call->params;
    node->extra[2] = CU_LAUNCH_PARAM_BUFFER_SIZE;
    node->extra[3] = &node->param_bytes;
    node->extra[4] = CU_LAUNCH_PARAM_END;
    *nodeParams = (CUDA_KERNEL_NODE_PARAMS){.func = (CUfunction)call->function,
                                            .gridDimX = call->grid[0],
                                            .gridDimY = call->grid[1],
                                            .gridDimZ = call->grid[2],
                                            .blockDimX = call->block[0],
                                            .blockDimY = call->block[1],
                                            .blockDimZ = call->block[2],
                                            .sharedMemBytes = call->dynamic_bytes,
                                            .extra = node->extra};
    return CUDA_SUCCESS;
}

/* Nodes are executed in the order in which they were added: each depends on the one before. Under SIMGPU_ORDER the edges
 * are those of the capture. */
CUresult sim_cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to,
                                CUgraphEdgeData *edgeData, size_t *numEdges)
{
    if (numEdges == NULL || !sim_object_is(hGraph, SIM_GRAPH) || (from == NULL) != (to == NULL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct sim_graph *graph = (struct sim_graph *)hGraph;
    size_t count = sim_order_on() ? graph->edge_count : graph->count > 1 ? graph->count - 1 : 0;
    size_t room = from != NULL ? *numEdges : 0, listed = 0;
    for (size_t i = 0; i < count; i++) {
        const struct sim_edge edge = sim_order_on()
                                         ? graph->edges[i]
                                         : (struct sim_edge){(uint32_t)i, (uint32_t)i + 1};
        if (sim_skips_listed_edge(i)) {
            continue;
        }
        if (listed < room) {
            from[listed] = (CUgraphNode)&graph->nodes[edge.from];
            to[listed] = (CUgraphNode)&graph->nodes[edge.to];
        }
        if (listed < room && edgeData != NULL) {
            const struct sim_node *node = &graph->nodes[edge.from];
            bool early = node->kind == SIM_NODE_CALL && node->call->completion != NULL;
            edgeData[listed] = (CUgraphEdgeData){
                .from_port = early ? CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER : 0};
        }
        listed++;
    }
    *numEdges = from == NULL || listed < room ? listed : room;
    return CUDA_SUCCESS;
}

/* A node of this device has none but those of its shape. */
CUresult sim_cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                           CUkernelNodeAttrValue *value_out)
{
    (void)attr;
    if (!is(hNode, value_out, SIM_NODE_CALL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *value_out = (CUkernelNodeAttrValue){0};
    return CUDA_SUCCESS;
}

/* ---- updates ---------------------------------------------------------------------------------- */

static bool same_shape(const struct sim_graph *a, const struct sim_graph *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++) {
        same = a->nodes[i].kind == b->nodes[i].kind;
    }
    return same;
}

CUresult sim_cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
                                  CUgraphExecUpdateResultInfo *resultInfo)
{
    if (resultInfo == NULL || !sim_object_is(hGraphExec, SIM_GRAPH_EXEC) ||
        !sim_object_is(hGraph, SIM_GRAPH)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct sim_graph *exec = (struct sim_graph *)hGraphExec, made = {0};
    const struct sim_graph *graph = (const struct sim_graph *)hGraph;
    *resultInfo = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
    if (!same_shape(exec, graph)) {
        resultInfo->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; result == CUDA_SUCCESS && i < graph->count; i++) {
        result = sim_graph_add(&made, &graph->nodes[i]);
        if (result == CUDA_SUCCESS) {
            made.nodes[i].is_off = exec->nodes[i].is_off;
        }
    }
    struct sim_node *old = result == CUDA_SUCCESS ? exec->nodes : made.nodes;
    size_t count = result == CUDA_SUCCESS ? exec->count : made.count;
    if (result == CUDA_SUCCESS) {
        exec->nodes = made.nodes;
        exec->capacity = made.capacity;
    }
    for (size_t i = 0; i < count; i++) {
        if (old[i].kind == SIM_NODE_CALL) {
            free(old[i].call);
        }
    }
    free(old);
    return result;
}

/* The executable graph's own copy of a node of the graph it was made from; NULL: it has none. */
static struct sim_node *own_node(CUgraphExec handle, CUgraphNode node, int kind)
{
    struct sim_graph *exec = (struct sim_graph *)handle;
    if (!sim_object_is(handle, SIM_GRAPH_EXEC) || !sim_object_is(exec->source, SIM_GRAPH)) {
        return NULL;
    }
    for (size_t i = 0; i < exec->source->count && i < exec->count; i++) {
        if (&exec->source->nodes[i] == node_of(node)) {
            return (int)exec->nodes[i].kind == kind ? &exec->nodes[i] : NULL;
        }
    }
    return NULL;
}

CUresult sim_cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            const CUDA_MEMSET_NODE_PARAMS *memsetParams,
                                            CUcontext ctx)
{
    struct sim_node *node = memsetParams != NULL ? own_node(hGraphExec, hNode, SIM_NODE_SET) : NULL;
    (void)ctx;
    if (node == NULL || memsetParams->height != 1 ||
        !sim_heap_covers((uintptr_t)memsetParams->dst,
                         memsetParams->width * memsetParams->elementSize)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    node->set = (struct sim_memset){.dst = (char *)memsetParams->dst,
                                    .pitch = memsetParams->pitch,
                                    .width = memsetParams->width,
                                    .height = 1,
                                    .element_bytes = memsetParams->elementSize,
                                    .value = memsetParams->value};
    return CUDA_SUCCESS;
}

/* Nodes of other kinds cannot be switched off. */
static struct sim_node *switch_of(CUgraphExec exec, CUgraphNode node)
{
    struct sim_node *own = own_node(exec, node, SIM_NODE_CALL);
    own = own != NULL ? own : own_node(exec, node, SIM_NODE_SET);
    return own != NULL ? own : own_node(exec, node, SIM_NODE_COPY);
}

CUresult sim_cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
                                   unsigned int isEnabled)
{
    struct sim_node *node = switch_of(hGraphExec, hNode);
    if (node == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    node->is_off = isEnabled == 0;
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
                                   unsigned int *isEnabled)
{
    const struct sim_node *node = switch_of(hGraphExec, hNode);
    if (node == NULL || isEnabled == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *isEnabled = node->is_off ? 0 : 1;
    return CUDA_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks: graphs are made executable, changed and destroyed. What a launch of a graph does is written
 * when it is made executable, and again when that changes: a launch itself costs nothing more.
 */
#include "preload/graph/steps.h"
#include "preload/hooks/graph_node.h"
#include "preload/hooks/graph_steps.h"
#include "preload/hooks/hook.h"
#include "preload/state/context.h"
#include "preload/state/graphs.h"

static void describe(const struct gmt_hook_call *call, CUgraphExec exec, CUgraph graph,
                     bool is_update)
{
    struct gmt_graph record = {.since_ticks = call->end_ticks,
                               .handle = (uint64_t)(uintptr_t)exec,
                               .context = gmt_context_current(NULL)};
    gmt_graph_name(exec, is_update, &record);
    const struct gmt_graph_node described = {.graph = record.id, .since_ticks = call->end_ticks};
    record.node_count = gmt_graph_write_nodes(graph, &described);
    (void)gmt_spool_side(GMT_REC_GRAPH, &record, sizeof(record), NULL, 0);
}

/* So that it can be launched by steps. */
static void read_steps(CUgraphExec exec, CUgraph graph)
{
    if (gmt_graph_steps_wanted()) {
        gmt_steps_read(exec, graph);
    }
}

/* The bytes of the call: none; the number of nodes is in the graph's own record. */
static void made(const struct gmt_hook_call *call, const CUgraphExec *exec, CUgraph graph,
                 unsigned long long flags)
{
    if (call->result == CUDA_SUCCESS && exec != NULL && *exec != NULL) {
        describe(call, *exec, graph, false);
        gmt_graph_add_flags(*exec, flags);
        read_steps(*exec, graph);
    }
    gmt_hook_call_record(GMT_REC_CALL, call, 0);
}

#define CALL(SYMBOL, PARAMETERS, ARGUMENTS, STREAM, FLAGS, AFTER) \
    GMT_DEFINE_HOOK(SYMBOL, PARAMETERS, ARGUMENTS, STREAM, FLAGS, (void)0, AFTER)

#define INSTANTIATE_WITH_LOG(SYMBOL) \
    CALL(SYMBOL, \
         (CUgraphExec * exec, CUgraph graph, CUgraphNode * error, char *log, size_t bytes), \
         (exec, graph, error, log, bytes), NULL, 0, made(&call, exec, graph, 0))
#define INSTANTIATE_WITH_PARAMS(SYMBOL, FLAGS) \
    CALL(SYMBOL, (CUgraphExec * exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS * params), \
         (exec, graph, params), NULL, FLAGS, \
         made(&call, exec, graph, params != NULL ? params->flags : 0))
INSTANTIATE_WITH_LOG(cuGraphInstantiate)
INSTANTIATE_WITH_LOG(cuGraphInstantiate_v2)
CALL(cuGraphInstantiateWithFlags, (CUgraphExec * exec, CUgraph graph, unsigned long long flags),
     (exec, graph, flags), NULL, 0, made(&call, exec, graph, flags))
INSTANTIATE_WITH_PARAMS(cuGraphInstantiateWithParams, 0)
INSTANTIATE_WITH_PARAMS(cuGraphInstantiateWithParams_ptsz, GMT_CALL_PER_THREAD)

static void ended(const struct gmt_hook_call *call, CUgraphExec exec, bool known)
{
    if (known && call->result == CUDA_SUCCESS) {
        struct gmt_graph record = {.since_ticks = call->begin_ticks,
                                   .handle = (uint64_t)(uintptr_t)exec};
        (void)gmt_spool_side(GMT_REC_GRAPH, &record, sizeof(record), NULL, 0);
    }
    gmt_hook_call_record(GMT_REC_CALL, call, 0);
}

static bool forget(CUgraphExec exec)
{
    gmt_steps_forget(exec);
    return gmt_graph_forget(exec);
}

GMT_DEFINE_HOOK_SAVING(cuGraphExecDestroy, bool, (CUgraphExec exec), (exec), NULL, 0,
                       *saved = exec != NULL && forget(exec), ended(&call, exec, *saved))

/* ---- updates ---------------------------------------------------------------------------------- */

/* The whole graph: described anew. A failed update leaves it as it was. */
static void updated(const struct gmt_hook_call *call, CUgraphExec exec, CUgraph graph)
{
    if (call->result == CUDA_SUCCESS && gmt_graph_may_read(call->end_ticks)) {
        describe(call, exec, graph, true);
        read_steps(exec, graph);
        gmt_graph_was_read(gmt_clock_ticks() - call->end_ticks);
    } else if (call->result == CUDA_SUCCESS) {
        gmt_steps_forget(exec);
        gmt_spool_loss("graph update not followed", "reading its nodes took too much time", 1);
    }
    gmt_hook_call_record(GMT_REC_CALL, call, 0);
}

CALL(cuGraphExecUpdate,
     (CUgraphExec exec, CUgraph graph, CUgraphNode *error, CUgraphExecUpdateResult *answer),
     (exec, graph, error, answer), NULL, 0, updated(&call, exec, graph))
CALL(cuGraphExecUpdate_v2, (CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *answer),
     (exec, graph, answer), NULL, 0, updated(&call, exec, graph))

/* One node: false if nothing is to be written. */
static bool begin_node(const struct gmt_hook_call *call, CUgraphExec exec, CUgraphNode node,
                       struct gmt_graph_node *out)
{
    uint32_t id = call->result == CUDA_SUCCESS ? gmt_graph_id(exec) : 0;
    *out = (struct gmt_graph_node){.graph = id,
                                   .since_ticks = call->end_ticks,
                                   .node = (uint64_t)(uintptr_t)node,
                                   .is_update = 1};
    return id != 0;
}

#define SET_NODE(SYMBOL, PARAMETERS, ARGUMENTS, DESCRIBE, BYTES, SET_STEP) \
    CALL(SYMBOL, PARAMETERS, ARGUMENTS, NULL, 0, { \
        struct gmt_graph_node out; \
        if (begin_node(&call, exec, node, &out) && params != NULL) { \
            DESCRIBE; \
            gmt_graph_write_node(&out); \
            SET_STEP; \
        } \
        gmt_hook_call_record(GMT_REC_CALL, &call, BYTES); \
    })
#define GRID(P) ((const uint32_t[]){(P)->gridDimX, (P)->gridDimY, (P)->gridDimZ})
#define BLOCK(P) ((const uint32_t[]){(P)->blockDimX, (P)->blockDimY, (P)->blockDimZ})
#define MEMSET(P) gmt_graph_node_memset(&out, (P)->dst, (P)->elementSize, (P)->width, (P)->height)

SET_NODE(cuGraphExecMemcpyNodeSetParams,
         (CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *params, CUcontext context),
         (exec, node, params, context), gmt_graph_node_copy(&out, params), out.bytes,
         gmt_steps_set_copy(exec, node, params))
SET_NODE(cuGraphExecMemsetNodeSetParams,
         (CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params,
          CUcontext context),
         (exec, node, params, context), MEMSET(params), out.bytes,
         gmt_steps_set_memset(exec, node, params))

static void set_kernel_v1(CUgraphExec exec, CUgraphNode node,
                          const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    const CUDA_KERNEL_NODE_PARAMS_v2 same = {
        .func = params->func,
        .gridDimX = params->gridDimX,
        .gridDimY = params->gridDimY,
        .gridDimZ = params->gridDimZ,
        .blockDimX = params->blockDimX,
        .blockDimY = params->blockDimY,
        .blockDimZ = params->blockDimZ,
        .sharedMemBytes = params->sharedMemBytes,
        .kernelParams = params->kernelParams,
        .extra = params->extra,
    };
    gmt_steps_set_kernel(exec, node, &same);
}

SET_NODE(cuGraphExecKernelNodeSetParams,
         (CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params),
         (exec, node, params),
         gmt_graph_node_kernel(&out, params->func, GRID(params), BLOCK(params)), 0,
         set_kernel_v1(exec, node, params))

static CUfunction function_of(CUfunction function, CUkernel kernel)
{
    return function != NULL ? function : (CUfunction)kernel; /* a launch takes either */
}

SET_NODE(cuGraphExecKernelNodeSetParams_v2,
         (CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2 *params),
         (exec, node, params),
         gmt_graph_node_kernel(&out, function_of(params->func, params->kern), GRID(params),
                               BLOCK(params)),
         0, gmt_steps_set_kernel(exec, node, params))

static void describe_any(struct gmt_graph_node *out, const CUgraphNodeParams *params)
{
    if (params->type == CU_GRAPH_NODE_TYPE_MEMCPY) {
        gmt_graph_node_copy(out, &params->memcpy.copyParams);
    } else if (params->type == CU_GRAPH_NODE_TYPE_MEMSET) {
        gmt_graph_node_memset(out, params->memset.dst, params->memset.elementSize,
                              params->memset.width, params->memset.height);
    } else if (params->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        gmt_graph_node_kernel(out, function_of(params->kernel.func, params->kernel.kern),
                              GRID(&params->kernel), BLOCK(&params->kernel));
    } else if (params->type == CU_GRAPH_NODE_TYPE_HOST) {
        out->kind = GMT_NODE_HOST;
    }
}

static uint64_t set_any(const struct gmt_hook_call *call, CUgraphExec exec, CUgraphNode node,
                        const CUgraphNodeParams *params)
{
    struct gmt_graph_node out;
    if (!begin_node(call, exec, node, &out) || params == NULL) {
        return 0;
    }
    if (params->type == CU_GRAPH_NODE_TYPE_GRAPH) {
        gmt_graph_write_child(node, params->graph.graph, &out);
        gmt_steps_set_child(exec, node, params->graph.graph);
    } else {
        describe_any(&out, params);
        gmt_graph_write_node(&out);
        gmt_steps_forget(exec);
    }
    return out.bytes;
}

CALL(cuGraphExecNodeSetParams, (CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *params),
     (exec, node, params), NULL, 0,
     gmt_hook_call_record(GMT_REC_CALL, &call, set_any(&call, exec, node, params)))

CALL(cuGraphNodeSetEnabled, (CUgraphExec exec, CUgraphNode node, unsigned is_enabled),
     (exec, node, is_enabled), NULL, 0, {
         struct gmt_graph_node out;
         if (begin_node(&call, exec, node, &out)) {
             gmt_graph_add_flags(exec, GMT_GRAPH_NO_STEPS); /* it stays off through updates */
             gmt_steps_forget(exec);
             out.turned = is_enabled != 0 ? GMT_NODE_TURNED_ON : GMT_NODE_TURNED_OFF;
             gmt_graph_write_node(&out);
         }
         gmt_hook_call_record(GMT_REC_CALL, &call, 0);
     })

/* What one node is updated with is a graph of the same form: its nodes stand for those of the node's own. */
CALL(cuGraphExecChildGraphNodeSetParams, (CUgraphExec exec, CUgraphNode node, CUgraph child),
     (exec, node, child), NULL, 0, {
         struct gmt_graph_node out;
         if (begin_node(&call, exec, node, &out)) {
             gmt_graph_write_child(node, child, &out);
             gmt_steps_set_child(exec, node, child);
         }
         gmt_hook_call_record(GMT_REC_CALL, &call, 0);
     })

/* ---- nodes by hand: calls that say where a node comes from -------------------------------------- */

static uint64_t copy_bytes(const CUDA_MEMCPY3D *copy)
{
    return copy != NULL ? copy->WidthInBytes * copy->Height * copy->Depth : 0;
}

static uint64_t set_bytes(const CUDA_MEMSET_NODE_PARAMS *set)
{
    return set != NULL ? set->width * set->height * set->elementSize : 0;
}

static uint64_t any_bytes(const CUgraphNodeParams *params)
{
    if (params == NULL) {
        return 0;
    }
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_MEMCPY: return copy_bytes(&params->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return params->memset.width * params->memset.height * params->memset.elementSize;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return params->alloc.bytesize;
    default: return 0;
    }
}

#define ADD(SYMBOL, TYPE, BYTES) \
    CALL( \
        SYMBOL, \
        (CUgraphNode * node, CUgraph graph, const CUgraphNode *before, size_t count, TYPE params), \
        (node, graph, before, count, params), NULL, 0, \
        gmt_hook_call_record(GMT_REC_CALL, &call, BYTES))
#define ADD_IN_CONTEXT(SYMBOL, TYPE, BYTES) \
    CALL(SYMBOL, \
         (CUgraphNode * node, CUgraph graph, const CUgraphNode *before, size_t count, TYPE params, \
          CUcontext context), \
         (node, graph, before, count, params, context), NULL, 0, \
         gmt_hook_call_record(GMT_REC_CALL, &call, BYTES))

ADD_IN_CONTEXT(cuGraphAddMemcpyNode, const CUDA_MEMCPY3D *, copy_bytes(params))
ADD_IN_CONTEXT(cuGraphAddMemsetNode, const CUDA_MEMSET_NODE_PARAMS *, set_bytes(params))
ADD(cuGraphAddMemAllocNode, CUDA_MEM_ALLOC_NODE_PARAMS *, params != NULL ? params->bytesize : 0)
ADD(cuGraphAddNode, CUgraphNodeParams *, any_bytes(params))
CALL(cuGraphAddNode_v2,
     (CUgraphNode * node, CUgraph graph, const CUgraphNode *before, const CUgraphEdgeData *edges,
      size_t count, CUgraphNodeParams *params),
     (node, graph, before, edges, count, params), NULL, 0,
     gmt_hook_call_record(GMT_REC_CALL, &call, any_bytes(params)))

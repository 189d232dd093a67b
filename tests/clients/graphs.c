/* SPDX-License-Identifier: Apache-2.0 */
/* A graph that is launched, updated as a whole, and changed in one node. */
#include "client.h"

#include <stdio.h>

enum { COUNT = 256 };

static CUdeviceptr to, from;
static float host[COUNT];

/* A copy, a memset of `words` and a kernel, which adds the copy to what was set. */
static CUgraph capture(CUstream stream, CUfunction add, size_t words)
{
    CUgraph graph;
    CHECK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(cu.cuMemcpyHtoDAsync(from, host, sizeof host, stream));
    CHECK(cu.cuMemsetD32Async(to, 0, words, stream));
    CHECK(client_vector_add(add, to, to, from, COUNT, stream));
    CHECK(cu.cuStreamEndCapture(stream, &graph));
    return graph;
}

static CUgraphNode node_of(CUgraph graph, CUgraphNodeType wanted)
{
    CUgraphNode nodes[8];
    size_t count = 8;
    CHECK(cu.cuGraphGetNodes(graph, nodes, &count));
    for (size_t i = 0; i < count; i++) {
        CUgraphNodeType type;
        CHECK(cu.cuGraphNodeGetType(nodes[i], &type));
        if (type == wanted) {
            return nodes[i];
        }
    }
    return NULL;
}

static void launch(CUgraphExec exec, CUstream stream, long times)
{
    for (long i = 0; i < times; i++) {
        CHECK(cu.cuGraphLaunch(exec, stream));
    }
    CHECK(cu.cuStreamSynchronize(stream));
}

static CUfunction load(CUstream *stream)
{
    CUmodule module;
    CUfunction add;
    CHECK(cu.cuStreamCreate(stream, CU_STREAM_NON_BLOCKING));
    CHECK(cu.cuModuleLoadData(&module, client_ptx));
    CHECK(cu.cuModuleGetFunction(&add, module, "vector_add"));
    CHECK(cu.cuMemAlloc(&to, sizeof host));
    CHECK(cu.cuMemAlloc(&from, sizeof host));
    return add;
}

static void set_words(CUgraphExec exec, CUgraphNode node, size_t words, CUcontext context)
{
    CUDA_MEMSET_NODE_PARAMS set;
    CHECK(cu.cuGraphMemsetNodeGetParams(node, &set));
    set.width = words;
    CHECK(cu.cuGraphExecMemsetNodeSetParams(exec, node, &set, context));
}

int scenario_graphs(long n)
{
    CUcontext context = client_start();
    CUstream stream;
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo answer;
    long times = n > 0 ? n : 4;
    CUfunction add = load(&stream);
    CUgraph first = capture(stream, add, COUNT), second = capture(stream, add, COUNT / 2);
    CHECK(cu.cuGraphInstantiateWithFlags(&exec, first, 0));
    launch(exec, stream, times);
    set_words(exec, node_of(first, CU_GRAPH_NODE_TYPE_MEMSET), COUNT / 4, context);
    launch(exec, stream, 1);
    CHECK(cu.cuGraphExecUpdate(exec, second, &answer));
    launch(exec, stream, times);
    CHECK(cu.cuGraphExecDestroy(exec));
    CHECK(cu.cuGraphInstantiateWithFlags(&exec, second, 0));
    launch(exec, stream, 1);
    CHECK(cu.cuGraphExecDestroy(exec));
    CHECK(cu.cuGraphDestroy(first));
    CHECK(cu.cuGraphDestroy(second));
    CHECK(cu.cuMemFree(to));
    CHECK(cu.cuMemFree(from));
    CHECK(cu.cuStreamDestroy(stream));
    printf("%ld launches\n", 2 * times + 2);
    return 0;
}

/* Seven launches. Nodes are named by the graph that was made executable, also after an update; what is off
 * stays off through updates. */
int scenario_graph_switches(long n)
{
    CUcontext context = client_start();
    CUstream stream;
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo answer;
    CUfunction add = load(&stream);
    (void)n;
    CUgraph first = capture(stream, add, COUNT), second = capture(stream, add, COUNT / 2);
    CUgraphNode set = node_of(first, CU_GRAPH_NODE_TYPE_MEMSET);
    CUgraphNode copy = node_of(first, CU_GRAPH_NODE_TYPE_MEMCPY);
    CHECK(cu.cuGraphInstantiateWithFlags(&exec, first, 0));
    launch(exec, stream, 1);
    CHECK(cu.cuGraphNodeSetEnabled(exec, set, 0));
    launch(exec, stream, 1);
    CHECK(cu.cuGraphExecUpdate(exec, second, &answer));
    launch(exec, stream, 1);
    set_words(exec, set, COUNT / 4, context);
    launch(exec, stream, 1);
    CHECK(cu.cuGraphNodeSetEnabled(exec, set, 1));
    launch(exec, stream, 1);
    CHECK(cu.cuGraphNodeSetEnabled(exec, copy, 0));
    launch(exec, stream, 1);
    CHECK(cu.cuGraphExecDestroy(exec));
    CHECK(cu.cuGraphInstantiateWithFlags(&exec, first, 0));
    launch(exec, stream, 1);
    CHECK(cu.cuGraphExecDestroy(exec));
    CHECK(cu.cuGraphDestroy(first));
    CHECK(cu.cuGraphDestroy(second));
    CHECK(cu.cuStreamDestroy(stream));
    return 0;
}

/* A graph that only moves page-locked memory, N launches, an update of one node, N launches, an update as a whole, N launches: each
 * adds what was uploaded to what it was before. With a node switched off, it is launched once more. */
int scenario_graph_steps(long n)
{
    CUcontext context = client_start();
    CUstream stream;
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo answer;
    CUfunction add = load(&stream);
    void *memory;
    long times = n > 0 ? n : 4;
    CHECK(cu.cuMemAllocHost(&memory, 2 * sizeof host));
    float *in = memory, *out = in + COUNT;
    CUgraph graphs[2];
    for (size_t i = 0; i < COUNT; i++) {
        in[i] = (float)i;
    }
    for (size_t i = 0; i < 2; i++) {
        CHECK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        CHECK(cu.cuMemcpyHtoDAsync(from, in, sizeof host, stream));
        CHECK(cu.cuMemsetD32Async(to, 0, i == 0 ? 1 : COUNT / 2, stream));
        CHECK(client_vector_add(add, to, to, from, COUNT, stream));
        CHECK(client_vector_add(add, to, to, from, COUNT / 2, stream));
        CHECK(cu.cuMemcpyDtoHAsync(out, to, sizeof host, stream));
        CHECK(cu.cuStreamEndCapture(stream, &graphs[i]));
    }
    CHECK(cu.cuMemsetD32(to, 0, COUNT));
    CHECK(cu.cuCtxSynchronize()); /* the stream does not wait for the legacy one */
    CHECK(cu.cuGraphInstantiateWithFlags(&exec, graphs[0], 0));
    launch(exec, stream, times);
    printf("made %g %g %g\n", (double)out[0], (double)out[1], (double)out[COUNT - 1]);
    set_words(exec, node_of(graphs[0], CU_GRAPH_NODE_TYPE_MEMSET), COUNT, context);
    launch(exec, stream, times);
    printf("set %g %g %g\n", (double)out[0], (double)out[1], (double)out[COUNT - 1]);
    CHECK(cu.cuGraphExecUpdate(exec, graphs[1], &answer));
    launch(exec, stream, times);
    printf("updated %g %g %g\n", (double)out[0], (double)out[1], (double)out[COUNT - 1]);
    CHECK(cu.cuGraphNodeSetEnabled(exec, node_of(graphs[0], CU_GRAPH_NODE_TYPE_MEMSET), 0));
    launch(exec, stream, times);
    printf("off %g %g %g\n", (double)out[0], (double)out[1], (double)out[COUNT - 1]);
    CHECK(cu.cuGraphExecDestroy(exec));
    CHECK(cu.cuGraphDestroy(graphs[0]));
    CHECK(cu.cuGraphDestroy(graphs[1]));
    CHECK(cu.cuMemFree(to));
    CHECK(cu.cuMemFree(from));
    CHECK(cu.cuMemFreeHost(memory));
    CHECK(cu.cuStreamDestroy(stream));
    return 0;
}

/* The same while device 1 is used, too, and its memory can be reached. */
int scenario_graph_steps_peer(long n)
{
    CUcontext peer;
    CUdeviceptr others;
    (void)client_start();
    CHECK(cu.cuDevicePrimaryCtxRetain(&peer, 1));
    CHECK(cu.cuCtxEnablePeerAccess(peer, 0));
    CHECK(cu.cuCtxPushCurrent(peer));
    CHECK(cu.cuMemAlloc(&others, sizeof host));
    CHECK(cu.cuMemsetD32(others, 1, COUNT));
    CHECK(cu.cuCtxPopCurrent(NULL));
    return scenario_graph_steps(n);
}

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

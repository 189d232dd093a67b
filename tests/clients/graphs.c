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

static CUgraphNode memset_node(CUgraph graph)
{
    CUgraphNode nodes[8];
    size_t count = 8;
    CHECK(cu.cuGraphGetNodes(graph, nodes, &count));
    for (size_t i = 0; i < count; i++) {
        CUgraphNodeType type;
        CHECK(cu.cuGraphNodeGetType(nodes[i], &type));
        if (type == CU_GRAPH_NODE_TYPE_MEMSET) {
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

int scenario_graphs(long n)
{
    CUcontext context = client_start();
    CUmodule module;
    CUfunction add;
    CUstream stream;
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo answer;
    CUDA_MEMSET_NODE_PARAMS set;
    long times = n > 0 ? n : 4;
    CHECK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cu.cuModuleLoadData(&module, client_ptx));
    CHECK(cu.cuModuleGetFunction(&add, module, "vector_add"));
    CHECK(cu.cuMemAlloc(&to, sizeof host));
    CHECK(cu.cuMemAlloc(&from, sizeof host));
    CUgraph first = capture(stream, add, COUNT), second = capture(stream, add, COUNT / 2);
    CHECK(cu.cuGraphInstantiateWithFlags(&exec, first, 0));
    launch(exec, stream, times);
    CUgraphNode node = memset_node(first);
    CHECK(cu.cuGraphMemsetNodeGetParams(node, &set));
    set.width = COUNT / 4;
    CHECK(cu.cuGraphExecMemsetNodeSetParams(exec, node, &set, context));
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

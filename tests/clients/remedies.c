/* SPDX-License-Identifier: Apache-2.0 */
/* Launches that are not measured, each for a reason that the user can do something about. */
#include "client.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 256, LONG_COUNT = 1 << 25 };

static CUfunction load(void)
{
    CUmodule module;
    CUfunction add;
    CHECK(cu.cuModuleLoadData(&module, client_ptx));
    CHECK(cu.cuModuleGetFunction(&add, module, "vector_add"));
    return add;
}

static void launch(CUfunction add, CUdeviceptr words, unsigned count, CUstream stream, long n)
{
    for (long i = 0; i < n; i++) {
        CHECK(client_vector_add(add, words, words, words, count, stream));
    }
}

static int launched(long n)
{
    CHECK(cu.cuCtxSynchronize());
    printf("%ld launches\n", n);
    return 0;
}

/* N launches that are given memory which the host can change while they run. */
int scenario_pinned(long n)
{
    (void)client_start();
    CUfunction add = load();
    void *host;
    CUdeviceptr words;
    CHECK(cu.cuMemHostAlloc(&host, COUNT * sizeof(float), CU_MEMHOSTALLOC_DEVICEMAP));
    words = (CUdeviceptr)(uintptr_t)host; /* with unified addressing */
    launch(add, words, COUNT, NULL, n);
    (void)launched(n);
    CHECK(cu.cuMemFreeHost(host));
    return 0;
}

static pthread_barrier_t barrier;

static void *use_cuda(void *context)
{
    CUdeviceptr words;
    CHECK(cu.cuCtxSetCurrent(context));
    CHECK(cu.cuMemAlloc(&words, COUNT));
    (void)pthread_barrier_wait(&barrier);
    (void)pthread_barrier_wait(&barrier);
    CHECK(cu.cuMemFree(words));
    return NULL;
}

/* The same while there is another thread that uses CUDA, and makes no call now. */
int scenario_pinned_beside(long n)
{
    pthread_t other;
    if (pthread_barrier_init(&barrier, NULL, 2) != 0 ||
        pthread_create(&other, NULL, use_cuda, client_start()) != 0) {
        exit(4);
    }
    (void)pthread_barrier_wait(&barrier);
    int status = scenario_pinned(n);
    (void)pthread_barrier_wait(&barrier);
    (void)pthread_join(other, NULL);
    return status;
}

/* Peer access to device 1, then N launches with memory of device 0, and N with memory of device 1. */
int scenario_peer_memory(long n)
{
    CUcontext peer;
    CUdeviceptr own, others;
    (void)client_start();
    CUfunction add = load();
    CHECK(cu.cuDevicePrimaryCtxRetain(&peer, 1));
    CHECK(cu.cuCtxEnablePeerAccess(peer, 0));
    CHECK(cu.cuMemAlloc(&own, COUNT * sizeof(float)));
    CHECK(cu.cuCtxPushCurrent(peer));
    CHECK(cu.cuMemAlloc(&others, 2 * COUNT * sizeof(float)));
    CHECK(cu.cuCtxPopCurrent(NULL));
    launch(add, own, COUNT, NULL, n);
    launch(add, others, 2 * COUNT, NULL, n);
    return launched(n);
}

/* N launches of a kernel that runs long. */
int scenario_long(long n)
{
    (void)client_start();
    CUfunction add = load();
    CUdeviceptr words;
    CHECK(cu.cuMemAlloc(&words, LONG_COUNT * sizeof(float)));
    launch(add, words, LONG_COUNT, NULL, n);
    (void)launched(n);
    CHECK(cu.cuMemFree(words));
    return 0;
}

/* N launches, then two launches of a graph with the same kernel. */
int scenario_captured(long n)
{
    (void)client_start();
    CUfunction add = load();
    CUdeviceptr words;
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CHECK(cu.cuMemAlloc(&words, COUNT * sizeof(float)));
    CHECK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    launch(add, words, COUNT, stream, n);
    CHECK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(client_vector_add(add, words, words, words, COUNT, stream));
    CHECK(cu.cuStreamEndCapture(stream, &graph));
    CHECK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cu.cuGraphLaunch(exec, stream));
    CHECK(cu.cuGraphLaunch(exec, stream));
    (void)launched(n);
    CHECK(cu.cuGraphExecDestroy(exec));
    CHECK(cu.cuGraphDestroy(graph));
    CHECK(cu.cuStreamDestroy(stream));
    CHECK(cu.cuMemFree(words));
    return 0;
}

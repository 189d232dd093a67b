/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures two copies, a memset and two kernels, and launches the graph: graph [launches [nodes]]. With a second
 * argument it makes the nodes one by one.
 *
 * The time of the launches goes to stderr.
 */

#include "check.cuh"

#include <string.h>
#include <time.h>

enum { WORDS = 1 << 16 };

__global__ void k_graph_add(unsigned *to, const unsigned *from)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] += from[i];
}

__global__ void k_graph_count(unsigned *to, unsigned *launches)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] += 1;
    if (i == 0)
        *launches += 1;
}

static double now_ms()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

/* The same two kernels, as nodes that are made one by one. */
static cudaGraph_t build(unsigned *to, const unsigned *from, unsigned *counter,
                         const unsigned *host, size_t bytes)
{
    cudaGraph_t graph;
    cudaGraphNode_t up, set, add, count, down;
    cudaMemsetParams zero = {};
    cudaKernelNodeParams kernel = {};
    unsigned *out = const_cast<unsigned *>(host) + WORDS;

    CHECK(cudaGraphCreate(&graph, 0));
    zero.dst = to;
    zero.elementSize = 4;
    zero.width = WORDS;
    zero.height = 1;
    CHECK(cudaGraphAddMemcpyNode1D(&up, graph, NULL, 0, const_cast<unsigned *>(from), host, bytes,
                                   cudaMemcpyHostToDevice));
    CHECK(cudaGraphAddMemsetNode(&set, graph, &up, 1, &zero));
    void *of_add[] = {&to, &from};
    kernel.func = reinterpret_cast<void *>(k_graph_add);
    kernel.gridDim = dim3(WORDS / 256);
    kernel.blockDim = dim3(256);
    kernel.kernelParams = of_add;
    CHECK(cudaGraphAddKernelNode(&add, graph, &set, 1, &kernel));
    void *of_count[] = {&to, &counter};
    kernel.func = reinterpret_cast<void *>(k_graph_count);
    kernel.kernelParams = of_count;
    CHECK(cudaGraphAddKernelNode(&count, graph, &add, 1, &kernel));
    CHECK(
        cudaGraphAddMemcpyNode1D(&down, graph, &count, 1, out, to, bytes, cudaMemcpyDeviceToHost));
    return graph;
}

int main(int argc, char **argv)
{
    const long launches = argc > 1 ? parse_number(argv[1], 1, 1000000) : 20;
    const size_t bytes = WORDS * sizeof(unsigned);
    unsigned *host, *from, *to, *counter;
    unsigned counted = 0;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;

    CHECK(cudaMallocHost(&host, 2 * bytes));
    CHECK(cudaMalloc(&from, bytes));
    CHECK(cudaMalloc(&to, bytes));
    CHECK(cudaMalloc(&counter, sizeof *counter));
    CHECK(cudaMemset(counter, 0, sizeof *counter));
    CHECK(cudaDeviceSynchronize());
    for (unsigned i = 0; i < WORDS; i++)
        host[i] = i;

    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    if (argc > 2) {
        graph = build(to, from, counter, host, bytes);
    } else {
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        CHECK(cudaMemcpyAsync(from, host, bytes, cudaMemcpyHostToDevice, stream));
        CHECK(cudaMemsetAsync(to, 0, bytes, stream));
        k_graph_add<<<WORDS / 256, 256, 0, stream>>>(to, from);
        k_graph_count<<<WORDS / 256, 256, 0, stream>>>(to, counter);
        CHECK(cudaMemcpyAsync(host + WORDS, to, bytes, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamEndCapture(stream, &graph));
    }
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    const double began_ms = now_ms();
    for (long i = 0; i < launches; i++)
        CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaStreamSynchronize(stream));
    fprintf(stderr, "time_ms %.4f\n", now_ms() - began_ms);
    CHECK(cudaMemcpy(&counted, counter, sizeof counted, cudaMemcpyDeviceToHost));

    for (unsigned i = 0; i < WORDS; i++) {
        if (host[WORDS + i] != i + 1) {
            fprintf(stderr, "graph: word %u is %u\n", i, host[WORDS + i]);
            return 1;
        }
    }
    if (counted != launches) {
        fprintf(stderr, "graph: ran %u times\n", counted);
        return 1;
    }
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(counter));
    CHECK(cudaFree(to));
    CHECK(cudaFree(from));
    CHECK(cudaFreeHost(host));
    printf("graph ok launches %ld\n", launches);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures two copies, a memset and two kernels, and launches the graph: graph [launches]
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
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemcpyAsync(from, host, bytes, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemsetAsync(to, 0, bytes, stream));
    k_graph_add<<<WORDS / 256, 256, 0, stream>>>(to, from);
    k_graph_count<<<WORDS / 256, 256, 0, stream>>>(to, counter);
    CHECK(cudaMemcpyAsync(host + WORDS, to, bytes, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
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

/* SPDX-License-Identifier: Apache-2.0 */
/* Captures and graphs of the software device's runtime, and threads that use it together. */
#include "check.h"

#include <pthread.h>

Test(graphs, are_captured_and_launched)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    enum cudaStreamCaptureStatus status;
    void *device;
    unsigned char byte = 0;
    expect_success(cudaMalloc(&device, 16));
    expect_success(cudaMemset(device, 0, 16));
    expect_success(cudaStreamCreate(&stream));
    expect_success(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    expect_success(cudaStreamIsCapturing(stream, &status));
    cr_assert_eq(status, cudaStreamCaptureStatusActive);
    expect_success(cudaMemsetAsync(device, 5, 16, stream));
    expect_error(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(stream));
    expect_success(cudaStreamEndCapture(stream, &graph));
    expect_success(cudaMemcpy(&byte, device, 1, cudaMemcpyDeviceToHost));
    cr_assert_eq(byte, 0, "captured, not done");
    expect_success(cudaGraphInstantiate(&executable, graph, 0));
    expect_success(cudaGraphLaunch(executable, stream));
    expect_success(cudaStreamSynchronize(stream));
    expect_success(cudaMemcpy(&byte, device, 1, cudaMemcpyDeviceToHost));
    cr_assert_eq(byte, 5);
    expect_success(cudaGraphExecDestroy(executable));
    expect_success(cudaGraphDestroy(graph));
}

static void *work(void *failures)
{
    for (int i = 0; i < 200; i++) {
        unsigned char byte = 0;
        void *device = NULL;
        bool good = cudaMalloc(&device, 64) == cudaSuccess &&
                    cudaMemset(device, i, 64) == cudaSuccess &&
                    cudaMemcpy(&byte, device, 1, cudaMemcpyDeviceToHost) == cudaSuccess &&
                    cudaFree(device) == cudaSuccess && byte == (unsigned char)i;
        __atomic_fetch_add((int *)failures, !good, __ATOMIC_RELAXED);
    }
    return NULL;
}

Test(threads, start_the_runtime_together)
{
    pthread_t threads[8];
    int failures = 0;
    for (int i = 0; i < 8; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, work, &failures), 0);
    }
    for (int i = 0; i < 8; i++) {
        cr_assert_eq(pthread_join(threads[i], NULL), 0);
    }
    cr_assert_eq(failures, 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events and callbacks of the software device's runtime. */
#include "check.h"

#include <time.h>

Test(streams, have_flags_and_priorities)
{
    cudaStream_t stream;
    unsigned flags = 9;
    int least = 9, greatest = 9, priority = 9;
    expect_success(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    cr_assert_leq(greatest, least);
    expect_success(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
    expect_success(cudaStreamGetFlags(stream, &flags));
    expect_success(cudaStreamGetPriority(stream, &priority));
    cr_assert_eq(flags, cudaStreamNonBlocking);
    cr_assert_eq(priority, greatest);
    expect_success(cudaStreamQuery(stream));
    expect_success(cudaStreamDestroy(stream));
    expect_error(cudaErrorInvalidResourceHandle, cudaStreamDestroy(stream));
    expect_error(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&stream, 77));
}

Test(streams, by_default_are_the_legacy_one)
{
    unsigned long long none = 0, legacy = 1, own = 2;
    expect_success(cudaStreamGetId(NULL, &none));
    expect_success(cudaStreamGetId(cudaStreamLegacy, &legacy));
    expect_success(cudaStreamGetId(cudaStreamPerThread, &own));
    cr_assert_eq(none, legacy);
    cr_assert_neq(none, own);
}

/* The names that programs built with --default-stream per-thread ask for. */
cudaError_t cudaStreamGetId_ptsz(cudaStream_t stream, unsigned long long *id);
cudaError_t cudaMemcpy_ptds(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind);

Test(streams, of_programs_built_for_it_are_the_threads_own)
{
    unsigned long long none = 0, own = 1;
    expect_success(cudaStreamGetId_ptsz(NULL, &none));
    expect_success(cudaStreamGetId(cudaStreamPerThread, &own));
    cr_assert_eq(none, own);
    int value = 5, copied = 0;
    void *device;
    expect_success(cudaMalloc(&device, sizeof value));
    expect_success(cudaMemcpy_ptds(device, &value, sizeof value, cudaMemcpyHostToDevice));
    expect_success(cudaMemcpy_ptds(&copied, device, sizeof value, cudaMemcpyDeviceToHost));
    cr_assert_eq(copied, value);
}

Test(events, measure_time)
{
    cudaEvent_t start, stop, untimed;
    float ms = -1;
    expect_success(cudaEventCreate(&start));
    expect_success(cudaEventCreate(&stop));
    expect_success(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    expect_success(cudaEventRecord(start, NULL));
    struct timespec pause = {.tv_nsec = 20000000};
    nanosleep(&pause, NULL);
    expect_success(cudaEventRecord(stop, NULL));
    expect_success(cudaEventSynchronize(stop));
    expect_success(cudaEventQuery(stop));
    expect_success(cudaEventElapsedTime(&ms, start, stop));
    cr_assert_geq(ms, 19.0f);
    cr_assert_lt(ms, 5000.0f);
    expect_success(cudaEventRecord(untimed, NULL));
    expect_error(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, start, untimed));
    expect_success(cudaEventDestroy(start));
    expect_error(cudaErrorInvalidResourceHandle, cudaEventRecord(start, NULL));
    expect_error(cudaErrorInvalidValue, cudaEventCreate(NULL));
}

Test(events, order_streams)
{
    cudaStream_t first, second;
    cudaEvent_t event;
    expect_success(cudaStreamCreate(&first));
    expect_success(cudaStreamCreate(&second));
    expect_success(cudaEventCreate(&event));
    expect_success(cudaEventRecord(event, first));
    expect_success(cudaStreamWaitEvent(second, event, 0));
    expect_success(cudaStreamSynchronize(second));
    expect_error(cudaErrorInvalidResourceHandle, cudaStreamWaitEvent(second, NULL, 0));
}

struct call {
    cudaStream_t stream;
    cudaError_t status;
    int times;
};

static void note_callback(cudaStream_t stream, cudaError_t status, void *data)
{
    struct call *call = data;
    *call = (struct call){stream, status, call->times + 1};
}

static void note_host_function(void *data)
{
    ((struct call *)data)->times++;
}

Test(streams, call_back)
{
    cudaStream_t stream;
    struct call call = {.status = cudaErrorUnknown};
    expect_success(cudaStreamCreate(&stream));
    expect_success(cudaStreamAddCallback(stream, note_callback, &call, 0));
    expect_success(cudaLaunchHostFunc(stream, note_host_function, &call));
    expect_success(cudaStreamSynchronize(stream));
    cr_assert_eq(call.times, 2);
    cr_assert_eq(call.stream, stream);
    cr_assert_eq(call.status, cudaSuccess);
    expect_error(cudaErrorInvalidValue, cudaStreamAddCallback(stream, NULL, &call, 0));
    expect_error(cudaErrorInvalidValue, cudaStreamAddCallback(stream, note_callback, &call, 1));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events, callbacks, capture, and threads that launch and free at the same time. */
#include <pthread.h>
#include <time.h>

#include "sim_driver_fixture.h"

Test(sim_driver_streams, events_measure_host_time)
{
    CUevent start, end;
    CUevent untimed;
    float ms = -1;
    struct timespec pause = {.tv_nsec = 20000000};
    sim_start(1);
    OK(cuEventCreate(&start, CU_EVENT_DEFAULT));
    OK(cuEventCreate(&end, CU_EVENT_DEFAULT));
    OK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, start, end));
    OK(cuEventQuery(start));
    OK(cuEventRecord(start, NULL));
    nanosleep(&pause, NULL);
    OK(cuEventRecord(end, NULL));
    OK(cuEventRecord(untimed, NULL));
    OK(cuEventElapsedTime(&ms, start, end));
    cr_expect(ms >= 20 && ms < 5000, "%f ms", (double)ms);
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, start, untimed));
    OK(cuEventDestroy(end));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventSynchronize(end));
}

Test(sim_driver_streams, priorities_are_kept_in_range)
{
    CUstream stream;
    int least, greatest, priority;
    sim_start(1);
    OK(cuCtxGetStreamPriorityRange(&least, &greatest));
    OK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, greatest - 100));
    OK(cuStreamGetPriority(stream, &priority));
    cr_expect_eq(priority, greatest);
    cr_expect_lt(greatest, least);
    OK(cuStreamDestroy(stream));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(stream));
}

static void CUDA_CB note(CUstream stream, CUresult status, void *data)
{
    (void)stream;
    *(CUresult *)data = status;
}

Test(sim_driver_streams, callbacks_hear_of_errors)
{
    CUresult status = CUDA_ERROR_UNKNOWN;
    sim_start(1);
    OK(cuStreamAddCallback(NULL, note, &status, 0));
    cr_expect_eq(status, CUDA_SUCCESS);
    OK(sim_launch_one(sim_kernel_of(sim_ptx_faults, "stop"), 1, NULL));
    OK(cuStreamAddCallback(NULL, note, &status, 0));
    cr_expect_eq(status, CUDA_ERROR_LAUNCH_FAILED);
}

Test(sim_driver_streams, values_are_written_in_order)
{
    CUdeviceptr memory;
    sim_start(1);
    OK(cuMemAlloc(&memory, 16));
    OK(cuStreamWriteValue32(NULL, memory, 41, 0));
    cr_expect_eq(sim_word_at(memory), 41);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue64(NULL, memory + 4, 1, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(NULL, memory + 16, 1, 0));
}

/* ---- capture ---- */

Test(sim_driver_streams, a_capture_takes_other_streams_in_and_runs_them_in_order)
{
    CUstream main_stream, side;
    CUevent fork_event, join_event;
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr a;
    CUstreamCaptureStatus status;
    sim_start(1);
    OK(cuMemAlloc(&a, 4));
    OK(cuMemsetD32(a, 1, 1));
    OK(cuStreamCreate(&main_stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&side, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&fork_event, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&join_event, CU_EVENT_DISABLE_TIMING));
    OK(cuStreamBeginCapture(main_stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuEventRecord(fork_event, main_stream));
    OK(cuStreamWaitEvent(side, fork_event, 0));
    OK(cuStreamIsCapturing(side, &status));
    cr_expect_eq(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cuMemsetD32Async(a, 2, 1, side));
    OK(cuEventRecord(join_event, side));
    OK(cuStreamWaitEvent(main_stream, join_event, 0));
    OK(cuMemsetD32Async(a, 3, 1, main_stream));
    FAILS(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, cuStreamEndCapture(side, &graph));
    OK(cuStreamEndCapture(main_stream, &graph));
    cr_expect_eq(sim_word_at(a), 1);
    OK(cuStreamIsCapturing(side, &status));
    cr_expect_eq(status, CU_STREAM_CAPTURE_STATUS_NONE);
    FAILS(CUDA_ERROR_CAPTURED_EVENT, cuStreamWaitEvent(side, fork_event, 0));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    OK(cuGraphLaunch(exec, side));
    cr_expect_eq(sim_word_at(a), 3);
    OK(cuMemFree(a));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, side));
    OK(cuGraphExecDestroy(exec));
}

/* ---- threads ---- */

static CUcontext context;

static void *allocate_launch_free(void *unused)
{
    OK(cuCtxSetCurrent(context));
    CUfunction fill = sim_kernel_of(sim_ptx_fill, "fill");
    for (unsigned i = 0; i < 200; i++) {
        CUdeviceptr memory;
        OK(cuMemAlloc(&memory, (size_t)1 << (8 + i % 13)));
        OK(sim_launch_one(fill, 32, (void *[]){&memory, &i}));
        cr_assert_eq(sim_word_at(memory + 124), i + 31);
        OK(cuMemFree(memory));
    }
    return unused;
}

Test(sim_driver_streams, threads_launch_and_free_at_the_same_time)
{
    pthread_t threads[8];
    context = sim_start(1);
    for (int i = 0; i < 8; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, allocate_launch_free, NULL), 0);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
    }
    OK(cuCtxSynchronize());
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that is cancelled during a call: the call ends as with a driver, and no lock stays held. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "sim_driver_fixture.h"

/* Block 0 returns at once, the others count to 20,000: the caller's thread has to wait for a helper. */
static const char uneven[] = SIM_PTX_HEAD
    ".visible .entry uneven()\n{\n .reg .pred %p<2>;\n .reg .b32 %r<3>;\n"
    " mov.u32 %r1, %ctaid.x;\n setp.eq.u32 %p1, %r1, 0;\n @%p1 ret;\n mov.u32 %r2, 0;\n"
    "again:\n add.u32 %r2, %r2, 1;\n setp.lt.u32 %p1, %r2, 20000;\n @%p1 bra again;\n ret;\n}\n";

static CUcontext context;

struct caller {
    CUfunction function;
    unsigned blocks, launches;
    CUresult result; /* of the last call, set after it */
    bool returned;
};

/* The request is pending before the first call, and acts at the test at the end. */
static void *call_while_cancelled(void *argument)
{
    struct caller *caller = argument;
    CUresult result = CUDA_SUCCESS;
    int before;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pthread_cancel(pthread_self());
    pthread_setcancelstate(before, NULL);
    result = cuCtxSetCurrent(context);
    for (unsigned i = 0; i < caller->launches && result == CUDA_SUCCESS; i++) {
        result = cuLaunchKernel(caller->function, caller->blocks, 1, 1, 32, 1, 1, 0, NULL, NULL,
                                NULL);
    }
    caller->result = result;
    caller->returned = true;
    pthread_testcancel();
    return NULL;
}

static void run_cancelled(struct caller *caller)
{
    pthread_t thread;
    void *end = NULL;

    cr_assert_eq(pthread_create(&thread, NULL, call_while_cancelled, caller), 0);
    cr_assert_eq(pthread_join(thread, &end), 0);
    cr_expect(caller->returned, "the thread ended inside a call, which is no cancellation point");
    cr_expect_eq(end, PTHREAD_CANCELED, "the request was lost");
}

/* A free waits for all work, so it sees a work lock that nobody gives back. */
static void expect_no_lock_held(CUfunction function)
{
    CUdeviceptr memory;

    OK(cuMemAlloc(&memory, 256));
    OK(cuMemFree(memory));
    OK(cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
}

static void launch_with(const char *threads)
{
    setenv("SIMGPU_THREADS", threads, 1);
    context = sim_start(1);
    struct caller caller = {sim_kernel_of(uneven, "uneven"), 2, 200, CUDA_ERROR_UNKNOWN, false};
    run_cancelled(&caller);
    cr_expect_eq(caller.result, CUDA_SUCCESS);
    expect_no_lock_held(caller.function);
}

Test(sim_driver_cancel, waits_for_a_launch_with_helpers, .timeout = 60)
{
    launch_with("4");
}

Test(sim_driver_cancel, waits_for_a_launch_on_one_thread, .timeout = 60)
{
    launch_with("1");
}

/* What a fault says is written to standard error: a cancellation point of its own. */
Test(sim_driver_cancel, waits_for_a_launch_that_fails, .timeout = 60)
{
    CUdeviceptr memory;

    setenv("SIMGPU_THREADS", "1", 1);
    context = sim_start(1);
    struct caller caller = {sim_kernel_of(sim_ptx_faults, "stop"), 1, 1, CUDA_ERROR_UNKNOWN, false};
    sim_capture_stderr();
    run_cancelled(&caller);
    cr_expect_neq(sim_captured_stderr()[0], '\0');
    cr_expect_eq(caller.result, CUDA_SUCCESS);
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
    OK(cuDevicePrimaryCtxReset(0)); /* frees memory: waits for all work */
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuMemAlloc(&memory, 256));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that do not end, or not soon: SIMGPU_TIMEOUT ends them, and what is said of them meanwhile. */
#include <stdlib.h>
#include <string.h>

#include "sim_driver_fixture.h"

TestSuite(sim_driver_endless, .timeout = 120);

static const char kernels[] = SIM_PTX_HEAD
    ".visible .entry empty()\n{\n ret;\n}\n"
    ".visible .entry endless()\n{\nagain:\n bra again;\n}\n"
    ".visible .entry sleeps()\n{\nagain:\n nanosleep.u32 1000;\n bra again;\n}\n"
    /* Block 0 and those behind it wait for a word that nobody writes. */
    ".visible .entry waits(.param .u64 at)\n{\n .reg .pred %p<2>;\n .reg .b32 %r<2>;\n"
    " .reg .b64 %rd<2>;\n ld.param.u64 %rd1, [at];\n"
    "again:\n ld.volatile.global.u32 %r1, [%rd1];\n setp.eq.u32 %p1, %r1, 0;\n @%p1 bra again;\n"
    " ret;\n}\n"
    /* Each block is short, and there are many. */
    ".visible .entry guarded()\n{\n .reg .pred %p<2>;\n .reg .b32 %r<2>;\n"
    " mov.u32 %r1, %ctaid.x;\n setp.ge.u32 %p1, %r1, 10;\n @%p1 bra end;\n"
    "end:\n ret;\n}\n";

static CUresult launch(const char *kernel, unsigned blocks, void **params)
{
    return cuLaunchKernel(sim_kernel_of(kernels, kernel), blocks, 1, 1, 64, 1, 1, 0, NULL, params,
                          NULL);
}

/* As after the watchdog of a device: the launch is accepted, and all that follows fails. */
static void expect_timeout(const char *kernel, unsigned blocks, void **params)
{
    CUdeviceptr memory;
    CUfunction empty = sim_kernel_of(kernels, "empty");

    sim_capture_stderr();
    OK(launch(kernel, blocks, params));
    const char *said = sim_captured_stderr();
    cr_expect_not_null(strstr(said, "timeout: kernel `"), "%s", said);
    cr_expect_not_null(strstr(said, kernel), "%s", said);
    cr_expect_not_null(strstr(said, "SIMGPU_TIMEOUT"), "%s", said);
    FAILS(CUDA_ERROR_LAUNCH_TIMEOUT, cuCtxSynchronize());
    FAILS(CUDA_ERROR_LAUNCH_TIMEOUT, cuCtxSynchronize());
    FAILS(CUDA_ERROR_LAUNCH_TIMEOUT, cuMemAlloc(&memory, 256));
    FAILS(CUDA_ERROR_LAUNCH_TIMEOUT, sim_launch_one(empty, 1, NULL));
}

static void start(const char *threads, const char *timeout)
{
    setenv("SIMGPU_THREADS", threads, 1);
    setenv("SIMGPU_TIMEOUT", timeout, 1);
    sim_start(1);
}

Test(sim_driver_endless, a_loop_ends_with_the_error_of_a_watchdog)
{
    start("1", "0.2");
    expect_timeout("endless", 1, NULL);
}

Test(sim_driver_endless, so_do_all_its_blocks_on_all_threads)
{
    start("4", "0.2");
    expect_timeout("endless", 100, NULL);
}

Test(sim_driver_endless, so_does_a_kernel_that_sleeps)
{
    start("2", "0.2");
    expect_timeout("sleeps", 100, NULL);
}

Test(sim_driver_endless, so_does_one_that_waits_for_the_host)
{
    CUdeviceptr word;

    start("2", "0.2");
    OK(cuMemAlloc(&word, 4));
    OK(cuMemsetD32(word, 0, 1));
    expect_timeout("waits", 100, (void *[]){&word});
}

Test(sim_driver_endless, so_does_a_grid_of_all_blocks_that_there_can_be)
{
    start("2", "0.2");
    expect_timeout("guarded", 2147483647, NULL);
}

Test(sim_driver_endless, another_context_goes_on)
{
    CUcontext other;

    start("1", "0.2");
    expect_timeout("endless", 1, NULL);
    OK(cuCtxCreate(&other, NULL, 0, 0));
    OK(launch("empty", 1, NULL));
    OK(cuCtxSynchronize());
}

Test(sim_driver_endless, a_grid_that_takes_long_is_said_to_before_it_does)
{
    start("1", "2");
    setenv("SIMGPU_NOTICE_S", "3", 1);
    sim_capture_stderr();
    OK(launch("guarded", 2147483647, NULL));
    const char *said = sim_captured_stderr();
    cr_expect_not_null(strstr(said, "kernel guarded still runs: "), "%s", said);
    cr_expect_not_null(strstr(said, " of 2147483647 blocks have begun"), "%s", said);
    cr_expect_not_null(strstr(said, "SIMGPU_TIMEOUT=seconds"), "%s", said);
}

/* No time is read: a device that executed these one by one would come to the test's limit. */
Test(sim_driver_endless, blocks_that_return_at_once_take_no_time)
{
    start("1", "100");
    for (unsigned i = 0; i < 100; i++) {
        OK(launch("empty", 2147483647, NULL));
    }
    OK(cuCtxSynchronize());
}

Test(sim_driver_endless, a_limit_that_is_none_is_named_once)
{
    start("1", "soon");
    sim_capture_stderr();
    OK(launch("empty", 1, NULL));
    OK(launch("empty", 1, NULL));
    const char *said = sim_captured_stderr();
    const char *first = strstr(said, "SIMGPU_TIMEOUT=soon is no number of seconds");
    cr_assert_not_null(first, "%s", said);
    cr_expect_null(strstr(first + 1, "SIMGPU_TIMEOUT"), "%s", said);
}

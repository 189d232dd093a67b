/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that go wrong: when the error is returned, how long it stays, and what is said on stderr. */
#include <string.h>

#include "sim_driver_fixture.h"

static CUresult store_to(CUdeviceptr address)
{
    void *params[] = {&address};
    return sim_launch_one(sim_kernel_of(sim_ptx_faults, "reach"), 1, params);
}

Test(sim_driver_faults, are_reported_by_the_next_call_that_waits_and_all_after_it)
{
    CUdeviceptr memory, other;
    char byte = 1;
    sim_start(1);
    CUfunction reach = sim_kernel_of(sim_ptx_faults, "reach");
    OK(cuMemAlloc(&memory, 256));
    OK(store_to(memory));
    OK(cuCtxSynchronize());
    sim_capture_stderr();
    OK(store_to(memory + 256));
    OK(cuMemAlloc(&other, 256));
    OK(cuMemcpyHtoDAsync(memory, &byte, 1, NULL));
    const char *said = sim_captured_stderr();
    cr_expect_not_null(strstr(said, "gmtrace software device: "), "%s", said);
    cr_expect_not_null(strstr(said, "reach"), "%s", said);
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAlloc(&other, 256));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemFree(memory));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemcpyDtoH(&byte, memory, 1));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, sim_launch_one(reach, 1, (void *[]){&memory}));
}

Test(sim_driver_faults, a_blocking_copy_waits)
{
    CUdeviceptr memory;
    char byte;
    sim_start(1);
    OK(cuMemAlloc(&memory, 256));
    OK(store_to(16));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemcpyDtoH(&byte, memory, 1));
}

Test(sim_driver_faults, nothing_runs_after_one)
{
    CUdeviceptr memory;
    unsigned *value;
    sim_start(1);
    CUfunction reach = sim_kernel_of(sim_ptx_faults, "reach");
    OK(cuMemAllocManaged(&memory, 4, CU_MEM_ATTACH_GLOBAL));
    value = (unsigned *)memory;
    *value = 1;
    OK(store_to(16));
    void *params[] = {&memory};
    OK(sim_launch_one(reach, 1, params));
    OK(cuMemsetD32(memory, 9, 1));
    cr_expect_eq(*value, 1);
}

Test(sim_driver_faults, end_with_the_context)
{
    CUcontext context;
    CUdeviceptr memory;
    sim_start(1);
    OK(store_to(16));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    OK(cuDevicePrimaryCtxReset(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuMemAlloc(&memory, 256));
    OK(store_to(memory));
    OK(cuCtxSynchronize());
}

Test(sim_driver_faults, stay_in_their_context)
{
    CUcontext other;
    CUdeviceptr memory;
    sim_start(1);
    OK(store_to(16));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    OK(cuCtxCreate(&other, NULL, 0, 0));
    OK(cuMemAlloc(&memory, 256));
    OK(store_to(memory));
    OK(cuCtxSynchronize());
    OK(cuCtxDestroy(other));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAlloc(&memory, 256));
}

/* They wait for all work. */
Test(sim_driver_faults, are_returned_by_what_frees)
{
    static char registered[256];
    sim_start(1);
    for (int i = 0; i < 3; i++) {
        CUcontext context;
        CUdeviceptr memory;
        void *locked;
        OK(cuCtxCreate(&context, NULL, 0, 0));
        OK(cuMemAlloc(&memory, 256));
        OK(cuMemHostAlloc(&locked, 256, 0));
        OK(cuMemHostRegister(registered, sizeof registered, 0));
        OK(store_to(16));
        FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, i == 0   ? cuMemFree(memory)
                                          : i == 1 ? cuMemFreeHost(locked)
                                                   : cuMemHostUnregister(registered));
        OK(cuCtxDestroy(context));
    }
}

Test(sim_driver_faults, each_kind_has_its_error)
{
    CUcontext context;
    CUdeviceptr memory;
    CUstream stream;
    sim_start(1);
    OK(cuCtxCreate(&context, NULL, 0, 0));
    OK(cuMemAlloc(&memory, 256));
    OK(store_to(memory + 2));
    OK(cuStreamCreate(&stream, 0));
    FAILS(CUDA_ERROR_MISALIGNED_ADDRESS, cuStreamSynchronize(stream));
    OK(cuCtxDestroy(context));

    OK(cuCtxCreate(&context, NULL, 0, 0));
    OK(sim_launch_one(sim_kernel_of(sim_ptx_faults, "stop"), 1, NULL));
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuStreamQuery(NULL));
    OK(cuCtxDestroy(context));

    OK(cuCtxCreate(&context, NULL, 0, 0));
    sim_capture_stderr();
    OK(sim_launch_one(sim_kernel_of(sim_ptx_faults, "texture"), 1, NULL));
    const char *said = sim_captured_stderr();
    cr_expect_not_null(strstr(said, "tex"), "%s", said);
    FAILS(CUDA_ERROR_ILLEGAL_INSTRUCTION, cuCtxSynchronize());
}

Test(sim_driver_faults, a_wrong_configuration_is_reported_at_once_and_forgotten)
{
    CUdeviceptr memory;
    sim_start(1);
    CUfunction reach = sim_kernel_of(sim_ptx_faults, "reach");
    OK(cuMemAlloc(&memory, 256));
    void *params[] = {&memory};
    FAILS(CUDA_ERROR_INVALID_VALUE, sim_launch_one(reach, 1025, params));
    FAILS(CUDA_ERROR_INVALID_VALUE, sim_launch_one(reach, 0, params));
    OK(sim_launch_one(reach, 1, params));
    OK(cuCtxSynchronize());
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts of the software device's runtime: made without being asked for, reset, shared with peers. */
#include "check.h"

#include <dlfcn.h>

static int (*driver_function(const char *name))(void **)
{
    enum cudaDriverEntryPointQueryResult status;
    void *function = NULL;
    expect_success(cudaGetDriverEntryPointByVersion(name, &function, CUDART_VERSION,
                                                    cudaEnableDefault, &status));
    cr_assert_eq(status, cudaDriverEntryPointSuccess);
    cr_assert_not_null(function);
    return (int (*)(void **))function;
}

Test(contexts, are_made_by_the_first_call_that_needs_one)
{
    int device;
    void *context = NULL;
    expect_success(cudaGetDevice(&device));
    cr_assert_eq(driver_function("cuCtxGetCurrent")(&context), 0);
    cr_assert_null(context, "asking which device is current makes no context");
    expect_success(cudaFree(NULL));
    cr_assert_eq(driver_function("cuCtxGetCurrent")(&context), 0);
    cr_assert_not_null(context);
}

Test(contexts, end_with_a_reset_and_come_back)
{
    void *memory = NULL;
    void *context = &memory;
    size_t free_before, free_after, total;
    expect_success(cudaMemGetInfo(&free_before, &total));
    expect_success(cudaMalloc(&memory, 1 << 20));
    expect_success(cudaDeviceReset());
    expect_success(cudaMemGetInfo(&free_after, &total));
    cr_assert_eq(free_before, free_after, "%zu, %zu", free_before, free_after);
    expect_success(cudaMalloc(&memory, 16));
    expect_success(cudaMemset(memory, 1, 16));
    expect_success(cudaFree(memory));
    cr_assert_eq(driver_function("cuCtxGetCurrent")(&context), 0);
    cr_assert_not_null(context);
}

Test(contexts, clear_the_last_error_when_reset)
{
    expect_error(cudaErrorInvalidValue, cudaMalloc(NULL, 4));
    expect_success(cudaDeviceReset());
    expect_success(cudaGetLastError());
}

Test(contexts, unknown_driver_functions_are_no_error)
{
    enum cudaDriverEntryPointQueryResult status;
    void *function = &status;
    expect_success(cudaGetDriverEntryPointByVersion("cuNoSuchThing", &function, CUDART_VERSION,
                                                    cudaEnableDefault, &status));
    cr_assert_eq(status, cudaDriverEntryPointSymbolNotFound);
    cr_assert_null(function);
    expect_success(cudaGetDriverEntryPointByVersion("cuMemAllocAsync", &function, 10000,
                                                    cudaEnableDefault, &status));
    cr_assert_eq(status, cudaDriverEntryPointVersionNotSufficent);
    expect_error(cudaErrorInvalidValue,
                 cudaGetDriverEntryPointByVersion("cuInit", &function, 99000, 0, NULL));
    expect_error(cudaErrorInvalidValue,
                 cudaGetDriverEntryPointByVersion("cuInit", NULL, CUDART_VERSION, 0, NULL));
}

Test(contexts, see_each_others_memory_when_allowed)
{
    int can = 0;
    setenv("SIMGPU_DEVICES", "2", 1);
    expect_success(cudaDeviceCanAccessPeer(&can, 0, 1));
    cr_assert_eq(can, 1);
    expect_success(cudaDeviceCanAccessPeer(&can, 1, 1));
    cr_assert_eq(can, 0);
    expect_success(cudaDeviceEnablePeerAccess(1, 0));
    expect_error(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(1, 0));
    expect_success(cudaDeviceDisablePeerAccess(1));
    expect_error(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(1));
    expect_error(cudaErrorInvalidValue, cudaDeviceEnablePeerAccess(1, 5));
    expect_error(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(9, 0));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of registered kernels by the software device's runtime, and what is refused. */
#include "program.h"

TestSuite(launches, .init = program_register, .fini = program_unregister);

enum { COUNT = 1000 };
static unsigned result[COUNT];

static void expect_filled(unsigned *device, unsigned value)
{
    expect_success(cudaMemcpy(result, device, sizeof result, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < COUNT; i++) {
        cr_assert_eq(result[i], value, "element %u: %u, not %u", i, result[i], value);
    }
}

Test(launches, reach_every_thread)
{
    unsigned *device;
    expect_success(cudaMalloc((void **)&device, sizeof result));
    expect_success(launch_fill(device, 100, COUNT, 128));
    expect_success(cudaDeviceSynchronize());
    expect_filled(device, 107);
}

Test(launches, outlive_a_reset)
{
    unsigned *device;
    expect_success(cudaMalloc((void **)&device, sizeof result));
    expect_success(launch_fill(device, 1, COUNT, 64));
    expect_success(cudaDeviceReset());
    expect_success(cudaMalloc((void **)&device, sizeof result));
    expect_success(launch_fill(device, 2, COUNT, 64));
    expect_filled(device, 9);
}

Test(launches, by_the_apis_own_names)
{
    unsigned *device, value = 5, count = COUNT;
    cudaKernel_t kernel = NULL;
    cudaFunction_t function = NULL;
    expect_success(cudaMalloc((void **)&device, sizeof result));
    void *args[] = {&device, &value, &count};
    dim3 grid = {8, 1, 1};
    dim3 block = {128, 1, 1};
    expect_success(cudaLaunchKernel(fill_stub, grid, block, args, 0, NULL));
    expect_filled(device, 12);
    expect_success(cudaGetKernel(&kernel, fill_stub));
    expect_success(cudaGetFuncBySymbol(&function, fill_stub));
    cr_assert_not_null(function);
    value = 6;
    expect_success(cudaLaunchKernel((void *)kernel, grid, block, args, 0, NULL));
    expect_filled(device, 13);
    cudaLaunchConfig_t config = {.gridDim = grid, .blockDim = block};
    value = 7;
    expect_success(cudaLaunchKernelExC(&config, fill_stub, args));
    expect_filled(device, 14);
    value = 8;
    expect_success(cudaLaunchCooperativeKernel(fill_stub, grid, block, args, 0, NULL));
    expect_filled(device, 15);
    config.numAttrs = 1;
    expect_error(cudaErrorInvalidValue, cudaLaunchKernelExC(&config, fill_stub, args));
}

Test(launches, keep_their_configurations_apart)
{
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    cr_assert_eq(__cudaPushCallConfiguration((dim3){1, 2, 3}, (dim3){4, 5, 6}, 7, NULL), 0);
    cr_assert_eq(__cudaPushCallConfiguration((dim3){9, 9, 9}, (dim3){8, 8, 8}, 5, NULL), 0);
    expect_success(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    cr_assert_eq(grid.x, 9);
    expect_success(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    cr_assert_eq(grid.z, 3);
    cr_assert_eq(block.y, 5);
    cr_assert_eq(shared, 7);
    expect_error(cudaErrorMissingConfiguration,
                 __cudaPopCallConfiguration(&grid, &block, &shared, &stream));
}

Test(launches, of_impossible_shapes_are_refused)
{
    unsigned *device;
    expect_success(cudaMalloc((void **)&device, sizeof result));
    expect_error(cudaErrorInvalidValue, launch_fill(device, 1, COUNT, 0));
    expect_error(cudaErrorInvalidValue, launch_fill(device, 1, COUNT, 1025));
    dim3 one = {1, 1, 1};
    expect_error(cudaErrorInvalidValue,
                 cudaLaunchKernel(wild_stub, (dim3){1, 65536, 1}, one, NULL, 0, NULL));
    expect_error(cudaErrorInvalidValue,
                 cudaLaunchKernel(wild_stub, one, (dim3){1, 1, 65}, NULL, 0, NULL));
    expect_error(cudaErrorInvalidValue,
                 cudaLaunchKernel(wild_stub, one, (dim3){32, 32, 2}, NULL, 0, NULL));
    expect_error(cudaErrorInvalidValue, cudaLaunchKernel(wild_stub, one, one, NULL, 1 << 20, NULL));
    expect_error(cudaErrorInvalidValue, cudaGetLastError());
    expect_success(launch_fill(device, 1, COUNT, 1024)); /* none of these is for ever */
    expect_filled(device, 8);
}

Test(launches, of_what_is_not_a_kernel_are_refused)
{
    dim3 one = {1, 1, 1};
    char stranger = 0;
    expect_error(cudaErrorInvalidDeviceFunction,
                 cudaLaunchKernel(&stranger, one, one, NULL, 0, NULL));
    expect_error(cudaErrorInvalidDeviceFunction, cudaLaunchKernel(NULL, one, one, NULL, 0, NULL));
    expect_error(cudaErrorInvalidDeviceFunction,
                 cudaLaunchKernel(absent_stub, one, one, NULL, 0, NULL));
    expect_error(cudaErrorInvalidDeviceFunction,
                 cudaLaunchKernel(&d_value, one, one, NULL, 0, NULL));
    for (int i = 0; i < 2; i++) {
        expect_error(cudaErrorNoKernelImageForDevice,
                     cudaLaunchKernel(machine_code_stub, one, one, NULL, 0, NULL));
    }
}

Test(launches, of_unregistered_programs_are_refused)
{
    unsigned *device;
    expect_success(cudaMalloc((void **)&device, sizeof result));
    expect_success(launch_fill(device, 1, COUNT, 128));
    expect_filled(device, 8);
    program_unregister();
    dim3 one = {1, 1, 1};
    expect_error(cudaErrorInvalidDeviceFunction,
                 cudaLaunchKernel(fill_stub, one, one, NULL, 0, NULL));
    program_register();
}

Test(faults, stay_until_the_device_is_reset, .init = program_register)
{
    void *memory = NULL;
    expect_success(launch_wild()); /* found when somebody waits, as on hardware */
    expect_error(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    expect_error(cudaErrorIllegalAddress, cudaMalloc(&memory, 16));
    expect_error(cudaErrorIllegalAddress, cudaPeekAtLastError());
    expect_error(cudaErrorIllegalAddress, cudaGetLastError());
    expect_success(cudaGetLastError());
    expect_error(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    expect_success(cudaDeviceReset());
    expect_success(cudaGetLastError());
    expect_success(cudaMalloc(&memory, 16));
    expect_success(launch_fill(memory, 1, 4, 4));
    expect_success(cudaDeviceSynchronize());
}

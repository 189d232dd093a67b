/* SPDX-License-Identifier: Apache-2.0 */
/* Variables and attributes of kernels that a program registered with the software device's runtime. */
#include "program.h"

TestSuite(symbols, .init = program_register, .fini = program_unregister);

Test(symbols, are_written_and_read)
{
    unsigned value = 0;
    unsigned table[4] = {10, 20, 30, 40};
    unsigned part[2] = {0, 0};
    expect_success(cudaMemcpyFromSymbol(&value, &d_value, 4, 0, cudaMemcpyDeviceToHost));
    cr_assert_eq(value, 7, "the initial value");
    value = 50;
    expect_success(cudaMemcpyToSymbol(&d_value, &value, 4, 0, cudaMemcpyHostToDevice));
    expect_success(cudaMemcpyToSymbolAsync(c_table, table, 16, 0, cudaMemcpyHostToDevice, NULL));
    expect_success(cudaMemcpyFromSymbolAsync(part, c_table, 8, 4, cudaMemcpyDefault, NULL));
    expect_success(cudaDeviceSynchronize());
    cr_assert_eq(part[0], 20);
    cr_assert_eq(part[1], 30);
    unsigned *device, result[8];
    expect_success(cudaMalloc((void **)&device, sizeof result));
    expect_success(launch_fill(device, 1, 8, 8));
    expect_success(cudaMemcpy(result, device, sizeof result, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < 8; i++) {
        cr_assert_eq(result[i], 51 + table[i % 4]);
    }
}

Test(symbols, have_an_address_and_a_size)
{
    unsigned *address = NULL;
    size_t bytes = 0;
    unsigned value = 0;
    expect_success(cudaGetSymbolAddress((void **)&address, &d_value));
    expect_success(cudaMemcpy(&value, address, 4, cudaMemcpyDeviceToHost));
    cr_assert_eq(value, 7);
    expect_success(cudaGetSymbolSize(&bytes, c_table));
    cr_assert_eq(bytes, 16);
    expect_error(cudaErrorInvalidSymbol, cudaGetSymbolSize(&bytes, "no symbol"));
    expect_error(cudaErrorInvalidSymbol, cudaGetSymbolAddress((void **)&address, fill_stub));
    expect_error(cudaErrorInvalidSymbol, cudaGetSymbolAddress((void **)&address, NULL));
    expect_error(cudaErrorInvalidValue, cudaGetSymbolSize(NULL, c_table));
}

Test(symbols, are_not_written_beyond_their_end)
{
    unsigned table[5] = {0};
    expect_error(cudaErrorInvalidValue,
                 cudaMemcpyToSymbol(c_table, table, 20, 0, cudaMemcpyHostToDevice));
    expect_error(cudaErrorInvalidValue,
                 cudaMemcpyToSymbol(c_table, table, 4, 16, cudaMemcpyHostToDevice));
    expect_error(cudaErrorInvalidValue,
                 cudaMemcpyFromSymbol(table, c_table, 4, SIZE_MAX, cudaMemcpyDeviceToHost));
    expect_error(cudaErrorInvalidMemcpyDirection,
                 cudaMemcpyToSymbol(c_table, table, 4, 0, cudaMemcpyDeviceToHost));
    expect_error(cudaErrorInvalidMemcpyDirection,
                 cudaMemcpyFromSymbol(table, c_table, 4, 0, cudaMemcpyHostToDevice));
}

Test(symbols, are_each_devices_own)
{
    unsigned value = 99;
    setenv("SIMGPU_DEVICES", "2", 1);
    expect_success(cudaMemcpyToSymbol(&d_value, &value, 4, 0, cudaMemcpyHostToDevice));
    expect_success(cudaSetDevice(1));
    expect_success(cudaMemcpyFromSymbol(&value, &d_value, 4, 0, cudaMemcpyDeviceToHost));
    cr_assert_eq(value, 7);
    expect_success(cudaSetDevice(0));
    expect_success(cudaMemcpyFromSymbol(&value, &d_value, 4, 0, cudaMemcpyDeviceToHost));
    cr_assert_eq(value, 99);
}

Test(symbols, that_are_managed_belong_to_both_sides)
{
    cr_assert_null(m_value);
    cr_assert(program_touch_managed());
    cr_assert_not_null(m_value);
    cr_assert_eq(*m_value, 3);
    void *device, *address = NULL;
    expect_success(cudaMalloc(&device, 16));
    expect_success(launch_fill(device, 77, 4, 4));
    expect_success(cudaDeviceSynchronize());
    cr_assert_eq(*m_value, 77);
    expect_success(cudaGetSymbolAddress(&address, m_value));
    cr_assert_eq(address, m_value);
    struct cudaPointerAttributes attributes;
    expect_success(cudaPointerGetAttributes(&attributes, m_value));
    cr_assert_eq(attributes.type, cudaMemoryTypeManaged);
}

Test(kernels, have_attributes, .init = program_register)
{
    struct cudaFuncAttributes attributes;
    const char *name = NULL;
    size_t offset = 0, bytes = 0;
    expect_success(cudaFuncGetAttributes(&attributes, fill_stub));
    cr_assert_eq(attributes.maxThreadsPerBlock, 1024);
    cr_assert_eq(attributes.sharedSizeBytes, 0);
    cr_assert_eq(attributes.constSizeBytes, 16);
    cr_assert_eq(attributes.maxDynamicSharedSizeBytes, 49152);
    expect_success(
        cudaFuncSetAttribute(fill_stub, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    expect_success(cudaFuncGetAttributes(&attributes, fill_stub));
    cr_assert_eq(attributes.maxDynamicSharedSizeBytes, 100000);
    expect_error(
        cudaErrorInvalidValue,
        cudaFuncSetAttribute(fill_stub, cudaFuncAttributeMaxDynamicSharedMemorySize, 300000));
    expect_error(cudaErrorInvalidValue,
                 cudaFuncSetAttribute(fill_stub, (enum cudaFuncAttribute)1, 0));
    expect_success(cudaFuncGetName(&name, fill_stub));
    cr_assert_str_eq(name, "fill");
    expect_success(cudaFuncGetParamInfo(fill_stub, 2, &offset, &bytes));
    cr_assert_eq(offset, 12);
    cr_assert_eq(bytes, 4);
    expect_error(cudaErrorInvalidValue, cudaFuncGetParamInfo(fill_stub, 3, &offset, &bytes));
    expect_success(cudaFuncSetCacheConfig(fill_stub, cudaFuncCachePreferL1));
    expect_error(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&attributes, &name));
}

Test(kernels, have_an_occupancy, .init = program_register)
{
    int blocks = 0;
    size_t bytes = 0;
    expect_success(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill_stub, 256, 0));
    cr_assert_eq(blocks, 8, "2048 threads in blocks of 256");
    expect_success(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill_stub, 128, 48 << 10));
    cr_assert_eq(blocks, 4, "228 KiB in parts of 48 and 1 KiB");
    expect_success(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, fill_stub, 2, 128));
    cr_assert_eq(bytes, 48 << 10, "%zu: no more without opting in", bytes);
    expect_success(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, fill_stub, 8, 128));
    cr_assert_leq(bytes, (228 << 10) / 8, "%zu: an eighth of 228 KiB", bytes);
    cr_assert_geq(bytes, (228 << 10) / 8 - 1024, "%zu: less the 1 KiB of each block", bytes);
    expect_error(cudaErrorInvalidValue,
                 cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill_stub, 0, 0));
}

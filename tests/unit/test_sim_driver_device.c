/* SPDX-License-Identifier: Apache-2.0 */
/* What the software device says of itself, and how its entry points are found. */
#include <stdlib.h>
#include <string.h>

#include "sim_driver_fixture.h"

static int attribute(CUdevice_attribute which)
{
    int value = -12345;
    OK(cuDeviceGetAttribute(&value, which, 0));
    return value;
}

Test(sim_driver_device, has_the_limits_of_a_gh100)
{
    sim_start(1);
    cr_expect_eq(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 9);
    cr_expect_eq(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR), 0);
    cr_expect_eq(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 132);
    cr_expect_eq(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR), 2048);
    cr_expect_eq(attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR), 65536);
    cr_expect_eq(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR), 228 << 10);
    cr_expect_eq(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN), 227 << 10);
    cr_expect_eq(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK), 48 << 10);
    cr_expect_eq(attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK), 1 << 10);
    cr_expect_eq(attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE), 50 << 20);
}

Test(sim_driver_device, lacks_what_it_says_it_lacks)
{
    sim_start(1);
    cr_expect_eq(attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH), 0);
    cr_expect_eq(attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH), 0);
    cr_expect_eq(attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH), 0);
    cr_expect_eq(attribute(CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED), 0);
    cr_expect_eq(attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED), 1);
    cr_expect_eq(attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED), 1);
    cr_expect_eq(attribute(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY), 1);
    for (int i = 1; i < CU_DEVICE_ATTRIBUTE_MAX; i++) {
        cr_expect_neq(attribute((CUdevice_attribute)i), -12345, "attribute %d", i);
    }
    int value;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX, 0));
    FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetAttribute(&value, 1, 1));
}

Test(sim_driver_device, each_of_several_has_an_identity)
{
    char name[64], bus[32];
    CUuuid first, second;
    CUdevice found;
    int count;
    sim_start(3);
    OK(cuDeviceGetCount(&count));
    cr_expect_eq(count, 3);
    OK(cuDeviceGetName(name, sizeof name, 2));
    cr_expect_str_eq(name, "gmtrace software device");
    OK(cuDeviceGetUuid(&first, 1));
    OK(cuDeviceGetUuid(&second, 2));
    cr_expect_neq(memcmp(&first, &second, sizeof first), 0);
    OK(cuDeviceGetPCIBusId(bus, sizeof bus, 2));
    OK(cuDeviceGetByPCIBusId(&found, bus));
    cr_expect_eq(found, 2);
    FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&found, 3));
}

Test(sim_driver_device, none_is_no_device)
{
    setenv("SIMGPU_DEVICES", "0", 1);
    FAILS(CUDA_ERROR_NO_DEVICE, cuInit(0));
}

Test(sim_driver_device, as_much_memory_as_asked)
{
    size_t bytes, free_bytes;
    CUdeviceptr memory;
    setenv("SIMGPU_MEMORY_MB", "64", 1);
    sim_start(1);
    OK(cuDeviceTotalMem(&bytes, 0));
    cr_expect_eq(bytes, (size_t)64 << 20);
    OK(cuMemAlloc(&memory, (size_t)40 << 20));
    OK(cuMemGetInfo(&free_bytes, &bytes));
    cr_expect_eq(free_bytes, (size_t)24 << 20);
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&memory, (size_t)25 << 20));
}

Test(sim_driver_device, names_every_error)
{
    const char *name, *text;
    OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &name));
    OK(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    cr_expect_str_eq(name, "CUDA_ERROR_ILLEGAL_ADDRESS");
    cr_expect_str_eq(text, "an illegal memory access was encountered");
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGetErrorName((CUresult)12345, &name));
    cr_expect_null(name);
}

/* ---- entry points ---- */

static void *entry(const char *name, int version, cuuint64_t flags)
{
    void *function = NULL;
    (void)cuGetProcAddress(name, &function, version, flags, NULL);
    return function;
}

Test(sim_driver_device, finds_functions_by_version_and_kind_of_stream)
{
    CUdriverProcAddressQueryResult status;
    void *function;
    cr_expect_eq(entry("cuMemAlloc", 13000, 0), (void *)cuMemAlloc);
    cr_expect_neq(entry("cuMemAlloc", 2000, 0), (void *)cuMemAlloc);
    cr_expect_neq(entry("cuMemcpyAsync", 13000, 2), entry("cuMemcpyAsync", 13000, 0));
    cr_expect_eq(entry("cuMemAlloc", 13000, 2), (void *)cuMemAlloc);
    FAILS(CUDA_ERROR_NOT_FOUND, cuGetProcAddress("cuNoSuch", &function, 13000, 0, &status));
    cr_expect_eq(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    FAILS(CUDA_ERROR_NOT_FOUND, cuGetProcAddress("cuMemcpyAsync", &function, 3000, 0, &status));
    cr_expect_eq(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
}

Test(sim_driver_device, what_it_lacks_says_so_once)
{
    CUtexObject texture;
    sim_start(1);
    cr_expect_eq(entry("cuTexObjectCreate", 13000, 0), (void *)cuTexObjectCreate);
    sim_capture_stderr();
    FAILS(CUDA_ERROR_NOT_SUPPORTED, cuTexObjectCreate(&texture, NULL, NULL, NULL));
    FAILS(CUDA_ERROR_NOT_SUPPORTED, cuTexObjectCreate(&texture, NULL, NULL, NULL));
    cr_expect_str_eq(sim_captured_stderr(),
                     "gmtrace software device: cuTexObjectCreate is not supported\n");
}

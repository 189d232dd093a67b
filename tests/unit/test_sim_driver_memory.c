/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations of every kind, what queries say of them, and how many there can be. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim_driver_fixture.h"

static unsigned type_of(CUdeviceptr address)
{
    CUmemorytype type = (CUmemorytype)0;
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
    return type;
}

Test(sim_driver_memory, pointers_say_what_they_are)
{
    CUdeviceptr device, managed, base;
    void *pinned;
    size_t bytes;
    bool is_managed;
    sim_start(1);
    OK(cuMemAlloc(&device, 1000));
    OK(cuMemAllocManaged(&managed, 1000, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemHostAlloc(&pinned, 1000, CU_MEMHOSTALLOC_PORTABLE));
    cr_expect_eq(type_of(device + 999), CU_MEMORYTYPE_DEVICE);
    cr_expect_eq(type_of(managed), CU_MEMORYTYPE_DEVICE);
    cr_expect_eq(type_of((CUdeviceptr)pinned), CU_MEMORYTYPE_HOST);
    OK(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed));
    cr_expect(is_managed);
    OK(cuMemGetAddressRange(&base, &bytes, device + 500));
    cr_expect_eq(base, device);
    cr_expect_eq(bytes, 1000);
    FAILS(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&base, &bytes, device + 1000));
}

Test(sim_driver_memory, an_unknown_pointer_is_no_error_in_a_list)
{
    int ordinal = 7, on_stack;
    CUmemorytype type = CU_MEMORYTYPE_ARRAY;
    CUpointer_attribute what[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *where[] = {&type, &ordinal};
    sim_start(1);
    OK(cuPointerGetAttributes(2, what, where, (CUdeviceptr)&on_stack));
    cr_expect_eq((int)type, 0);
    cr_expect_eq(ordinal, CU_DEVICE_INVALID);
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)&on_stack));
}

Test(sim_driver_memory, kernels_and_host_share_managed_and_page_locked_memory)
{
    CUdeviceptr managed, mapped;
    void *pinned;
    unsigned value = 40;
    sim_start(1);
    CUfunction fill = sim_kernel_of(sim_ptx_fill, "fill");
    OK(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemHostAlloc(&pinned, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    OK(cuMemHostGetDevicePointer(&mapped, pinned, 0));
    OK(sim_launch_one(fill, 16, (void *[]){&managed, &value}));
    OK(sim_launch_one(fill, 16, (void *[]){&mapped, &value}));
    OK(cuCtxSynchronize());
    cr_expect_eq(((unsigned *)managed)[15], 55);
    cr_expect_eq(((unsigned *)pinned)[3], 43);
}

Test(sim_driver_memory, registered_memory_is_for_kernels_too_until_it_is_not)
{
    static unsigned host[16];
    CUdeviceptr mapped = (CUdeviceptr)host;
    unsigned value = 1;
    sim_start(1);
    CUfunction fill = sim_kernel_of(sim_ptx_fill, "fill");
    OK(cuMemHostRegister(host, sizeof host, 0));
    FAILS(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(host + 4, 16, 0));
    OK(sim_launch_one(fill, 16, (void *[]){&mapped, &value}));
    OK(cuCtxSynchronize());
    cr_expect_eq(host[15], 16);
    OK(cuMemHostUnregister(host));
    OK(sim_launch_one(fill, 16, (void *[]){&mapped, &value}));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
}

Test(sim_driver_memory, advice_is_remembered)
{
    CUdeviceptr managed, device;
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    int value;
    sim_start(1);
    OK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemAlloc(&device, 4096));
    OK(cuMemAdvise(managed, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here));
    OK(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, managed, 4096));
    cr_expect_eq(value, 0);
    OK(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, managed,
                              4096));
    cr_expect_eq(value, CU_DEVICE_INVALID);
    OK(cuMemPrefetchAsync(managed, 4096, here, 0, NULL));
    OK(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, managed,
                              4096));
    cr_expect_eq(value, 0);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPrefetchAsync(device, 4096, here, 0, NULL));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPrefetchAsync(managed, 4097, here, 0, NULL));
    here.id = 1;
    FAILS(CUDA_ERROR_INVALID_DEVICE, cuMemPrefetchAsync(managed, 4096, here, 0, NULL));
}

/* Frees them in another order than they were made in; a second would do for a thousand times less. */
Test(sim_driver_memory, a_hundred_thousand_allocations, .timeout = 60)
{
    enum { COUNT = 100000, STEP = 7919 };
    static CUdeviceptr all[COUNT];
    CUdeviceptr base;
    size_t before, after, total;
    unsigned value = 5;
    sim_start(1);
    OK(cuMemGetInfo(&before, &total));
    for (int i = 0; i < COUNT; i++) {
        OK(cuMemAlloc(&all[i], 256 + (size_t)i % 3));
    }
    CUfunction fill = sim_kernel_of(sim_ptx_fill, "fill");
    OK(sim_launch_one(fill, 32, (void *[]){&all[COUNT / 2], &value}));
    OK(cuCtxSynchronize());
    for (int i = 0; i < COUNT; i++) {
        CUdeviceptr address = all[(long)i * STEP % COUNT];
        OK(cuMemGetAddressRange(&base, NULL, address + 255));
        cr_assert_eq(base, address);
        OK(cuMemFree(address));
    }
    OK(cuMemGetInfo(&after, &total));
    cr_expect_eq(before, after);
}

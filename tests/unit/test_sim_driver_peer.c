/* SPDX-License-Identifier: Apache-2.0 */
/* Two devices and their pools: whose kernels may touch whose memory, and copies between them. */
#include <unistd.h>

#include "sim_driver_fixture.h"

static CUcontext first, second;

static void start(void)
{
    first = sim_start(2);
    OK(cuDevicePrimaryCtxRetain(&second, 1));
}

/* A kernel of the current context stores to `address`; the result of waiting for it. */
static CUresult touch(CUdeviceptr address)
{
    unsigned value = 3;
    OK(sim_launch_one(sim_kernel_of(sim_ptx_fill, "fill"), 1, (void *[]){&address, &value}));
    return cuCtxSynchronize();
}

Test(sim_driver_peer, memory_of_another_device_is_out_of_reach)
{
    CUdeviceptr memory;
    start();
    OK(cuMemAlloc(&memory, 256));
    OK(cuCtxSetCurrent(second));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, touch(memory));
}

Test(sim_driver_peer, until_access_is_enabled)
{
    CUdeviceptr memory;
    unsigned value;
    int can;
    start();
    OK(cuDeviceCanAccessPeer(&can, 0, 1));
    cr_expect_eq(can, 1);
    OK(cuMemAlloc(&memory, 256));
    OK(cuCtxSetCurrent(second));
    OK(cuCtxEnablePeerAccess(first, 0));
    FAILS(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(first, 0));
    OK(touch(memory));
    OK(cuMemcpyDtoH(&value, memory, sizeof value));
    cr_expect_eq(value, 3);
    OK(cuCtxDisablePeerAccess(first));
    FAILS(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(first));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxEnablePeerAccess(second, 0));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, touch(memory));
}

Test(sim_driver_peer, access_has_a_direction)
{
    CUdeviceptr memory;
    start();
    OK(cuCtxEnablePeerAccess(second, 0));
    OK(cuMemAlloc(&memory, 256));
    OK(cuCtxSetCurrent(second));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, touch(memory));
}

Test(sim_driver_peer, managed_memory_is_everybodys)
{
    CUdeviceptr memory;
    start();
    OK(cuMemAllocManaged(&memory, 256, CU_MEM_ATTACH_GLOBAL));
    OK(touch(memory));
    OK(cuCtxSetCurrent(second));
    OK(touch(memory));
}

Test(sim_driver_peer, copies_need_no_access)
{
    CUdeviceptr here, there;
    unsigned value = 77;
    start();
    OK(cuMemAlloc(&here, 4));
    OK(cuMemcpyHtoD(here, &value, 4));
    OK(cuCtxSetCurrent(second));
    OK(cuMemAlloc(&there, 4));
    OK(cuMemcpyPeer(there, second, here, first, 4));
    value = 0;
    OK(cuMemcpyDtoH(&value, there, 4));
    cr_expect_eq(value, 77);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyPeer(there, second, here, first, 5));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuMemcpyPeer(there, NULL, here, first, 4));
}

/* ---- pools ---- */

static cuuint64_t in_use(CUmemoryPool pool)
{
    cuuint64_t bytes;
    OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &bytes));
    return bytes;
}

Test(sim_driver_peer, pools_count_and_have_access_of_their_own)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
                            .maxSize = 8192};
    CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1},
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemoryPool pool;
    CUdeviceptr memory, more;
    start();
    OK(cuMemPoolCreate(&pool, &props));
    OK(cuMemAllocFromPoolAsync(&memory, 4096, pool, NULL));
    cr_expect_eq(in_use(pool), 4096);
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocFromPoolAsync(&more, 4097, pool, NULL));
    OK(cuMemPoolSetAccess(pool, &access, 1));
    OK(cuCtxSetCurrent(second));
    OK(touch(memory));
    OK(cuCtxSetCurrent(first));
    OK(cuMemPoolDestroy(pool));
    OK(touch(memory));
    OK(cuMemFreeAsync(memory, NULL));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(pool));
}

Test(sim_driver_peer, allocations_in_stream_order_come_from_the_devices_pool)
{
    CUmemoryPool standard, current;
    CUdeviceptr memory;
    start();
    OK(cuDeviceGetDefaultMemPool(&standard, 0));
    OK(cuDeviceGetMemPool(&current, 0));
    cr_expect_eq(standard, current);
    OK(cuMemAllocAsync(&memory, 1000, NULL));
    cr_expect_eq(in_use(standard), 1000);
    OK(cuMemFree(memory));
    cr_expect_eq(in_use(standard), 0);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(standard));
}

/* ---- pools that are shared ---- */

static CUmemoryPool shareable_pool(int *descriptor)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1}};
    CUmemoryPool pool;
    OK(cuMemPoolCreate(&pool, &props));
    OK(cuMemPoolExportToShareableHandle(descriptor, pool, props.handleTypes, 0));
    return pool;
}

Test(sim_driver_peer, shared_pools_have_one_memory_at_two_addresses)
{
    CUmemPoolPtrExportData data;
    CUmemoryPool pool, imported;
    CUdeviceptr memory, there;
    unsigned value = 77;
    int descriptor;
    start();
    OK(cuCtxSetCurrent(second));
    pool = shareable_pool(&descriptor);
    OK(cuMemAllocFromPoolAsync(&memory, 5000, pool, NULL));
    OK(cuMemAllocFromPoolAsync(&there, 5000, pool, NULL)); /* another place in the pool */
    OK(cuMemFree(memory));
    memory = there;
    OK(cuMemPoolExportPointer(&data, memory));
    OK(cuMemPoolImportFromShareableHandle(&imported, (void *)(intptr_t)descriptor,
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    cr_expect_eq(close(descriptor), 0);
    OK(cuMemPoolImportPointer(&there, imported, &data));
    cr_expect_neq(there, memory);
    OK(cuMemcpyHtoD(memory, &value, sizeof value));
    value = 0;
    OK(cuMemcpyDtoH(&value, there, sizeof value));
    cr_expect_eq(value, 77);
    OK(touch(there));
    OK(cuMemcpyDtoH(&value, memory, sizeof value));
    cr_expect_eq(value, 3);
    OK(cuMemFree(there));
    OK(cuMemPoolDestroy(imported));
    OK(cuMemcpyDtoH(&value, memory, sizeof value));
    OK(cuMemFree(memory));
    OK(cuMemPoolDestroy(pool));
}

Test(sim_driver_peer, shared_pools_give_nothing_that_is_not_theirs)
{
    const CUmemAllocationHandleType type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmemPoolPtrExportData data, damaged;
    CUmemoryPool pool, other, imported;
    CUdeviceptr memory, plain, there;
    int descriptor, others;
    start();
    OK(cuCtxSetCurrent(second));
    pool = shareable_pool(&descriptor);
    other = shareable_pool(&others);
    OK(cuMemAllocFromPoolAsync(&memory, 8192, pool, NULL));
    OK(cuMemAllocAsync(&plain, 64, NULL));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPoolExportPointer(&data, plain));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPoolExportPointer(&data, memory + 8));
    OK(cuMemPoolExportPointer(&data, memory));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPoolImportPointer(&there, pool, &data));
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuMemPoolImportFromShareableHandle(&imported, (void *)(intptr_t)2, type, 0));
    OK(cuMemPoolImportFromShareableHandle(&imported, (void *)(intptr_t)others, type, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPoolImportPointer(&there, imported, &data));
    OK(cuMemPoolDestroy(imported));
    OK(cuMemPoolImportFromShareableHandle(&imported, (void *)(intptr_t)descriptor, type, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAllocFromPoolAsync(&there, 64, imported, NULL));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPoolExportToShareableHandle(&others, imported, type, 0));
    for (unsigned i = 0; i < 32; i++) { /* whatever is in there: no, or memory that can be read */
        char value;
        damaged = data;
        damaged.reserved[i] ^= 0x80;
        if (cuMemPoolImportPointer(&there, imported, &damaged) == CUDA_SUCCESS) {
            OK(cuMemcpyDtoH(&value, there, 1));
            OK(cuMemFree(there));
        }
    }
    OK(cuMemPoolImportPointer(&there, imported, &data));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPoolExportPointer(&data, there));
    OK(cuMemPoolDestroy(imported));
    OK(cuMemFree(there));
    OK(cuMemPoolDestroy(other));
}

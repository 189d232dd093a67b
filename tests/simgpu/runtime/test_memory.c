/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the software device's runtime: every kind of allocation, and what pointers point to. */
#include "check.h"

Test(memory, is_allocated_and_freed_once)
{
    char *memory = NULL;
    expect_success(cudaMalloc((void **)&memory, 1000));
    cr_assert_not_null(memory);
    expect_success(cudaFree(memory));
    expect_error(cudaErrorInvalidValue, cudaFree(memory));
    expect_success(cudaFree(NULL));
    int on_the_stack;
    expect_error(cudaErrorInvalidValue, cudaFree(&on_the_stack));
}

Test(memory, of_no_size_is_no_memory)
{
    void *memory = &memory;
    expect_success(cudaMalloc(&memory, 0));
    cr_assert_null(memory);
    memory = &memory;
    expect_success(cudaMallocHost(&memory, 0));
    cr_assert_null(memory);
    expect_error(cudaErrorInvalidValue, cudaMallocManaged(&memory, 0, cudaMemAttachGlobal));
}

Test(memory, comes_with_a_pitch)
{
    char *memory = NULL;
    size_t pitch = 0;
    expect_success(cudaMallocPitch((void **)&memory, &pitch, 1001, 7));
    cr_assert_geq(pitch, 1001);
    cr_assert_eq(pitch % 256, 0);
    expect_success(cudaMemset2D(memory, pitch, 3, 1001, 7));
    expect_success(cudaFree(memory));
    struct cudaPitchedPtr box;
    expect_success(cudaMalloc3D(&box, (struct cudaExtent){100, 5, 4}));
    cr_assert_eq(box.xsize, 100);
    cr_assert_eq(box.ysize, 5);
    cr_assert_geq(box.pitch, 100);
    expect_success(cudaMemset3D(box, 9, (struct cudaExtent){100, 5, 4}));
    unsigned char last = 0;
    char *end = (char *)box.ptr + (size_t)(5 * 4 - 1) * box.pitch + 99;
    expect_success(cudaMemcpy(&last, end, 1, cudaMemcpyDeviceToHost));
    cr_assert_eq(last, 9);
    expect_success(cudaFree(box.ptr));
    expect_error(cudaErrorInvalidValue, cudaMallocPitch((void **)&memory, NULL, 16, 16));
}

static void expect_pointer(const void *pointer, enum cudaMemoryType type, bool on_device,
                           bool on_host)
{
    struct cudaPointerAttributes attributes;
    expect_success(cudaPointerGetAttributes(&attributes, pointer));
    cr_assert_eq(attributes.type, type, "type %d, not %d", attributes.type, type);
    cr_assert_eq(attributes.devicePointer != NULL, on_device, "type %d", type);
    cr_assert_eq(attributes.hostPointer != NULL, on_host, "type %d", type);
    cr_assert_eq(attributes.device, type == cudaMemoryTypeUnregistered ? -2 : 0);
}

Test(memory, is_distinguished_from_other_memory)
{
    void *device, *pinned, *managed;
    static char plain[8192];
    expect_success(cudaMalloc(&device, 64));
    expect_success(cudaHostAlloc(&pinned, 64, cudaHostAllocMapped));
    expect_success(cudaMallocManaged(&managed, 64, cudaMemAttachGlobal));
    expect_pointer(device, cudaMemoryTypeDevice, true, false);
    expect_pointer((char *)device + 63, cudaMemoryTypeDevice, true, false);
    expect_pointer(pinned, cudaMemoryTypeHost, true, true);
    expect_pointer(managed, cudaMemoryTypeManaged, true, true);
    expect_pointer(plain, cudaMemoryTypeUnregistered, false, true);
    expect_success(cudaHostRegister(plain, sizeof plain, cudaHostRegisterDefault));
    expect_pointer(plain, cudaMemoryTypeHost, true, true);
    expect_error(cudaErrorHostMemoryAlreadyRegistered,
                 cudaHostRegister(plain, sizeof plain, cudaHostRegisterDefault));
    expect_success(cudaHostUnregister(plain));
    expect_error(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(plain));
    expect_error(cudaErrorInvalidValue, cudaPointerGetAttributes(NULL, device));
    expect_success(cudaFree(device));
    expect_success(cudaFreeHost(pinned));
    expect_success(cudaFree(managed));
}

Test(memory, of_the_host_is_mapped)
{
    char *pinned = NULL;
    char *seen = NULL;
    unsigned flags = 0;
    expect_success(cudaHostAlloc((void **)&pinned, 64, cudaHostAllocMapped));
    expect_success(cudaHostGetDevicePointer((void **)&seen, pinned, 0));
    cr_assert_eq(seen, pinned, "addresses are unified");
    expect_success(cudaHostGetFlags(&flags, pinned));
    cr_assert(flags & cudaHostAllocMapped);
    expect_success(cudaFreeHost(pinned));
    expect_error(cudaErrorInvalidValue, cudaFreeHost(pinned));
    expect_success(cudaFreeHost(NULL));
}

Test(memory, is_counted)
{
    size_t before, during, total;
    void *memory;
    expect_success(cudaMemGetInfo(&before, &total));
    expect_success(cudaMalloc(&memory, 4 << 20));
    expect_success(cudaMemGetInfo(&during, NULL));
    cr_assert_geq(before - during, 4 << 20);
    cr_assert_geq(total, before);
    expect_success(cudaFree(memory));
}

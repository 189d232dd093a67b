/* SPDX-License-Identifier: Apache-2.0 */
/* Scenario `basic`: every intercepted family once, results printed so that runs can be compared. */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 8
#define WIDTH 96
#define BYTES ((size_t)4096)

static unsigned char host[BYTES], back[BYTES];

static void show(const char *what, size_t bytes)
{
    printf("%s %08x\n", what, client_checksum(back, bytes));
    memset(back, 0, sizeof back);
}

static void copies_linear(CUcontext context, CUstream stream)
{
    CUdeviceptr a, b;
    CHECK(cu.cuMemAlloc(&a, BYTES));
    CHECK(cu.cuMemAlloc(&b, BYTES));
    CHECK(cu.cuMemcpyHtoD(a, host, BYTES));
    CHECK(cu.cuMemcpyDtoD(b, a, BYTES));
    CHECK(cu.cuMemcpyDtoH(back, b, BYTES));
    show("linear", BYTES);
    CHECK(cu.cuMemcpyHtoDAsync(a, host + 1, BYTES - 1, stream));
    CHECK(cu.cuMemcpyDtoDAsync(b, a, BYTES, stream));
    CHECK(cu.cuMemcpyDtoHAsync(back, b, BYTES, stream));
    CHECK(cu.cuStreamSynchronize(stream));
    show("async", BYTES);
    CHECK(cu.cuMemcpy((CUdeviceptr)back, a, 100));
    CHECK(cu.cuMemcpyAsync(b, (CUdeviceptr)host, 200, stream));
    CHECK(cu.cuMemcpyPeer(a, context, b, context, 300));
    CHECK(cu.cuMemcpyPeerAsync(b, context, a, context, 400, stream));
    CHECK(cu.cuStreamSynchronize(stream));
    CHECK(cu.cuMemcpyDtoH(back + 100, b, BYTES - 100));
    show("unified and peer", BYTES);

    CUdeviceptr dsts[3] = {a, a + 512, (CUdeviceptr)back};
    CUdeviceptr srcs[3] = {(CUdeviceptr)host, b, a};
    size_t sizes[3] = {64, 128, 1024}, index = 0;
    CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    CHECK(cu.cuMemcpyBatchAsync(dsts, srcs, sizes, 3, &attributes, &index, 1, stream));
    CHECK(cu.cuStreamSynchronize(stream));
    show("batch", 1024);
    CHECK(cu.cuMemFree(a));
    CHECK(cu.cuMemFree(b));
}

static void copies_pitched(CUcontext context, CUstream stream)
{
    CUdeviceptr image;
    size_t pitch;
    CHECK(cu.cuMemAllocPitch(&image, &pitch, WIDTH, ROWS, 4));
    CUDA_MEMCPY2D up = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = host,
                        .srcPitch = WIDTH,
                        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                        .dstDevice = image,
                        .dstPitch = pitch,
                        .WidthInBytes = WIDTH,
                        .Height = ROWS};
    CUDA_MEMCPY2D down = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = image,
                          .srcPitch = pitch,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = back,
                          .dstPitch = WIDTH,
                          .WidthInBytes = WIDTH,
                          .Height = ROWS};
    CHECK(cu.cuMemcpy2D(&up));
    CHECK(cu.cuMemcpy2DUnaligned(&down));
    show("2d", (size_t)WIDTH * ROWS);
    CHECK(cu.cuMemcpy2DAsync(&up, stream));
    CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                         .srcDevice = image,
                         .srcPitch = pitch,
                         .srcHeight = ROWS / 2,
                         .dstMemoryType = CU_MEMORYTYPE_HOST,
                         .dstHost = back,
                         .dstPitch = WIDTH,
                         .dstHeight = ROWS / 2,
                         .WidthInBytes = WIDTH - 8,
                         .Height = ROWS / 2,
                         .Depth = 2};
    CHECK(cu.cuMemcpy3D(&box));
    CHECK(cu.cuMemcpy3DAsync(&box, stream));
    CUDA_MEMCPY3D_PEER peer = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                               .srcDevice = image,
                               .srcContext = context,
                               .srcPitch = pitch,
                               .srcHeight = ROWS,
                               .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                               .dstDevice = image,
                               .dstContext = context,
                               .dstXInBytes = 16,
                               .dstPitch = pitch,
                               .dstHeight = ROWS,
                               .WidthInBytes = 16,
                               .Height = ROWS,
                               .Depth = 1};
    CHECK(cu.cuMemcpy3DPeer(&peer));
    CHECK(cu.cuMemcpy3DPeerAsync(&peer, stream));
    CHECK(cu.cuStreamSynchronize(stream));
    show("3d", (size_t)WIDTH * ROWS);
    CHECK(cu.cuMemFree(image));
}

static void copies_array(CUstream stream)
{
    CUarray a, b;
    CUdeviceptr flat;
    CUDA_ARRAY_DESCRIPTOR shape = {
        .Width = 64, .Height = 4, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CHECK(cu.cuArrayCreate(&a, &shape));
    CHECK(cu.cuArrayCreate(&b, &shape));
    CHECK(cu.cuMemAlloc(&flat, 1024));
    CHECK(cu.cuMemcpyHtoA(a, 0, host, 256));
    CHECK(cu.cuMemcpyHtoAAsync(a, 0, host, 128, stream));
    CHECK(cu.cuMemcpyAtoA(b, 0, a, 0, 256));
    CHECK(cu.cuMemcpyAtoD(flat, b, 0, 256));
    CHECK(cu.cuMemcpyDtoA(b, 0, flat, 192));
    CHECK(cu.cuMemcpyAtoH(back, b, 0, 256));
    CHECK(cu.cuMemcpyAtoHAsync(back + 256, a, 0, 64, stream));
    CHECK(cu.cuStreamSynchronize(stream));
    show("array", 320);
    CHECK(cu.cuMemFree(flat));
    CHECK(cu.cuArrayDestroy(a));
    CHECK(cu.cuArrayDestroy(b));
}

static void memsets(CUstream stream)
{
    CUdeviceptr memory;
    CHECK(cu.cuMemAlloc(&memory, BYTES));
    CHECK(cu.cuMemsetD8(memory, 0x11, BYTES));
    CHECK(cu.cuMemsetD16(memory + 512, 0x2222, 64));
    CHECK(cu.cuMemsetD32(memory + 1024, 0x33333333, 64));
    CHECK(cu.cuMemsetD2D8(memory, 256, 0x44, 16, 4));
    CHECK(cu.cuMemsetD2D16(memory + 64, 256, 0x5555, 8, 4));
    CHECK(cu.cuMemsetD2D32(memory + 128, 256, 0x66666666, 4, 4));
    CHECK(cu.cuMemsetD8Async(memory + 2048, 0x77, 100, stream));
    CHECK(cu.cuMemsetD16Async(memory + 2304, 0x8888, 50, stream));
    CHECK(cu.cuMemsetD32Async(memory + 2560, 0x99999999, 25, stream));
    CHECK(cu.cuMemsetD2D8Async(memory + 3072, 256, 0xaa, 16, 2, stream));
    CHECK(cu.cuMemsetD2D16Async(memory + 3136, 256, 0xbbbb, 8, 2, stream));
    CHECK(cu.cuMemsetD2D32Async(memory + 3200, 256, 0xcccccccc, 4, 2, stream));
    CHECK(cu.cuStreamSynchronize(stream));
    CHECK(cu.cuMemcpyDtoH(back, memory, BYTES));
    show("memset", BYTES);
    CHECK(cu.cuMemFree(memory));
}

static void allocations(CUstream stream)
{
    CUdeviceptr managed, ordered, pooled;
    CUmemoryPool pool;
    void *pinned, *pinned2, *page = NULL;
    CHECK(cu.cuMemAllocManaged(&managed, 8192, CU_MEM_ATTACH_GLOBAL));
    CHECK(cu.cuMemAllocAsync(&ordered, 8192, stream));
    CHECK(cu.cuDeviceGetDefaultMemPool(&pool, 0));
    CHECK(cu.cuMemAllocFromPoolAsync(&pooled, 4096, pool, stream));
    CHECK(cu.cuMemHostAlloc(&pinned, BYTES, CU_MEMHOSTALLOC_PORTABLE));
    CHECK(cu.cuMemAllocHost(&pinned2, BYTES));
    if (posix_memalign(&page, 4096, BYTES) != 0) {
        exit(3);
    }
    CHECK(cu.cuMemHostRegister(page, BYTES, 0));
    client_fill(pinned, BYTES, 5);
    client_fill(page, BYTES, 6);
    CHECK(cu.cuMemcpyHtoDAsync(ordered, pinned, BYTES, stream));
    CHECK(cu.cuMemcpyHtoDAsync(pooled, page, BYTES, stream));
    CHECK(cu.cuMemcpyHtoD(managed, host, BYTES));
    CHECK(cu.cuMemcpyDtoHAsync(pinned2, ordered, BYTES, stream));
    CHECK(cu.cuStreamSynchronize(stream));
    memcpy(back, pinned2, BYTES);
    show("pinned", BYTES);
    CHECK(cu.cuMemHostUnregister(page));
    free(page);
    CHECK(cu.cuMemFreeHost(pinned2));
    CHECK(cu.cuMemFreeHost(pinned));
    CHECK(cu.cuMemFreeAsync(pooled, stream));
    CHECK(cu.cuMemFreeAsync(ordered, stream));
    CHECK(cu.cuMemFree(managed));
}

static void launches(CUstream stream)
{
    CUmodule module, module2;
    CUlibrary library;
    CUfunction add, scale;
    CUkernel kernel;
    CUdeviceptr a, b, out;
    enum { COUNT = 1000 };
    float values[COUNT];
    CHECK(cu.cuModuleLoadData(&module, client_ptx));
    CHECK(cu.cuModuleLoadDataEx(&module2, client_ptx, 0, NULL, NULL));
    CHECK(cu.cuLibraryLoadData(&library, client_ptx, NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cu.cuModuleGetFunction(&add, module, "vector_add"));
    CHECK(cu.cuModuleGetFunction(&scale, module2, "scale"));
    CHECK(cu.cuLibraryGetKernel(&kernel, library, "vector_add"));
    CHECK(cu.cuMemAlloc(&a, sizeof values));
    CHECK(cu.cuMemAlloc(&b, sizeof values));
    CHECK(cu.cuMemAlloc(&out, sizeof values));
    for (int i = 0; i < COUNT; i++) {
        values[i] = (float)i;
    }
    CHECK(cu.cuMemcpyHtoD(a, values, sizeof values));
    CHECK(cu.cuMemcpyHtoD(b, values, sizeof values));
    CHECK(client_vector_add(add, out, a, b, COUNT, stream));
    CHECK(client_vector_add((CUfunction)kernel, out, out, b, COUNT, stream));

    struct {
        float factor;
        unsigned count;
        CUdeviceptr data;
    } packed = {.factor = 0.5f, .count = COUNT, .data = out};
    size_t packed_bytes = sizeof packed;
    void *params[] = {&packed};
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &packed_bytes, CU_LAUNCH_PARAM_END};
    CHECK(cu.cuLaunchKernel(scale, 4, 1, 1, 256, 1, 1, 0, stream, NULL, extra));
    CUlaunchConfig config = {.gridDimX = 4,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 256,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .sharedMemBytes = 512,
                             .hStream = stream};
    CHECK(cu.cuLaunchKernelEx(&config, scale, params, NULL));
    CHECK(cu.cuLaunchCooperativeKernel(scale, 4, 1, 1, 256, 1, 1, 0, stream, params));
    CHECK(cu.cuCtxSynchronize());
    CHECK(cu.cuMemcpyDtoH(values, out, sizeof values));
    printf("launch %.3f %.3f\n", (double)values[1], (double)values[COUNT - 1]);
    CHECK(cu.cuMemFree(a));
    CHECK(cu.cuMemFree(b));
    CHECK(cu.cuMemFree(out));
    CHECK(cu.cuLibraryUnload(library));
    CHECK(cu.cuModuleUnload(module2));
    CHECK(cu.cuModuleUnload(module));
}

int scenario_basic(long n)
{
    CUstream stream, urgent;
    CUevent event;
    char name[64];
    (void)n;
    CUcontext context = client_start();
    CHECK(cu.cuDeviceGetName(name, sizeof name, 0));
    printf("device %s\n", name);
    client_fill(host, sizeof host, 1);
    CHECK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cu.cuStreamCreateWithPriority(&urgent, CU_STREAM_DEFAULT, -1));
    copies_linear(context, stream);
    copies_pitched(context, stream);
    copies_array(stream);
    memsets(urgent);
    allocations(stream);
    launches(stream);
    CHECK(cu.cuEventCreate(&event, CU_EVENT_DEFAULT));
    CHECK(cu.cuEventRecord(event, stream));
    CHECK(cu.cuEventSynchronize(event));
    CHECK(cu.cuEventDestroy(event));
    CHECK(cu.cuStreamDestroy(urgent));
    CHECK(cu.cuStreamDestroy(stream));
    CHECK(cu.cuDevicePrimaryCtxRelease(0));
    puts("done");
    return 0;
}

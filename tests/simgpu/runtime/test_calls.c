/* SPDX-License-Identifier: Apache-2.0 */
/* Every call of the software device's runtime makes the driver calls that NVIDIA's makes. */
#include "program.h"
#include "tally.h"

enum { BYTES = 4096, WIDTH = 40, HEIGHT = 8 };

static unsigned char host[BYTES], other_host[BYTES];
static char *device, *other;

static void start(void)
{
    setenv("SIMGPU_DEVICES", "2", 1);
    tally_start();
    program_register();
}

static void end(void)
{
    program_unregister();
    tally_end();
}

TestSuite(calls, .init = start, .fini = end);

static void allocate(void)
{
    expect_success(cudaMalloc((void **)&device, BYTES));
    expect_success(cudaMalloc((void **)&other, BYTES));
}

Test(calls, that_allocate_and_free)
{
    void *memory;
    size_t pitch;
    struct cudaPitchedPtr box;
    tally_snapshot();
    expect_success(cudaSetDevice(0));
    tally_compare("cudaSetDevice (first call of the process)");
    expect_calls("cudaMalloc", cudaMalloc(&memory, BYTES));
    expect_calls("cudaFree", cudaFree(memory));
    expect_calls("cudaFree NULL", cudaFree(NULL));
    expect_calls("cudaMallocPitch", cudaMallocPitch(&memory, &pitch, WIDTH, HEIGHT));
    expect_calls("cudaFree pitched", cudaFree(memory));
    expect_calls("cudaMalloc3D", cudaMalloc3D(&box, (struct cudaExtent){WIDTH, HEIGHT, 2}));
    expect_calls("cudaFree 3D", cudaFree(box.ptr));
    expect_calls("cudaMallocManaged", cudaMallocManaged(&memory, BYTES, cudaMemAttachGlobal));
    expect_calls("cudaFree managed", cudaFree(memory));
    expect_calls("cudaMallocAsync", cudaMallocAsync(&memory, BYTES, NULL));
    expect_calls("cudaFreeAsync", cudaFreeAsync(memory, NULL));
    expect_calls("cudaMallocHost", cudaMallocHost(&memory, BYTES));
    expect_calls("cudaFreeHost", cudaFreeHost(memory));
    expect_calls("cudaHostAlloc", cudaHostAlloc(&memory, BYTES, 0));
    expect_calls("cudaFreeHost", cudaFreeHost(memory));
    expect_calls("cudaHostRegister", cudaHostRegister(host, BYTES, 0));
    expect_calls("cudaHostUnregister", cudaHostUnregister(host));
}

Test(calls, that_copy)
{
    allocate();
    expect_calls("cudaMemcpy HostToDevice",
                 cudaMemcpy(device, host, BYTES, cudaMemcpyHostToDevice));
    expect_calls("cudaMemcpy DeviceToHost",
                 cudaMemcpy(host, device, BYTES, cudaMemcpyDeviceToHost));
    expect_calls("cudaMemcpy DeviceToDevice",
                 cudaMemcpy(other, device, BYTES, cudaMemcpyDeviceToDevice));
    expect_calls("cudaMemcpy HostToHost",
                 cudaMemcpy(other_host, host, BYTES, cudaMemcpyHostToHost));
    expect_calls("cudaMemcpy Default HostToDevice",
                 cudaMemcpy(device, host, BYTES, cudaMemcpyDefault));
    expect_calls("cudaMemcpyAsync HostToDevice",
                 cudaMemcpyAsync(device, host, BYTES, cudaMemcpyHostToDevice, NULL));
    expect_calls("cudaMemcpyAsync DeviceToHost",
                 cudaMemcpyAsync(host, device, BYTES, cudaMemcpyDeviceToHost, NULL));
    expect_calls("cudaMemcpyAsync DeviceToDevice",
                 cudaMemcpyAsync(other, device, BYTES, cudaMemcpyDeviceToDevice, NULL));
    expect_calls("cudaMemcpyAsync HostToHost",
                 cudaMemcpyAsync(other_host, host, BYTES, cudaMemcpyHostToHost, NULL));
    expect_calls("cudaMemcpyAsync Default",
                 cudaMemcpyAsync(device, host, BYTES, cudaMemcpyDefault, NULL));
    expect_calls("cudaMemcpyPeer", cudaMemcpyPeer(device, 0, other, 0, BYTES));
    expect_calls("cudaMemcpyPeerAsync", cudaMemcpyPeerAsync(device, 0, other, 0, BYTES, NULL));
    void *dsts[] = {device};
    const void *srcs[] = {host};
    size_t sizes[] = {BYTES};
    size_t first = 0;
    cudaStream_t stream;
    struct cudaMemcpyAttributes attributes = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    expect_calls("cudaStreamCreate", cudaStreamCreate(&stream));
    expect_calls("cudaMemcpyBatchAsync",
                 cudaMemcpyBatchAsync(dsts, srcs, sizes, 1, &attributes, &first, 1, stream));
    expect_calls("cudaStreamDestroy", cudaStreamDestroy(stream));
}

Test(calls, that_copy_rectangles_and_boxes)
{
    allocate();
    cudaArray_t array;
    struct cudaChannelFormatDesc bytes = cudaCreateChannelDesc(8, 0, 0, 0,
                                                               cudaChannelFormatKindUnsigned);
    expect_success(cudaMallocArray(&array, &bytes, WIDTH, HEIGHT, 0));
    expect_calls("cudaMemcpy2D HostToDevice",
                 cudaMemcpy2D(device, 64, host, WIDTH, WIDTH, HEIGHT, cudaMemcpyHostToDevice));
    expect_calls("cudaMemcpy2D DeviceToDevice",
                 cudaMemcpy2D(other, 64, device, 64, WIDTH, HEIGHT, cudaMemcpyDeviceToDevice));
    expect_calls(
        "cudaMemcpy2DAsync HostToDevice",
        cudaMemcpy2DAsync(device, 64, host, WIDTH, WIDTH, HEIGHT, cudaMemcpyHostToDevice, NULL));
    struct cudaMemcpy3DParms box = {.srcPtr = {host, WIDTH, WIDTH, HEIGHT},
                                    .dstPtr = {device, WIDTH, WIDTH, HEIGHT},
                                    .extent = {WIDTH, HEIGHT, 2},
                                    .kind = cudaMemcpyHostToDevice};
    expect_calls("cudaMemcpy3D HostToDevice", cudaMemcpy3D(&box));
    expect_calls("cudaMemcpy3DAsync HostToDevice", cudaMemcpy3DAsync(&box, NULL));
    expect_calls("cudaMemcpy2DToArray", cudaMemcpy2DToArray(array, 0, 0, host, WIDTH, WIDTH, HEIGHT,
                                                            cudaMemcpyHostToDevice));
    expect_calls("cudaMemcpy2DFromArray", cudaMemcpy2DFromArray(host, WIDTH, array, 0, 0, WIDTH,
                                                                HEIGHT, cudaMemcpyDeviceToHost));
    expect_calls("cudaMemset", cudaMemset(device, 0, BYTES));
    expect_calls("cudaMemsetAsync", cudaMemsetAsync(device, 0, BYTES, NULL));
    expect_calls("cudaMemset2D", cudaMemset2D(device, 64, 0, WIDTH, HEIGHT));
    expect_calls("cudaMemset2DAsync", cudaMemset2DAsync(device, 64, 0, WIDTH, HEIGHT, NULL));
    expect_calls("cudaMemset3D", cudaMemset3D(box.dstPtr, 0, box.extent));
    expect_calls("cudaMemset3DAsync", cudaMemset3DAsync(box.dstPtr, 0, box.extent, NULL));
}

Test(calls, that_launch_and_wait)
{
    allocate();
    unsigned value = 1, count = 8;
    void *args[] = {&device, &value, &count};
    dim3 one = {1, 1, 1};
    cudaLaunchConfig_t config = {.gridDim = one, .blockDim = one};
    cudaEvent_t event;
    expect_calls("cudaMemcpyToSymbol",
                 cudaMemcpyToSymbol(&d_value, &value, 4, 0, cudaMemcpyHostToDevice));
    expect_calls("cudaMemcpyFromSymbol",
                 cudaMemcpyFromSymbol(&value, &d_value, 4, 0, cudaMemcpyDeviceToHost));
    expect_calls("`kernel<<<>>>()`", launch_fill((unsigned *)device, 1, 8, 8));
    expect_calls("cudaLaunchKernel", cudaLaunchKernel(fill_stub, one, one, args, 0, NULL));
    expect_calls("cudaLaunchKernelExC", cudaLaunchKernelExC(&config, fill_stub, args));
    expect_calls("cudaLaunchCooperativeKernel",
                 cudaLaunchCooperativeKernel(fill_stub, one, one, args, 0, NULL));
    expect_success(cudaEventCreate(&event));
    expect_success(cudaEventRecord(event, NULL));
    expect_calls("cudaEventSynchronize", cudaEventSynchronize(event));
    expect_calls("cudaStreamSynchronize", cudaStreamSynchronize(NULL));
    expect_calls("cudaDeviceSynchronize", cudaDeviceSynchronize());
}

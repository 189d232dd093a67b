/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of the CUDA runtime, as it is built with CUDA 11, 12 or 13: it allocates, copies, sets, launches a kernel and a graph of
 * one, and prints what each call returned and what the kernels computed. `program count` asks for the number of devices only.
 */
#include <stdio.h>
#include <string.h>

#include "runtime.h"

#define COUNT 1024u
#define BYTES (COUNT * sizeof(float))

/* kernel.cu, as nvcc makes it (PROGRAM_FATBIN: the file). */
__asm__(".pushsection .rodata\n.balign 8\nprogram_code:\n.incbin \"" PROGRAM_FATBIN
        "\"\n.popsection");
extern const char program_code[] __asm__("program_code");

static char vector_add; /* what stands for the kernel on the host */

static int calls, failed;

static void say(const char *call, int result)
{
    calls++;
    failed += result != 0;
    printf("%s %d\n", call, result);
}
#define SAY(call) say(#call, call)

static void launch(void **params, cuda_stream stream)
{
    struct cuda_dim3 grid = {COUNT / 256, 1, 1}, block = {256, 1, 1};
    SAY(cudaLaunchKernel(&vector_add, grid, block, params, 0, stream));
}

static void launch_by_graph(void **params, cuda_stream stream)
{
    cuda_graph graph = NULL;
    cuda_exec exec = NULL;
    SAY(cudaStreamBeginCapture(stream, 0));
    launch(params, stream);
    SAY(cudaStreamEndCapture(stream, &graph));
    SAY(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    SAY(cudaGraphLaunch(exec, stream));
    SAY(cudaDeviceSynchronize());
}

static void add(void)
{
    static float a[COUNT], result[COUNT];
    void *device[3] = {NULL, NULL, NULL}, *pinned = NULL;
    unsigned count = COUNT;
    cuda_stream stream = NULL;
    for (unsigned i = 0; i < COUNT; i++) {
        a[i] = (float)i;
    }
    for (int i = 0; i < 3; i++) {
        SAY(cudaMalloc(&device[i], BYTES));
    }
    SAY(cudaHostAlloc(&pinned, BYTES, 0));
    if (failed != 0) {
        return;
    }
    memcpy(pinned, a, BYTES);
    SAY(cudaStreamCreate(&stream));
    SAY(cudaMemcpy(device[1], a, BYTES, CUDA_HOST_TO_DEVICE));
    SAY(cudaMemcpyAsync(device[2], pinned, BYTES, CUDA_HOST_TO_DEVICE, stream));
    SAY(cudaStreamSynchronize(stream));
    SAY(cudaMemset(device[0], 0, BYTES));
    void *params[] = {&device[0], &device[1], &device[2], &count};
    launch(params, NULL);
    SAY(cudaMemcpy(result, device[0], BYTES, CUDA_DEVICE_TO_HOST));
    printf("%g %g\n", (double)result[1], (double)result[COUNT - 1]);
    params[2] = &device[0];
    launch_by_graph(params, stream);
    SAY(cudaMemcpyAsync(pinned, device[0], BYTES, CUDA_DEVICE_TO_HOST, stream));
    SAY(cudaStreamSynchronize(stream));
    printf("%g\n", (double)((float *)pinned)[COUNT - 1]);
    for (int i = 0; i < 3; i++) {
        SAY(cudaFree(device[i]));
    }
    SAY(cudaFreeHost(pinned));
}

int main(int argc, char **argv)
{
    int count = 0, version = 0;
    struct cuda_fatbin fatbin = {CUDA_FATBIN_MAGIC, 1, program_code, NULL};
    if (argc < 2 || strcmp(argv[1], "count") != 0) {
        void **code = __cudaRegisterFatBinary(&fatbin);
        __cudaRegisterFunction(code, &vector_add, &vector_add, "vector_add", -1, NULL, NULL, NULL,
                               NULL, NULL);
        __cudaRegisterFatBinaryEnd(code);
    }
    SAY(cudaRuntimeGetVersion(&version));
    SAY(cudaGetDeviceCount(&count));
    printf("version %d, devices %d\n", version, count);
    if (argc < 2) {
        add();
    }
    printf("calls %d, failed %d\n", calls, failed);
    return failed != 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A program for the scripts here: client driver | unsupported. Says what the runtime answers. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

static void say(const char *call, cudaError_t error)
{
    printf("%s %s\n", call, cudaGetErrorName(error));
}

static void ask_for_a_driver(void)
{
    int count = -1;
    int version = -1;
    void *memory = NULL;
    say("cudaGetDeviceCount", cudaGetDeviceCount(&count));
    say("cudaMalloc", cudaMalloc(&memory, 16));
    say("cudaSetDevice", cudaSetDevice(0));
    say("cudaGetLastError", cudaGetLastError());
    say("cudaDriverGetVersion", cudaDriverGetVersion(&version));
    printf("count %d version %d\n", count, version);
}

static void call_what_is_not_there(void)
{
    cudaTextureObject_t texture;
    cudaIpcEventHandle_t handle;
    say("cudaCreateTextureObject", cudaCreateTextureObject(&texture, NULL, NULL, NULL));
    say("cudaCreateTextureObject", cudaCreateTextureObject(&texture, NULL, NULL, NULL));
    say("cudaIpcGetEventHandle", cudaIpcGetEventHandle(&handle, NULL));
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "driver") == 0) {
        ask_for_a_driver();
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "unsupported") == 0) {
        call_what_is_not_there();
        return 0;
    }
    fprintf(stderr, "usage: %s driver|unsupported\n", argv[0]);
    return 2;
}

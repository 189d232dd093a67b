/* SPDX-License-Identifier: Apache-2.0 */
/* A library to be loaded and unloaded: it frees device memory, or calls in its constructor. */
#include <cuda.h>

#include <unistd.h>

int PLUGIN_FREE(CUdeviceptr memory);

int PLUGIN_FREE(CUdeviceptr memory)
{
    CUresult result = cuMemFree(memory);
    return (int)result + 1; /* no tail call */
}

#ifdef PLUGIN_CONSTRUCTOR
/* The loader's lock is held: whoever else is about to record must not wait for it forever. */
__attribute__((constructor)) static void start(void)
{
    usleep(200000);
    (void)cuInit(0);
}
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA error handling of the example pipeline: one line on stderr and exit status 1. */

#ifndef PIPELINE_CUDA_H
#define PIPELINE_CUDA_H

#include <cuda_runtime.h>
#include <stdio.h>

static int pipeline_failed(const char *name, const char *what, cudaError_t error)
{
    fprintf(stderr, "%s: %s: %s\n", name, what, cudaGetErrorString(error));
    return 1;
}

/* Leaves the function on a CUDA error; the process ends then, and with it what it had allocated. */
#define TRY(call) \
    do { \
        const cudaError_t try_error = (call); \
        if (try_error != cudaSuccess) \
            return pipeline_failed(program, #call, try_error); \
    } while (0)

static int pipeline_need_device(const char *program)
{
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess) {
        return pipeline_failed(program, "no usable CUDA device", error);
    }
    if (count == 0) {
        return pipeline_failed(program, "no usable CUDA device", cudaErrorNoDevice);
    }
    return 0;
}

#endif

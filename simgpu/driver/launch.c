/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel launches of the software device: checked, then run if the kernel is one of the built-in. */
#include "simgpu/driver/driver.h"

#include <stdio.h>
#include <string.h>

/* The parameters as one block of bytes, from the array of pointers or from the `extra` buffer. */
static CUresult gather(const struct sim_function *function, void **params, void **extra,
                       unsigned char *out, size_t out_bytes)
{
    if (function->param_bytes > out_bytes) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (params != NULL) {
        for (unsigned i = 0; i < function->param_count; i++) {
            if (params[i] == NULL) {
                return CUDA_ERROR_INVALID_VALUE;
            }
            memcpy(out + function->params[i].offset, params[i], function->params[i].bytes);
        }
        return CUDA_SUCCESS;
    }
    const void *buffer = NULL;
    size_t bytes = 0;
    for (size_t i = 0; extra != NULL && extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) {
            buffer = extra[i + 1];
        } else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE) {
            bytes = *(const size_t *)extra[i + 1];
        } else {
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    if (function->param_count != 0 && (buffer == NULL || bytes < function->param_bytes)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (buffer != NULL) {
        memcpy(out, buffer, function->param_bytes);
    }
    return CUDA_SUCCESS;
}

static CUresult launch(CUfunction f, const unsigned grid[3], const unsigned block[3],
                       unsigned shared, CUstream stream, void **params, void **extra)
{
    struct sim_function *function = sim_function_of(f);
    if (function == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (params != NULL && extra != NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    unsigned long long threads = (unsigned long long)block[0] * block[1] * block[2];
    if (threads == 0 || threads > (unsigned)function->max_threads || block[2] > 64 ||
        grid[0] == 0 || grid[1] == 0 || grid[2] == 0 || grid[1] > 65535 || grid[2] > 65535 ||
        shared > (unsigned)function->max_dynamic_shared_bytes) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct sim_launch made = {.function = function, .dynamic_shared_bytes = shared};
    memcpy(made.grid, grid, sizeof made.grid);
    memcpy(made.block, block, sizeof made.block);
    CUresult result = gather(function, params, extra, made.params, sizeof made.params);
    struct sim_node node = {.kind = SIM_NODE_LAUNCH, .launch = &made};
    return result != CUDA_SUCCESS ? result : sim_submit(stream, &node);
}

CUresult sim_cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                            unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                            unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                            void **kernelParams, void **extra)
{
    const unsigned grid[3] = {gridDimX, gridDimY, gridDimZ};
    const unsigned block[3] = {blockDimX, blockDimY, blockDimZ};
    return launch(f, grid, block, sharedMemBytes, hStream, kernelParams, extra);
}

CUresult sim_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams,
                              void **extra)
{
    if (config == NULL || (config->numAttrs != 0 && config->attrs == NULL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const unsigned grid[3] = {config->gridDimX, config->gridDimY, config->gridDimZ};
    const unsigned block[3] = {config->blockDimX, config->blockDimY, config->blockDimZ};
    return launch(f, grid, block, config->sharedMemBytes, config->hStream, kernelParams, extra);
}

CUresult sim_cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                       unsigned int gridDimZ, unsigned int blockDimX,
                                       unsigned int blockDimY, unsigned int blockDimZ,
                                       unsigned int sharedMemBytes, CUstream hStream,
                                       void **kernelParams)
{
    int blocks;
    unsigned threads = blockDimX * blockDimY * blockDimZ;
    CUresult result = sim_cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, (int)threads,
                                                                      sharedMemBytes);
    if (result == CUDA_SUCCESS &&
        (unsigned long long)gridDimX * gridDimY * gridDimZ > (unsigned long long)blocks * 132) {
        result = CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    }
    return result != CUDA_SUCCESS
               ? result
               : sim_cuLaunchKernel(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY,
                                    blockDimZ, sharedMemBytes, hStream, kernelParams, NULL);
}

/* ---- built-in kernels: parameters as declared in client_kernels.h ---- */

static void vector_add(const struct sim_launch *launch)
{
    struct {
        float *out;
        const float *a, *b;
        uint32_t count;
    } p;
    memcpy(&p, launch->params, sizeof p);
    uint64_t threads = (uint64_t)launch->grid[0] * launch->block[0];
    for (uint64_t i = 0; i < p.count && i < threads; i++) {
        p.out[i] = p.a[i] + p.b[i];
    }
}

/* One struct parameter that holds a pointer: for launches whose pointers are not whole parameters. */
static void scale(const struct sim_launch *launch)
{
    struct {
        float factor;
        uint32_t count;
        float *data;
    } p;
    memcpy(&p, launch->params, sizeof p);
    for (uint32_t i = 0; i < p.count; i++) {
        p.data[i] *= p.factor;
    }
}

static const struct {
    const char *name;
    size_t param_bytes;
    void (*run)(const struct sim_launch *launch);
} built_in[] = {
    {"vector_add", 28, vector_add},
    {"scale", 16, scale},
};

void sim_kernel_run(const struct sim_launch *launch)
{
    for (size_t i = 0; i < sizeof built_in / sizeof built_in[0]; i++) {
        if (strcmp(built_in[i].name, launch->function->name) == 0 &&
            launch->function->param_bytes == built_in[i].param_bytes) {
            built_in[i].run(launch);
        }
    }
}

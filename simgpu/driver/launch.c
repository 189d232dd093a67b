/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel launches: checking a configuration and gathering parameters. */
#include <stdlib.h>
#include <string.h>

#include "simgpu/driver/library.h"

/* A configuration as asked for. */
struct config {
    unsigned grid[3], block[3], dynamic_bytes;
    CUstream stream;
    bool cooperative;
    CUevent event; /* recorded when the kernel has run */
};

/* ---- checking ---- */

static bool shape_ok(const struct config *config, const struct sim_function *function)
{
    static const unsigned most_blocks[3] = {INT32_MAX, 65535, 65535};
    static const unsigned most_threads[3] = {1024, 1024, 64};
    unsigned long long threads = 1;
    for (unsigned i = 0; i < 3; i++) {
        unsigned required = function->ptx != NULL ? function->ptx->required_threads[i] : 0;
        if (config->grid[i] == 0 || config->grid[i] > most_blocks[i] || config->block[i] == 0 ||
            config->block[i] > most_threads[i] || (required != 0 && config->block[i] != required)) {
            return false;
        }
        threads *= config->block[i];
    }
    return threads <= function->info->max_threads_per_block &&
           config->dynamic_bytes <= (unsigned)function->max_dynamic_bytes;
}

static CUresult not_supported(const struct sim_function *function, const char *what)
{
    sim_say("kernel %s: %s is not supported", function->info->name, what);
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* All blocks must be resident at once; a barrier over the grid would need them to run so, too. */
static CUresult cooperative_ok(const struct config *config, struct sim_function *function)
{
    int blocks;
    unsigned threads = config->block[0] * config->block[1] * config->block[2];
    CUresult result = sim_cuOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, (CUfunction)function, (int)threads, config->dynamic_bytes);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    unsigned long long grid = (unsigned long long)config->grid[0] * config->grid[1] *
                              config->grid[2];
    if (grid > (unsigned long long)blocks * SIM_MULTIPROCESSORS) {
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    }
    return function->syncs_grid ? not_supported(function, "a barrier over the whole grid")
                                : CUDA_SUCCESS;
}

static CUresult check(const struct config *config, struct sim_function *function)
{
    if (!shape_ok(config, function)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (function->info->needs_cluster) {
        return not_supported(function, "a launch with clusters");
    }
    return config->cooperative ? cooperative_ok(config, function) : CUDA_SUCCESS;
}

/* ---- parameters ---- */

/* As one block of bytes, from the array of pointers or from the `extra` buffer. */
static CUresult gather(const struct sim_kernel_info *info, void **params, void **extra,
                       unsigned char *out)
{
    const void *buffer = NULL;
    size_t bytes = 0;
    if (params != NULL) {
        for (unsigned i = 0; i < info->param_count; i++) {
            if (params[i] == NULL) {
                return CUDA_ERROR_INVALID_VALUE;
            }
            memcpy(out + info->params[i].offset, params[i], info->params[i].bytes);
        }
        return CUDA_SUCCESS;
    }
    for (size_t i = 0; extra != NULL && extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) {
            buffer = extra[i + 1];
        } else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE) {
            bytes = *(const size_t *)extra[i + 1];
        } else {
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    if (info->param_count != 0 && (buffer == NULL || bytes < info->param_bytes)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (info->param_count != 0) {
        memcpy(out, buffer, info->param_bytes);
    }
    return CUDA_SUCCESS;
}

/* In the context of the stream: a CUkernel is loaded there at need, a CUfunction must be its own. */
static CUresult function_for(CUfunction handle, CUstream stream, struct sim_function **function)
{
    struct sim_stream *found;
    CUresult result = sim_stream_of(stream, &found);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    *function = sim_function_of(handle, found->context);
    return *function != NULL && (*function)->image->context == found->context
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult launch(CUfunction f, const struct config *config, void **params, void **extra)
{
    struct sim_function *function;
    sim_counting_forget();
    CUresult result = function_for(f, config->stream, &function);
    if (result == CUDA_SUCCESS) {
        result = params != NULL && extra != NULL ? CUDA_ERROR_INVALID_VALUE
                                                 : check(config, function);
    }
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct sim_call *call = calloc(1, sizeof *call + function->info->param_bytes);
    if (call == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    call->function = function;
    call->dynamic_bytes = config->dynamic_bytes;
    call->completion = (struct sim_event *)config->event;
    call->param_bytes = function->info->param_bytes;
    memcpy(call->grid, config->grid, sizeof call->grid);
    memcpy(call->block, config->block, sizeof call->block);
    result = gather(function->info, params, extra, call->params);
    if (result == CUDA_SUCCESS) {
        struct sim_node node = {.kind = SIM_NODE_CALL, .call = call};
        result = sim_submit(config->stream, &node, false);
    }
    free(call);
    return result;
}

/* ---- entry points ---- */

CUresult sim_cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                            unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                            unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                            void **kernelParams, void **extra)
{
    struct config config = {.grid = {gridDimX, gridDimY, gridDimZ},
                            .block = {blockDimX, blockDimY, blockDimZ},
                            .dynamic_bytes = sharedMemBytes,
                            .stream = hStream};
    return launch(f, &config, kernelParams, extra);
}

CUresult sim_cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                       unsigned int gridDimZ, unsigned int blockDimX,
                                       unsigned int blockDimY, unsigned int blockDimZ,
                                       unsigned int sharedMemBytes, CUstream hStream,
                                       void **kernelParams)
{
    struct config config = {.grid = {gridDimX, gridDimY, gridDimZ},
                            .block = {blockDimX, blockDimY, blockDimZ},
                            .dynamic_bytes = sharedMemBytes,
                            .stream = hStream,
                            .cooperative = true};
    return launch(f, &config, kernelParams, NULL);
}

static bool is_one_block(unsigned x, unsigned y, unsigned z)
{
    return x <= 1 && y <= 1 && z <= 1;
}

/* Attributes that only say how fast or in which order are taken and do nothing. */
static CUresult apply(const CUlaunchAttribute *attribute, struct config *config)
{
    const CUlaunchAttributeValue *value = &attribute->value;
    switch (attribute->id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: config->cooperative = value->cooperative != 0; break;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
        if (!is_one_block(value->clusterDim.x, value->clusterDim.y, value->clusterDim.z)) {
            sim_say("a launch with clusters of %u x %u x %u blocks is not supported",
                    value->clusterDim.x, value->clusterDim.y, value->clusterDim.z);
            return CUDA_ERROR_NOT_SUPPORTED;
        }
        break;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        config->event = value->programmaticEvent.event;
        break;
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        config->event = value->launchCompletionEvent.event;
        break;
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        sim_say("graph nodes that kernels update are not supported");
        return CUDA_ERROR_NOT_SUPPORTED;
    default: break;
    }
    return (unsigned)attribute->id < CU_LAUNCH_ATTRIBUTE_MAX ? CUDA_SUCCESS
                                                             : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams,
                              void **extra)
{
    if (config == NULL || (config->numAttrs != 0 && config->attrs == NULL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct config asked = {.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                           .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                           .dynamic_bytes = config->sharedMemBytes,
                           .stream = config->hStream};
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = 0; result == CUDA_SUCCESS && i < config->numAttrs; i++) {
        result = apply(&config->attrs[i], &asked);
    }
    return result != CUDA_SUCCESS ? result : launch(f, &asked, kernelParams, extra);
}

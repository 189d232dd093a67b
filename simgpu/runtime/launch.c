/* SPDX-License-Identifier: Apache-2.0 */
/* Launching kernels: what <<<>>> becomes, and the API's own launches. */
#include "simgpu/cancel.h"
#include "simgpu/runtime/runtime.h"

/* ---- the configuration between <<< and >>>, kept until the stub asks for it ------------------- */

/* Not 0: the launch is left out. Arguments that launch kernels themselves make this a stack. */
SIM_EXPORT unsigned __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem,
                                                struct CUstream_st *stream)
{
    unsigned depth = sim_rt_thread.configuration_count;
    if (depth == SIM_CONFIGURATIONS) {
        return (unsigned)sim_leave(cudaErrorLaunchMaxDepthExceeded);
    }
    sim_rt_thread.configurations[depth] = (struct sim_configuration){gridDim, blockDim, sharedMem,
                                                                     stream};
    sim_rt_thread.configuration_count = depth + 1;
    return cudaSuccess;
}

SIM_EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem,
                                                  void *stream)
{
    if (sim_rt_thread.configuration_count == 0) {
        return sim_leave(cudaErrorMissingConfiguration);
    }
    const struct sim_configuration *top =
        &sim_rt_thread.configurations[--sim_rt_thread.configuration_count];
    *gridDim = top->grid;
    *blockDim = top->block;
    *sharedMem = top->shared_bytes;
    *(cudaStream_t *)stream = top->stream;
    return cudaSuccess;
}

/*
 * The handle that stubs keep for good is the host stub's address: it is looked up at each launch, so
 * that it outlives a reset of the device, and that an error is reported by the launch and not lost.
 */
SIM_EXPORT cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function)
{
    if (kernel == NULL) {
        return sim_leave(cudaErrorInvalidValue);
    }
    *kernel = (cudaKernel_t)function;
    return cudaSuccess;
}

/* The shape is the driver's to judge, as with NVIDIA's runtime: cudaErrorInvalidValue (seen on an
 * H200, CUDA 13.0). Only what the driver's narrower parameter cannot hold is refused here. */
static cudaError_t check(size_t shared_bytes)
{
    return shared_bytes > UINT32_MAX ? cudaErrorInvalidValue : cudaSuccess;
}

/* ---- launches: a CUkernel may stand where the driver wants a CUfunction ----------------------- */

cudaError_t sim_cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                                 size_t sharedMem, cudaStream_t stream)
{
    CUkernel kernel;
    cudaError_t error = sim_kernel_of(func, &kernel);
    if (error == cudaSuccess) {
        error = check(sharedMem);
    }
    return error != cudaSuccess
               ? error
               : sim_rt_error(SIM_CU->cuLaunchKernel((CUfunction)kernel, gridDim.x, gridDim.y,
                                                     gridDim.z, blockDim.x, blockDim.y, blockDim.z,
                                                     (unsigned)sharedMem, stream, args, NULL));
}

SIM_EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim,
                                          void **args, size_t sharedMem, cudaStream_t stream)
{
    SIM_UNCANCELLABLE;
    cudaError_t entered = sim_rt_enter(SIM_NEED_CONTEXT, false);
    return sim_leave(entered != cudaSuccess ? entered
                                            : sim_cudaLaunchKernel(kernel, gridDim, blockDim, args,
                                                                   sharedMem, stream));
}

SIM_EXPORT cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim,
                                               void **args, size_t sharedMem, cudaStream_t stream)
{
    SIM_UNCANCELLABLE;
    cudaError_t entered = sim_rt_enter(SIM_NEED_CONTEXT, true);
    return sim_leave(entered != cudaSuccess ? entered
                                            : sim_cudaLaunchKernel(kernel, gridDim, blockDim, args,
                                                                   sharedMem, stream));
}

cudaError_t sim_cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim,
                                            void **args, size_t sharedMem, cudaStream_t stream)
{
    CUkernel kernel;
    cudaError_t error = sim_kernel_of(func, &kernel);
    if (error == cudaSuccess) {
        error = check(sharedMem);
    }
    return error != cudaSuccess
               ? error
               : sim_rt_error(SIM_CU->cuLaunchCooperativeKernel(
                     (CUfunction)kernel, gridDim.x, gridDim.y, gridDim.z, blockDim.x, blockDim.y,
                     blockDim.z, (unsigned)sharedMem, stream, args));
}

static cudaError_t driver_config(const cudaLaunchConfig_t *config, CUlaunchConfig *out)
{
    if (config == NULL || (config->numAttrs != 0 && config->attrs == NULL)) {
        return cudaErrorInvalidValue;
    }
    *out = (CUlaunchConfig){
        .gridDimX = config->gridDim.x,
        .gridDimY = config->gridDim.y,
        .gridDimZ = config->gridDim.z,
        .blockDimX = config->blockDim.x,
        .blockDimY = config->blockDim.y,
        .blockDimZ = config->blockDim.z,
        .sharedMemBytes = (unsigned)config->dynamicSmemBytes,
        .hStream = config->stream,
        .attrs = (CUlaunchAttribute *)config->attrs,
        .numAttrs = config->numAttrs,
    };
    return check(config->dynamicSmemBytes);
}

cudaError_t sim_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args)
{
    CUkernel kernel;
    CUlaunchConfig launch;
    cudaError_t error = driver_config(config, &launch);
    if (error == cudaSuccess) {
        error = sim_kernel_of(func, &kernel);
    }
    return error != cudaSuccess
               ? error
               : sim_rt_error(SIM_CU->cuLaunchKernelEx(&launch, (CUfunction)kernel, args, NULL));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Stream callbacks, whose status is a driver's result until it is handed to the program. */
#include "simgpu/runtime/runtime.h"

#include <stdlib.h>

struct sim_callback {
    cudaStreamCallback_t call;
    void *data;
};

static void CUDA_CB run_callback(CUstream stream, CUresult status, void *data)
{
    struct sim_callback callback = *(struct sim_callback *)data;
    free(data);
    callback.call(stream, sim_rt_error(status), callback.data);
}

cudaError_t sim_cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                      void *userData, unsigned int flags)
{
    if (callback == NULL || flags != 0) {
        return cudaErrorInvalidValue;
    }
    struct sim_callback *kept = malloc(sizeof *kept);
    if (kept == NULL) {
        return cudaErrorMemoryAllocation;
    }
    *kept = (struct sim_callback){callback, userData};
    CUresult result = SIM_CU->cuStreamAddCallback(stream, run_callback, kept, 0);
    if (result != CUDA_SUCCESS) {
        free(kept); /* it will not be called */
    }
    return sim_rt_error(result);
}

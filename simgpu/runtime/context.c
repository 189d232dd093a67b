/* SPDX-License-Identifier: Apache-2.0 */
/* The calling thread: entering and leaving the runtime, its device and that device's primary context. */
#include "simgpu/runtime/runtime.h"

#include <pthread.h>

#include "simgpu/runtime/unsupported.h"

_Thread_local struct sim_rt_thread sim_rt_thread;

static pthread_mutex_t primary_lock = PTHREAD_MUTEX_INITIALIZER;
static CUcontext primaries[SIM_MAX_DEVICES]; /* retained once each */
static int sticky_errors[SIM_MAX_DEVICES];

cudaError_t sim_sticky(int device)
{
    return (cudaError_t)__atomic_load_n(&sticky_errors[device], __ATOMIC_RELAXED);
}

void sim_sticky_set(int device, cudaError_t error)
{
    __atomic_store_n(&sticky_errors[device], (int)error, __ATOMIC_RELAXED);
}

cudaError_t sim_device_check(int device)
{
    int count = 0;
    cudaError_t error = sim_rt_error(SIM_CU->cuDeviceGetCount(&count));
    if (error == cudaSuccess && count == 0) {
        error = cudaErrorNoDevice;
    }
    if (error != cudaSuccess) {
        return error;
    }
    return device >= 0 && device < count && device < SIM_MAX_DEVICES ? cudaSuccess
                                                                     : cudaErrorInvalidDevice;
}

cudaError_t sim_primary(int device, CUcontext *context)
{
    cudaError_t error = sim_device_check(device);
    if (error != cudaSuccess) {
        return error;
    }
    pthread_mutex_lock(&primary_lock);
    if (primaries[device] == NULL) {
        error = sim_rt_error(SIM_CU->cuDevicePrimaryCtxRetain(&primaries[device], device));
        sim_sticky_set(device, cudaSuccess);
    }
    *context = primaries[device];
    pthread_mutex_unlock(&primary_lock);
    return error;
}

void sim_primary_forget(int device)
{
    pthread_mutex_lock(&primary_lock);
    primaries[device] = NULL;
    pthread_mutex_unlock(&primary_lock);
}

cudaError_t sim_context_current(CUcontext *current)
{
    unsigned version;
    cudaError_t error = sim_rt_error(SIM_CU->cuCtxGetCurrent(current));
    if (error == cudaSuccess && *current != NULL &&
        SIM_CU->cuCtxGetApiVersion(*current, &version) != CUDA_SUCCESS) {
        *current = NULL;
    }
    return error;
}

bool sim_primary_is_current(int device)
{
    CUcontext current = NULL;
    (void)sim_context_current(&current);
    pthread_mutex_lock(&primary_lock);
    bool is = current == NULL || current == primaries[device];
    pthread_mutex_unlock(&primary_lock);
    return is;
}

cudaError_t sim_bind(int device)
{
    CUcontext context;
    cudaError_t error = sim_primary(device, &context);
    if (error != cudaSuccess) {
        return error;
    }
    CUresult result = SIM_CU->cuCtxSetCurrent(context);
    if (result == CUDA_ERROR_INVALID_CONTEXT) {
        /* Reset through the driver API since it was retained. */
        sim_primary_forget(device);
        error = sim_primary(device, &context);
        result = error == cudaSuccess ? SIM_CU->cuCtxSetCurrent(context) : result;
    }
    return error != cudaSuccess ? error : sim_rt_error(result);
}

int sim_current_device(void)
{
    int device;
    return SIM_CU->cuCtxGetDevice(&device) == CUDA_SUCCESS ? device : sim_rt_thread.device;
}

cudaError_t sim_rt_enter(enum sim_need need, bool per_thread)
{
    if (need == SIM_NEED_NOTHING) {
        return cudaSuccess;
    }
    cudaError_t error = sim_driver_start();
    sim_rt_thread.calls = sim_driver_calls(per_thread);
    if (error != cudaSuccess || need == SIM_NEED_DRIVER) {
        return error;
    }
    CUcontext current = NULL;
    error = sim_context_current(&current);
    if (error == cudaSuccess && current == NULL) {
        error = sim_bind(sim_rt_thread.device);
    }
    /* A device that faulted answers everything with that, until it is reset. */
    return error != cudaSuccess ? error : sim_sticky(sim_rt_thread.device);
}

cudaError_t sim_leave(cudaError_t error)
{
    if (error != cudaSuccess) {
        sim_rt_thread.last_error = error;
        if (sim_error_is_sticky(error)) {
            sim_sticky_set(sim_rt_thread.device, error);
        }
    }
    return error;
}

cudaError_t sim_leave_unsupported(void)
{
    return sim_leave(cudaErrorNotSupported);
}

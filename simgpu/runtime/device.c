/* SPDX-License-Identifier: Apache-2.0 */
/* Asking about devices, and choosing one. */
#include "simgpu/runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

cudaError_t sim_cudaRuntimeGetVersion(int *runtimeVersion)
{
    if (runtimeVersion == NULL) {
        return cudaErrorInvalidValue;
    }
    *runtimeVersion = CUDART_VERSION;
    return cudaSuccess;
}

/* 0 without a driver, and that is no error. */
cudaError_t sim_cudaDriverGetVersion(int *driverVersion)
{
    if (driverVersion == NULL) {
        return cudaErrorInvalidValue;
    }
    *driverVersion = sim_driver_version();
    return cudaSuccess;
}

cudaError_t sim_cudaGetDeviceCount(int *count)
{
    if (count == NULL) {
        return cudaErrorInvalidValue;
    }
    *count = 0;
    cudaError_t error = sim_rt_enter(SIM_NEED_DRIVER, false);
    if (error == cudaSuccess) {
        error = sim_rt_error(SIM_CU->cuDeviceGetCount(count));
    }
    return error == cudaSuccess && *count == 0 ? cudaErrorNoDevice : error;
}

int sim_device_attribute(int device, int attribute)
{
    int value = 0;
    return SIM_CU->cuDeviceGetAttribute(&value, (CUdevice_attribute)attribute, device) ==
                   CUDA_SUCCESS
               ? value
               : 0;
}

cudaError_t sim_cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
    cudaError_t error = value == NULL ? cudaErrorInvalidValue : sim_device_check(device);
    /* The numbers are the driver's: see driver_types.h and cuda.h. */
    return error != cudaSuccess ? error
                                : sim_rt_error(SIM_CU->cuDeviceGetAttribute(
                                      value, (CUdevice_attribute)(int)attr, device));
}

cudaError_t sim_cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    cudaError_t error = prop == NULL ? cudaErrorInvalidValue : sim_device_check(device);
    if (error != cudaSuccess) {
        return error;
    }
    memset(prop, 0, sizeof *prop);
    CUuuid uuid;
    CUresult result = SIM_CU->cuDeviceGetName(prop->name, sizeof prop->name, device);
    if (result == CUDA_SUCCESS) {
        result = SIM_CU->cuDeviceTotalMem_v2(&prop->totalGlobalMem, device);
    }
    if (result == CUDA_SUCCESS) {
        result = SIM_CU->cuDeviceGetUuid_v2(&uuid, device);
    }
    if (result != CUDA_SUCCESS) {
        return sim_rt_error(result);
    }
    memcpy(&prop->uuid, &uuid, sizeof prop->uuid);
#define SIM_PROPERTY(field, attribute) \
    prop->field = (__typeof__(prop->field))sim_device_attribute(device, \
                                                                CU_DEVICE_ATTRIBUTE_##attribute);
#include "simgpu/runtime/properties.def"
    return cudaSuccess;
}

/* How many of the wishes in `prop` (its non-zero fields) the device falls short of. */
static unsigned shortfalls(const struct cudaDeviceProp *wish, const struct cudaDeviceProp *has)
{
    int wanted = wish->major * 1000 + wish->minor;
    return (unsigned)(wanted > has->major * 1000 + has->minor) +
           (wish->totalGlobalMem > has->totalGlobalMem) +
           (wish->multiProcessorCount > has->multiProcessorCount) +
           (wish->sharedMemPerBlock > has->sharedMemPerBlock) +
           (wish->maxThreadsPerBlock > has->maxThreadsPerBlock) +
           (wish->regsPerBlock > has->regsPerBlock);
}

cudaError_t sim_cudaChooseDevice(int *device, const struct cudaDeviceProp *prop)
{
    if (device == NULL || prop == NULL) {
        return cudaErrorInvalidValue;
    }
    int count;
    cudaError_t error = sim_cudaGetDeviceCount(&count);
    unsigned least = UINT32_MAX;
    for (int i = 0; error == cudaSuccess && i < count; i++) {
        struct cudaDeviceProp has;
        error = sim_cudaGetDeviceProperties(&has, i);
        if (error == cudaSuccess && shortfalls(prop, &has) < least) {
            least = shortfalls(prop, &has);
            *device = i;
        }
    }
    return error;
}

cudaError_t sim_cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags)
{
    CUcontext context;
    cudaError_t error = (flags & ~(unsigned)cudaInitDeviceFlagsAreValid) != 0
                            ? cudaErrorInvalidValue
                            : sim_device_check(device);
    if (error == cudaSuccess && flags != 0) {
        error = sim_rt_error(SIM_CU->cuDevicePrimaryCtxSetFlags_v2(device, deviceFlags));
    }
    return error == cudaSuccess ? sim_primary(device, &context) : error;
}

/* A device that cannot be had stays unchosen: what was chosen before goes on. */
cudaError_t sim_cudaSetDevice(int device)
{
    cudaError_t error = sim_bind(device);
    if (error == cudaSuccess) {
        sim_rt_thread.device = device;
    }
    return error;
}

cudaError_t sim_cudaGetDevice(int *device)
{
    if (device == NULL) {
        return cudaErrorInvalidValue;
    }
    *device = sim_current_device();
    return sim_device_check(*device);
}

/* Every device of the list works, so the first one is the one to try. */
cudaError_t sim_cudaSetValidDevices(int *device_arr, int len)
{
    int count;
    cudaError_t error = sim_cudaGetDeviceCount(&count);
    if (error != cudaSuccess) {
        return error;
    }
    if (len < 0 || len > count || (len != 0 && device_arr == NULL)) {
        return cudaErrorInvalidValue;
    }
    for (int i = 0; i < len; i++) {
        if (device_arr[i] < 0 || device_arr[i] >= count) {
            return cudaErrorInvalidDevice;
        }
    }
    CUcontext current = NULL;
    if (sim_context_current(&current) == cudaSuccess && current == NULL) {
        sim_rt_thread.device = len != 0 ? device_arr[0] : 0;
    }
    return cudaSuccess;
}

#define SETTABLE_FLAGS \
    (cudaDeviceScheduleMask | cudaDeviceMapHost | cudaDeviceLmemResizeToMax | cudaDeviceSyncMemops)

cudaError_t sim_cudaSetDeviceFlags(unsigned int flags)
{
    unsigned schedule = flags & cudaDeviceScheduleMask;
    if ((flags & ~(unsigned)SETTABLE_FLAGS) != 0 || (schedule & (schedule - 1)) != 0) {
        return cudaErrorInvalidValue;
    }
    int device = sim_current_device();
    cudaError_t error = sim_device_check(device);
    if (error == cudaSuccess) {
        error = sim_rt_error(
            SIM_CU->cuDevicePrimaryCtxSetFlags_v2(device, flags & ~(unsigned)cudaDeviceMapHost));
    }
    return error == cudaSuccess ? sim_bind(device) : error;
}

/* Mapped host memory goes without saying in contexts that the runtime makes. */
cudaError_t sim_cudaGetDeviceFlags(unsigned int *flags)
{
    if (flags == NULL) {
        return cudaErrorInvalidValue;
    }
    int active;
    int device = sim_current_device();
    cudaError_t error = sim_rt_error(SIM_CU->cuDevicePrimaryCtxGetState(device, flags, &active));
    if (error == cudaSuccess) {
        *flags |= cudaDeviceMapHost;
    }
    return error;
}

/* A context that the program made through the driver API is the program's to destroy. */
cudaError_t sim_cudaDeviceReset(void)
{
    int device = sim_current_device();
    cudaError_t error = sim_device_check(device);
    if (error == cudaSuccess && !sim_primary_is_current(device)) {
        return cudaSuccess;
    }
    if (error == cudaSuccess) {
        sim_primary_forget(device);
        error = sim_rt_error(SIM_CU->cuDevicePrimaryCtxReset_v2(device));
    }
    if (error == cudaSuccess) {
        error = sim_rt_error(SIM_CU->cuCtxSetCurrent(NULL));
        sim_sticky_set(device, cudaSuccess);
        sim_rt_thread.last_error = cudaSuccess;
    }
    return error;
}

/* Banks are four bytes wide on every device since Maxwell, whatever is asked for. */
cudaError_t sim_cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *pConfig)
{
    if (pConfig == NULL) {
        return cudaErrorInvalidValue;
    }
    *pConfig = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}

cudaError_t sim_cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    return config <= cudaSharedMemBankSizeEightByte ? cudaSuccess : cudaErrorInvalidValue;
}

/* ---- peers ---------------------------------------------------------------------------------- */

cudaError_t sim_cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags)
{
    CUcontext peer;
    cudaError_t error = flags != 0 ? cudaErrorInvalidValue : sim_primary(peerDevice, &peer);
    return error != cudaSuccess ? error : sim_rt_error(SIM_CU->cuCtxEnablePeerAccess(peer, 0));
}

cudaError_t sim_cudaDeviceDisablePeerAccess(int peerDevice)
{
    CUcontext peer;
    cudaError_t error = sim_primary(peerDevice, &peer);
    return error != cudaSuccess ? error : sim_rt_error(SIM_CU->cuCtxDisablePeerAccess(peer));
}

/* ---- entry points of the driver ------------------------------------------------------------- */

static cudaError_t entry_point(const char *symbol, void **function, unsigned version,
                               unsigned long long flags, bool per_thread,
                               enum cudaDriverEntryPointQueryResult *status)
{
    if (symbol == NULL || function == NULL || version > CUDART_VERSION ||
        flags > cudaEnablePerThreadDefaultStream) {
        return cudaErrorInvalidValue;
    }
    if (flags == cudaEnableDefault) {
        flags = per_thread ? cudaEnablePerThreadDefaultStream : cudaEnableLegacyStream;
    }
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    *function = NULL;
    CUresult result = SIM_CU->cuGetProcAddress_v2(symbol, function, (int)version, flags, &found);
    if (status != NULL) {
        *status = (enum cudaDriverEntryPointQueryResult)found;
    }
    return result == CUDA_ERROR_NOT_FOUND ? cudaSuccess : sim_rt_error(result);
}

cudaError_t sim_cudaGetDriverEntryPoint(const char *symbol, void **funcPtr,
                                        unsigned long long flags,
                                        enum cudaDriverEntryPointQueryResult *driverStatus)
{
    return entry_point(symbol, funcPtr, CUDART_VERSION, flags, false, driverStatus);
}

cudaError_t sim_cudaGetDriverEntryPoint_ptsz(const char *symbol, void **funcPtr,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *driverStatus)
{
    return entry_point(symbol, funcPtr, CUDART_VERSION, flags, true, driverStatus);
}

cudaError_t sim_cudaGetDriverEntryPointByVersion(const char *symbol, void **funcPtr,
                                                 unsigned int cudaVersion, unsigned long long flags,
                                                 enum cudaDriverEntryPointQueryResult *driverStatus)
{
    return entry_point(symbol, funcPtr, cudaVersion, flags, false, driverStatus);
}

cudaError_t
sim_cudaGetDriverEntryPointByVersion_ptsz(const char *symbol, void **funcPtr,
                                          unsigned int cudaVersion, unsigned long long flags,
                                          enum cudaDriverEntryPointQueryResult *driverStatus)
{
    return entry_point(symbol, funcPtr, cudaVersion, flags, true, driverStatus);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Initialization and the devices of the software device: SIMGPU_DEVICES of them (default 2). */
#include "simgpu/driver/driver.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 0 = cuInit not called yet; otherwise 1, or 2 in a child forked after it. */
static int driver_state;

static void mark_forked(void)
{
    if (driver_state == 1) {
        driver_state = 2;
    }
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, mark_forked);
}

CUresult sim_call_allowed(void)
{
    return __atomic_load_n(&driver_state, __ATOMIC_ACQUIRE) == 1 ? CUDA_SUCCESS
                                                                 : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult sim_cuInit(unsigned int Flags)
{
    if (Flags != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    int none = 0;
    __atomic_compare_exchange_n(&driver_state, &none, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return sim_call_allowed();
}

CUresult sim_cuDriverGetVersion(int *driverVersion)
{
    if (driverVersion == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *driverVersion = SIM_VERSION;
    return CUDA_SUCCESS;
}

static int device_count(void)
{
    const char *text = getenv("SIMGPU_DEVICES");
    int count = text != NULL ? atoi(text) : 2;
    return count < 0 ? 0 : count > SIM_MAX_DEVICES ? SIM_MAX_DEVICES : count;
}

bool sim_device_valid(CUdevice device)
{
    return device >= 0 && device < device_count();
}

/* Every query of a device: refuse a NULL result or an unknown device. */
static CUresult check(const void *out, CUdevice device)
{
    return out == NULL                 ? CUDA_ERROR_INVALID_VALUE
           : !sim_device_valid(device) ? CUDA_ERROR_INVALID_DEVICE
                                       : CUDA_SUCCESS;
}

CUresult sim_cuDeviceGet(CUdevice *device, int ordinal)
{
    CUresult result = check(device, ordinal);
    if (result == CUDA_SUCCESS) {
        *device = ordinal;
    }
    return result;
}

CUresult sim_cuDeviceGetCount(int *count)
{
    if (count == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *count = device_count();
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetName(char *name, int len, CUdevice dev)
{
    CUresult result = check(name, dev);
    if (result == CUDA_SUCCESS && len > 0) {
        snprintf(name, (size_t)len, "Stand-in GPU");
    }
    return result;
}

CUresult sim_cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
    CUresult result = check(uuid, dev);
    if (result == CUDA_SUCCESS) {
        memcpy(uuid->bytes, "software device driver", sizeof uuid->bytes);
        uuid->bytes[15] = (char)dev;
    }
    return result;
}

CUresult sim_cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
    return sim_cuDeviceGetUuid_v2(uuid, dev);
}

CUresult sim_cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
    CUresult result = check(bytes, dev);
    if (result == CUDA_SUCCESS) {
        *bytes = sim_memory_limit();
    }
    return result;
}

CUresult sim_cuDeviceTotalMem(unsigned int *bytes, CUdevice dev)
{
    CUresult result = check(bytes, dev);
    if (result == CUDA_SUCCESS) {
        size_t limit = sim_memory_limit();
        *bytes = (unsigned)(limit < UINT32_MAX ? limit : UINT32_MAX);
    }
    return result;
}

/* Those of a Hopper board, as far as programs and gmtrace ask for them. */
static const struct {
    CUdevice_attribute attribute;
    int value;
} device_attributes[] = {
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
    {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 50 << 20},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 2619000},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 5120},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
    {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 1},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2147483647},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
    {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1},
};

CUresult sim_cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
    CUresult result = check(pi, dev);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (attrib <= 0 || attrib >= CU_DEVICE_ATTRIBUTE_MAX) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pi = attrib == CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID ? dev : 0;
    for (size_t i = 0; i < sizeof device_attributes / sizeof device_attributes[0]; i++) {
        if (device_attributes[i].attribute == attrib) {
            *pi = device_attributes[i].value;
        }
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
    CUresult result = check(minor, dev);
    if (result == CUDA_SUCCESS && major == NULL) {
        result = CUDA_ERROR_INVALID_VALUE;
    }
    if (result == CUDA_SUCCESS) {
        *major = 9;
        *minor = 0;
    }
    return result;
}

CUresult sim_cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)
{
    CUresult result = check(pciBusId, dev);
    if (result == CUDA_SUCCESS && len > 0) {
        snprintf(pciBusId, (size_t)len, "0000:01:%02x.0", (unsigned)dev);
    }
    return result;
}

CUresult sim_cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId)
{
    unsigned device;
    if (dev == NULL || pciBusId == NULL || sscanf(pciBusId, "%*x:01:%x.0", &device) != 1) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return sim_cuDeviceGet(dev, (int)device);
}

CUresult sim_cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
{
    CUresult result = check(canAccessPeer, dev);
    if (result == CUDA_SUCCESS) {
        result = check(canAccessPeer, peerDev);
    }
    if (result == CUDA_SUCCESS) {
        *canAccessPeer = dev != peerDev;
    }
    return result;
}

/* ---- errors ---- */

static const struct {
    CUresult code;
    const char *name, *text;
} error_texts[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {CUDA_ERROR_FILE_NOT_FOUND, "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
};

static CUresult error_text(CUresult error, const char **out, bool name)
{
    if (out == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < sizeof error_texts / sizeof error_texts[0]; i++) {
        if (error_texts[i].code == error) {
            *out = name ? error_texts[i].name : error_texts[i].text;
            return CUDA_SUCCESS;
        }
    }
    *out = NULL;
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuGetErrorName(CUresult error, const char **pStr)
{
    return error_text(error, pStr, true);
}

CUresult sim_cuGetErrorString(CUresult error, const char **pStr)
{
    return error_text(error, pStr, false);
}

CUresult sim_cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId)
{
    (void)pExportTableId;
    if (ppExportTable != NULL) {
        *ppExportTable = NULL;
    }
    return CUDA_ERROR_NOT_FOUND;
}

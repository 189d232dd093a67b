/* SPDX-License-Identifier: Apache-2.0 */
/* Initialization and the devices: SIMGPU_DEVICES of them, all alike. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "simgpu/driver/late.h"

/* 0 = cuInit not called yet; otherwise 1, or 2 in a child forked after it. */
static int driver_state;

static void in_child(void)
{
    if (driver_state == 1) {
        driver_state = 2;
    }
    sim_after_fork();
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

/* What kernels printed last. A forked child's copy of it is the parent's to print. */
__attribute__((destructor)) static void print_the_rest(void)
{
    if (sim_call_allowed() == CUDA_SUCCESS) {
        if (sim_order_on()) {
            sim_order_stop();
        }
        sim_print_flush();
    }
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
    if (sim_device_count() == 0) {
        return CUDA_ERROR_NO_DEVICE;
    }
    sim_load_tool();
    sim_skip_begin();
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
    *count = sim_device_count();
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetName(char *name, int len, CUdevice dev)
{
    CUresult result = check(name, dev);
    if (result == CUDA_SUCCESS && len > 0) {
        (void)snprintf(name, (size_t)len, "gmtrace software device");
    }
    return result;
}

/* The same in every process: the ordinal in the last byte. */
CUresult sim_cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
    CUresult result = check(uuid, dev);
    if (result == CUDA_SUCCESS) {
        memcpy(uuid->bytes, "gmtrace simgpu\0", sizeof uuid->bytes - 1);
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
        *bytes = sim_heap_limit();
    }
    return result;
}

CUresult sim_cuDeviceTotalMem(unsigned int *bytes, CUdevice dev)
{
    CUresult result = check(bytes, dev);
    if (result == CUDA_SUCCESS) {
        size_t limit = sim_heap_limit();
        *bytes = (unsigned)(limit < UINT32_MAX ? limit : UINT32_MAX);
    }
    return result;
}

static const struct {
    CUdevice_attribute attribute;
    int value;
} attributes[] = {
#define ATTRIBUTE(name, value) {CU_DEVICE_ATTRIBUTE_##name, value},
#include "simgpu/driver/attributes.def"
#undef ATTRIBUTE
};
_Static_assert(sizeof attributes / sizeof attributes[0] == CU_DEVICE_ATTRIBUTE_MAX - 1,
               "one row for each attribute");

CUresult sim_cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
    CUresult result = check(pi, dev);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (attrib <= 0 || attrib >= CU_DEVICE_ATTRIBUTE_MAX) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        if (attributes[i].attribute == attrib) {
            *pi = attrib == CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID ? dev : attributes[i].value;
        }
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
    CUresult result = major == NULL ? CUDA_ERROR_INVALID_VALUE : check(minor, dev);
    if (result == CUDA_SUCCESS) {
        *major = SIM_COMPUTE_MAJOR;
        *minor = SIM_COMPUTE_MINOR;
    }
    return result;
}

CUresult sim_cuDeviceGetProperties(CUdevprop *prop, CUdevice dev)
{
    CUresult result = check(prop, dev);
    if (result == CUDA_SUCCESS) {
        *prop = (CUdevprop){.maxThreadsPerBlock = 1024,
                            .maxThreadsDim = {1024, 1024, 64},
                            .maxGridSize = {2147483647, 65535, 65535},
                            .sharedMemPerBlock = SIM_DEFAULT_SHARED_BYTES,
                            .totalConstantMemory = 65536,
                            .SIMDWidth = 32,
                            .memPitch = 2147483647,
                            .regsPerBlock = 65536,
                            .textureAlign = 512};
    }
    return result;
}

CUresult sim_cuDeviceGetExecAffinitySupport(int *pi, CUexecAffinityType type, CUdevice dev)
{
    CUresult result = (unsigned)type >= CU_EXEC_AFFINITY_TYPE_MAX ? CUDA_ERROR_INVALID_VALUE
                                                                  : check(pi, dev);
    if (result == CUDA_SUCCESS) {
        *pi = 0;
    }
    return result;
}

CUresult sim_cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)
{
    CUresult result = check(pciBusId, dev);
    if (result == CUDA_SUCCESS && len > 0) {
        (void)snprintf(pciBusId, (size_t)len, "0000:01:%02x.0", (unsigned)dev);
    }
    return result;
}

CUresult sim_cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId)
{
    unsigned domain = 0, bus, device;
    if (dev == NULL || pciBusId == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    /* With or without the domain, as the driver takes it. */
    if (sscanf(pciBusId, "%x:%x:%x", &domain, &bus, &device) != 3 &&
        (domain = 0, sscanf(pciBusId, "%x:%x", &bus, &device)) != 2) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return domain != 0 || bus != 1 || device >= (unsigned)sim_device_count()
               ? CUDA_ERROR_INVALID_DEVICE
               : sim_cuDeviceGet(dev, (int)device);
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

CUresult sim_cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId)
{
    static atomic_bool said;
    (void)pExportTableId;
    /* A driver that passes for another one (SIMGPU_INTERFACE=0) is asked by CUPTI, too. */
    if (simgpu_interface() != NULL && !atomic_exchange(&said, true)) {
        sim_say("cuGetExportTable is not supported; NVIDIA's CUDA runtime needs it: rebuild with "
                "CUDA 13 and nvcc -cudart shared");
    }
    if (ppExportTable != NULL) {
        *ppExportTable = NULL;
    }
    return CUDA_ERROR_NOT_FOUND;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what the trace keeps of a device, and counts references to its primary context (device.h). */
#include "preload/state/device.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "libtrace/record/spool.h"
#include "preload/driver/resolve.h"
#include "preload/session/device_text.h"

enum { DEVICES = 64 };

static _Atomic uint64_t noted; /* one bit per ordinal */
/* To primary contexts: those that hooks saw taken less those that they saw given back, never more than there are. */
static _Atomic unsigned references[DEVICES];

static uint32_t attribute(CUdevice device, CUdevice_attribute name)
{
    int value = 0;
    if (gmt_driver.cuDeviceGetAttribute == NULL ||
        gmt_driver.cuDeviceGetAttribute(&value, name, device) != CUDA_SUCCESS) {
        value = 0;
    }
    return (uint32_t)value;
}

void gmt_device_note(CUdevice device)
{
    uint64_t bit = UINT64_C(1) << ((unsigned)device & 63u);
    if ((atomic_fetch_or_explicit(&noted, bit, memory_order_relaxed) & bit) != 0) {
        return;
    }
    char name[256] = "unknown", uuid_text[48] = "", driver[32], more[128];
    size_t memory_bytes = 0;
    int version = 0;
    CUuuid uuid;
    if (gmt_driver.cuDeviceGetName != NULL) {
        (void)gmt_driver.cuDeviceGetName(name, sizeof(name), device);
    }
    if (gmt_driver.cuDeviceGetUuid_v2 != NULL &&
        gmt_driver.cuDeviceGetUuid_v2(&uuid, device) == CUDA_SUCCESS) {
        gmt_device_format_uuid(&uuid, uuid_text);
    }
    if (gmt_driver.cuDeviceTotalMem_v2 != NULL) {
        (void)gmt_driver.cuDeviceTotalMem_v2(&memory_bytes, device);
    }
    if (gmt_driver.cuDriverGetVersion != NULL) {
        (void)gmt_driver.cuDriverGetVersion(&version);
    }
    gmt_device_driver_version(driver);
    (void)snprintf(more, sizeof(more), "pageable_memory_access=%u;texture_pitch_alignment=%u",
                   attribute(device, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS),
                   attribute(device, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT));
    struct gmt_device record = {
        .ordinal = (uint32_t)device,
        .compute_major = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
        .compute_minor = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        .sm_count = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        .memory_bytes = memory_bytes,
        .l2_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE),
        .cuda_driver_version = (uint32_t)version,
        .max_threads_per_sm = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
        .registers_per_sm = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR),
        .shared_bytes_per_sm = attribute(device,
                                         CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
        .max_blocks_per_sm = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
        .warp_size = attribute(device, CU_DEVICE_ATTRIBUTE_WARP_SIZE),
        .shared_bytes_per_block_optin = attribute(
            device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
        .reserved_shared_bytes_per_block = attribute(
            device, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK),
        .pci_bus = attribute(device, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
        .integrated = attribute(device, CU_DEVICE_ATTRIBUTE_INTEGRATED),
    };
    (void)gmt_spool_side(GMT_REC_DEVICE, &record, sizeof(record),
                         (const char *[]){name, uuid_text, driver, more}, 4);
}

/* ---- primary contexts ------------------------------------------------------------------------ */

void gmt_primary_retained(CUdevice device)
{
    if (device >= 0 && device < DEVICES) {
        atomic_fetch_add(&references[device], 1);
    }
}

/* Before the call: of two that release at once one sees the other's reference gone. */
bool gmt_primary_releasing(CUdevice device)
{
    unsigned count = device >= 0 && device < DEVICES ? atomic_load(&references[device]) : 0;
    while (count != 0 && !atomic_compare_exchange_weak(&references[device], &count, count - 1)) {
    }
    return count <= 1;
}

void gmt_primary_resetting(CUdevice device)
{
    if (device >= 0 && device < DEVICES) {
        atomic_store(&references[device], 0);
    }
}

void gmt_device_reset(void)
{
    noted = 0;
    for (unsigned i = 0; i < DEVICES; i++) {
        atomic_store(&references[i], 0);
    }
}

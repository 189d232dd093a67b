/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what the trace keeps of a device. */
#include "preload/device.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/record/spool.h"
#include "preload/resolve.h"

static _Atomic uint64_t noted; /* one bit per ordinal */

static uint32_t attribute(CUdevice device, CUdevice_attribute name)
{
    int value = 0;
    if (gmt_driver.cuDeviceGetAttribute == NULL ||
        gmt_driver.cuDeviceGetAttribute(&value, name, device) != CUDA_SUCCESS) {
        value = 0;
    }
    return (uint32_t)value;
}

void gmt_device_format_uuid(const CUuuid *uuid, char text[static 48])
{
    size_t used = (size_t)snprintf(text, 48, "GPU");
    for (int i = 0; i < 16; i++) {
        bool dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
        used += (size_t)snprintf(text + used, 48 - used, "%s%02x", dash ? "-" : "",
                                 (unsigned char)uuid->bytes[i]);
    }
}

void gmt_device_driver_version(char text[static 32])
{
    char file[512];
    text[0] = '\0';
    int fd = open("/proc/driver/nvidia/version", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, file, sizeof(file) - 1) : -1;
    if (fd >= 0) {
        close(fd);
    }
    if (got <= 0) {
        return;
    }
    file[got] = '\0';
    /* "... Kernel Module  580.159.04  ...": the first word of digits and dots. */
    char *rest;
    for (char *word = strtok_r(file, " \t\n", &rest); word != NULL;
         word = strtok_r(NULL, " \t\n", &rest)) {
        if (isdigit((unsigned char)word[0]) && strchr(word, '.') != NULL &&
            strspn(word, "0123456789.") == strlen(word)) {
            (void)snprintf(text, 32, "%s", word);
            return;
        }
    }
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

void gmt_device_reset(void)
{
    noted = 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and describes the device. */
#include "kernels/measure/device.h"

#include <cuda_runtime.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kernels/bench/bench.h"
#include "kernels/fit/model.h"
#include "kernels/fit/model_files.h"

/* As nvidia-smi writes it. */
static void format_uuid(const cudaUUID_t *uuid, char *text, size_t bytes)
{
    size_t used = (size_t)snprintf(text, bytes, "GPU-");

    for (size_t i = 0; i < sizeof(uuid->bytes) && used < bytes; i++) {
        const char *dash = i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";

        used += (size_t)snprintf(text + used, bytes - used, "%s%02x", dash,
                                 (unsigned)(unsigned char)uuid->bytes[i]);
    }
}

/* Why there is no device at all. */
static void say_none(cudaError_t status, char *message, size_t bytes)
{
    char driver[64] = "";

    if (gmt_driver_version(driver, sizeof(driver)) != 0) {
        snprintf(message, bytes, "no GPU to calibrate: no NVIDIA driver is loaded on this machine");
    } else if (status == cudaErrorInsufficientDriver) {
        snprintf(message, bytes,
                 "driver %s cannot be used: libcuda.so.1 is missing or older than "
                 "CUDA %d.%d",
                 driver, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    } else {
        snprintf(message, bytes, "no GPU to calibrate (driver %s): %s", driver,
                 cudaGetErrorString(status));
    }
}

static int find_uuid(const char *name, int count, int *device, char *message, size_t bytes)
{
    for (int i = 0; i < count; i++) {
        struct cudaDeviceProp properties;
        char uuid[64];

        if (cudaGetDeviceProperties(&properties, i) != cudaSuccess) {
            continue;
        }
        format_uuid(&properties.uuid, uuid, sizeof(uuid));
        if (strcasecmp(uuid, name) == 0) {
            *device = i;
            return 0;
        }
    }
    snprintf(message, bytes, "no device %s among the %d that CUDA shows here", name, count);
    return -ENODEV;
}

int gmt_device_find(const char *name, int *device, char *message, size_t bytes)
{
    bool is_uuid = strncasecmp(name, "GPU-", 4) == 0;
    char *end;
    errno = 0;
    long number = strtol(name, &end, 10);
    int count = 0;

    if (!is_uuid && (errno != 0 || end == name || *end != '\0' || number < 0 || number > INT_MAX)) {
        snprintf(message, bytes, "--device takes a number or a UUID, not '%s'", name);
        return -EINVAL;
    }
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0) {
        say_none(status, message, bytes);
        return -ENODEV;
    }
    if (is_uuid) {
        return find_uuid(name, count, device, message, bytes);
    }
    if (number >= count) {
        snprintf(message, bytes, "no device %ld: this machine has %d, counted from 0", number,
                 count);
        return -ENODEV;
    }
    *device = (int)number;
    return 0;
}

static json_t *describe(int device)
{
    struct cudaDeviceProp properties;
    char uuid[64], driver[64], capability[32];
    int driver_version = 0;
    json_t *object = json_object();

    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) {
        return object;
    }
    cudaDriverGetVersion(&driver_version);
    format_uuid(&properties.uuid, uuid, sizeof(uuid));
    snprintf(capability, sizeof(capability), "%d.%d", properties.major, properties.minor);
    if (gmt_driver_version(driver, sizeof(driver)) != 0) {
        snprintf(driver, sizeof(driver), "%d", driver_version);
    }
    json_object_set_new(object, "name", json_string(properties.name));
    json_object_set_new(object, "uuid", json_string(uuid));
    json_object_set_new(object, "compute_capability", json_string(capability));
    json_object_set_new(object, "driver_version", json_string(driver));
    json_object_set_new(object, "cuda_driver_version", json_integer(driver_version));
    json_object_set_new(object, "sm_count", json_integer(properties.multiProcessorCount));
    json_object_set_new(object, "l2_bytes", json_integer(properties.l2CacheSize));
    json_object_set_new(object, "memory_bytes",
                        json_integer((json_int_t)properties.totalGlobalMem));
    json_object_set_new(object, "max_warps_per_sm",
                        json_integer(properties.maxThreadsPerMultiProcessor / 32));
    json_object_set_new(object, "max_blocks_per_sm",
                        json_integer(properties.maxBlocksPerMultiProcessor));
    json_object_set_new(object, "shared_bytes_per_sm",
                        json_integer((json_int_t)properties.sharedMemPerMultiprocessor));
    json_object_set_new(object, "shared_bytes_per_block_max",
                        json_integer((json_int_t)properties.sharedMemPerBlockOptin));
    json_object_set_new(object, "registers_per_sm", json_integer(properties.regsPerMultiprocessor));
    json_object_set_new(object, "copy_engines", json_integer(properties.asyncEngineCount));
    json_object_set_new(object, "integrated", json_boolean(properties.integrated));
    json_object_set_new(object, "ecc", json_boolean(properties.ECCEnabled));
    return object;
}

json_t *gmt_device_raw(int device, const char *tool_version, const char *command)
{
    json_t *raw = json_object();
    char now[32];

    gmt_time_iso(now, sizeof(now));
    json_object_set_new(raw, "format", json_string(GMT_RAW_FORMAT));
    json_object_set_new(raw, "version", json_integer(GMT_MODEL_VERSION));
    json_object_set_new(raw, "tool_version", json_string(tool_version));
    json_object_set_new(raw, "created", json_string(now));
    json_object_set_new(raw, "command", json_string_nocheck(command));
    json_object_set_new(raw, "device", describe(device));
    return raw;
}

void gmt_device_settings(struct gmt_bench *bench)
{
    json_t *settings = json_object();

    json_object_set_new(bench->raw, "quick", json_boolean(bench->quick));
    json_object_set_new(settings, "samples", json_integer((json_int_t)bench->sample_count));
    json_object_set_new(settings, "hurried", json_boolean(bench->hurried));
    json_object_set_new(settings, "working_set_bytes",
                        json_integer((json_int_t)bench->working_set_bytes));
    json_object_set_new(settings, "largest_copy_bytes",
                        json_integer((json_int_t)bench->host_bytes));
    json_object_set_new(settings, "elapsed_ms",
                        json_integer((json_int_t)((gmt_now_ns() - bench->began_ns) / 1000000)));
    json_object_set_new(bench->raw, "settings", settings);
}

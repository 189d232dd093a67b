/* SPDX-License-Identifier: Apache-2.0 */
/* Devices of the software device's runtime: counting, choosing, asking, resetting. */
#include "check.h"

#include <pthread.h>

Test(devices, are_as_many_as_asked_for)
{
    int count = 0;
    setenv("SIMGPU_DEVICES", "3", 1);
    expect_success(cudaGetDeviceCount(&count));
    cr_assert_eq(count, 3);
    expect_error(cudaErrorInvalidValue, cudaGetDeviceCount(NULL));
}

Test(devices, may_be_none_at_all)
{
    int count = 5;
    void *memory;
    setenv("SIMGPU_DEVICES", "0", 1);
    expect_error(cudaErrorNoDevice, cudaGetDeviceCount(&count));
    cr_assert_eq(count, 0);
    expect_error(cudaErrorNoDevice, cudaMalloc(&memory, 4));
    expect_error(cudaErrorNoDevice, cudaSetDevice(0));
}

static void *device_of_another_thread(void *out)
{
    expect_success(cudaGetDevice(out));
    return NULL;
}

Test(devices, are_chosen_by_each_thread)
{
    int device = -1;
    pthread_t thread;
    setenv("SIMGPU_DEVICES", "2", 1);
    expect_success(cudaSetDevice(1));
    expect_success(cudaGetDevice(&device));
    cr_assert_eq(device, 1);
    cr_assert_eq(pthread_create(&thread, NULL, device_of_another_thread, &device), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    cr_assert_eq(device, 0);
}

Test(devices, that_do_not_exist_change_nothing)
{
    int device = -1;
    setenv("SIMGPU_DEVICES", "2", 1);
    expect_success(cudaSetDevice(1));
    expect_error(cudaErrorInvalidDevice, cudaSetDevice(2));
    expect_error(cudaErrorInvalidDevice, cudaSetDevice(-1));
    expect_success(cudaGetDevice(&device));
    cr_assert_eq(device, 1);
}

Test(devices, have_properties_that_agree_with_their_attributes)
{
    struct cudaDeviceProp properties;
    memset(&properties, 0xff, sizeof properties);
    expect_success(cudaGetDeviceProperties(&properties, 0));
    const struct {
        enum cudaDeviceAttr attribute;
        long long property;
    } pairs[] = {
        {cudaDevAttrMaxThreadsPerBlock, properties.maxThreadsPerBlock},
        {cudaDevAttrMaxBlockDimZ, properties.maxThreadsDim[2]},
        {cudaDevAttrMaxGridDimX, properties.maxGridSize[0]},
        {cudaDevAttrMaxSharedMemoryPerBlock, (long long)properties.sharedMemPerBlock},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, (long long)properties.sharedMemPerBlockOptin},
        {cudaDevAttrWarpSize, properties.warpSize},
        {cudaDevAttrMultiProcessorCount, properties.multiProcessorCount},
        {cudaDevAttrComputeCapabilityMajor, properties.major},
        {cudaDevAttrComputeCapabilityMinor, properties.minor},
        {cudaDevAttrL2CacheSize, properties.l2CacheSize},
        {cudaDevAttrMaxRegistersPerMultiprocessor, properties.regsPerMultiprocessor},
        {cudaDevAttrMemoryPoolsSupported, properties.memoryPoolsSupported},
        {cudaDevAttrClusterLaunch, properties.clusterLaunch},
        {cudaDevAttrHostNumaId, properties.hostNumaId},
        {cudaDevAttrPciDeviceId, properties.pciDeviceID},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        int value = -99;
        expect_success(cudaDeviceGetAttribute(&value, pairs[i].attribute, 0));
        cr_assert_eq(value, pairs[i].property, "attribute %d: %d, property %lld",
                     (int)pairs[i].attribute, value, pairs[i].property);
    }
    cr_assert_eq(properties.major, 9);
    cr_assert_eq(properties.warpSize, 32);
    cr_assert_eq(properties.multiProcessorCount, 132);
    cr_assert_gt(properties.totalGlobalMem, 0);
    cr_assert_eq(properties.name[sizeof properties.name - 1], '\0');
    cr_assert_gt(strlen(properties.name), 0);
}

Test(devices, refuse_questions_about_what_is_not_there)
{
    struct cudaDeviceProp properties;
    int value;
    expect_error(cudaErrorInvalidDevice, cudaGetDeviceProperties(&properties, 77));
    expect_error(cudaErrorInvalidValue, cudaGetDeviceProperties(NULL, 0));
    expect_error(cudaErrorInvalidValue, cudaDeviceGetAttribute(NULL, cudaDevAttrWarpSize, 0));
    expect_error(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, -1));
    expect_error(cudaErrorInvalidValue,
                 cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)100000, 0));
}

Test(devices, are_found_by_pci_id_and_by_wish)
{
    char id[32];
    int device = -1;
    setenv("SIMGPU_DEVICES", "2", 1);
    expect_success(cudaDeviceGetPCIBusId(id, sizeof id, 1));
    expect_success(cudaDeviceGetByPCIBusId(&device, id));
    cr_assert_eq(device, 1);
    struct cudaDeviceProp wish = {.major = 3};
    expect_success(cudaChooseDevice(&device, &wish));
    cr_assert_eq(device, 0);
    int list[] = {1, 0};
    expect_success(cudaSetValidDevices(list, 2));
    expect_success(cudaGetDevice(&device));
    cr_assert_eq(device, 1);
    expect_error(cudaErrorInvalidValue, cudaSetValidDevices(list, 3));
    list[1] = 9;
    expect_error(cudaErrorInvalidDevice, cudaSetValidDevices(list, 2));
}

Test(devices, keep_flags_and_limits)
{
    unsigned flags = 0;
    expect_success(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    expect_success(cudaGetDeviceFlags(&flags));
    cr_assert_eq(flags & cudaDeviceScheduleMask, cudaDeviceScheduleBlockingSync);
    cr_assert(flags & cudaDeviceMapHost);
    expect_error(cudaErrorInvalidValue, cudaSetDeviceFlags(0x10000));
    size_t bytes = 0;
    expect_success(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    expect_success(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
    cr_assert_geq(bytes, 4096);
}

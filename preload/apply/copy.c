/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver says of the two ends of a copy (copy.h). */
#include "preload/apply/copy.h"

#include "preload/apply/state.h"

/* The call for one attribute says by an error that it does not know the address, and takes ten times as long for it. */
bool gmt_copy_is_pageable(uint64_t address)
{
    CUpointer_attribute which = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    unsigned type = CU_MEMORYTYPE_DEVICE;
    void *values[] = {&type};
    return gmt_apply_driver.cuPointerGetAttributes(1, &which, values, address) == CUDA_SUCCESS &&
           type == 0;
}

bool gmt_copy_find_on_device(uint64_t address, size_t bytes, struct gmt_copy_range *range)
{
    unsigned type = 0, managed = 1;
    int ordinal = -1;
    CUdevice device = -2;
    CUdeviceptr base = 0;
    size_t there = 0;
    bool found = gmt_apply_driver.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                        address) == CUDA_SUCCESS &&
                 type == CU_MEMORYTYPE_DEVICE &&
                 gmt_apply_driver.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                                        address) == CUDA_SUCCESS &&
                 managed == 0 &&
                 gmt_apply_driver.cuPointerGetAttribute(
                     &ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) == CUDA_SUCCESS &&
                 gmt_apply_driver.cuCtxGetDevice(&device) == CUDA_SUCCESS && device == ordinal &&
                 gmt_apply_driver.cuMemGetAddressRange_v2(&base, &there, address) == CUDA_SUCCESS;
    *range = (struct gmt_copy_range){base, there};
    return found && gmt_copy_is_within(address, bytes, range);
}

bool gmt_copy_find_locked(uint64_t address, size_t bytes, struct gmt_copy_range *range)
{
    unsigned flags = CU_MEMHOSTALLOC_WRITECOMBINED, managed = 1;
    uint64_t start = 0;
    size_t there = 0;
    /* Of registered memory it has no flags. */
    bool found = gmt_apply_driver.cuMemHostGetFlags != NULL &&
                 gmt_apply_driver.cuMemHostGetFlags(&flags, (void *)(uintptr_t)address) ==
                     CUDA_SUCCESS &&
                 (flags & CU_MEMHOSTALLOC_WRITECOMBINED) == 0 &&
                 gmt_apply_driver.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                                        address) == CUDA_SUCCESS &&
                 managed == 0 &&
                 gmt_apply_driver.cuPointerGetAttribute(
                     &start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address) == CUDA_SUCCESS &&
                 gmt_apply_driver.cuPointerGetAttribute(&there, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                                                        address) == CUDA_SUCCESS;
    *range = found ? (struct gmt_copy_range){start, there} : (struct gmt_copy_range){0, 0};
    return found && gmt_copy_is_within(address, bytes, range);
}

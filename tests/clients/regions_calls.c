/* SPDX-License-Identifier: Apache-2.0 */
/* What the library believes of NVTX's memory extension is what NVIDIA's headers say; and calls of it. */
#define _GNU_SOURCE
#include "regions_calls.h"

#include "libtrace/record/kinds.h"
#include "preload/state/nvtx_memory.h"

#define SAME_PLACE(ours, member, theirs, their_member) \
    _Static_assert(offsetof(struct ours, member) == offsetof(theirs, their_member), #member)
#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(struct ours) == sizeof(theirs), #ours)
SAME_SIZE(gmt_nvtx_extent, nvtxMemVirtualRangeDesc_t);
SAME_PLACE(gmt_nvtx_extent, address, nvtxMemVirtualRangeDesc_t, ptr);
SAME_SIZE(gmt_nvtx_heap, nvtxMemHeapDesc_t);
SAME_PLACE(gmt_nvtx_heap, struct_size, nvtxMemHeapDesc_t, structSize);
SAME_PLACE(gmt_nvtx_heap, usage, nvtxMemHeapDesc_t, usage);
SAME_PLACE(gmt_nvtx_heap, type, nvtxMemHeapDesc_t, type);
SAME_PLACE(gmt_nvtx_heap, extent_size, nvtxMemHeapDesc_t, typeSpecificDescSize);
SAME_PLACE(gmt_nvtx_heap, extent, nvtxMemHeapDesc_t, typeSpecificDesc);
SAME_PLACE(gmt_nvtx_heap, message_type, nvtxMemHeapDesc_t, messageType);
SAME_PLACE(gmt_nvtx_heap, message, nvtxMemHeapDesc_t, message);
SAME_SIZE(gmt_nvtx_regions, nvtxMemRegionsRegisterBatch_t);
SAME_PLACE(gmt_nvtx_regions, type, nvtxMemRegionsRegisterBatch_t, regionType);
SAME_PLACE(gmt_nvtx_regions, heap, nvtxMemRegionsRegisterBatch_t, heap);
SAME_PLACE(gmt_nvtx_regions, count, nvtxMemRegionsRegisterBatch_t, regionCount);
SAME_PLACE(gmt_nvtx_regions, extents, nvtxMemRegionsRegisterBatch_t, regionDescElements);
SAME_PLACE(gmt_nvtx_regions, handles, nvtxMemRegionsRegisterBatch_t, regionHandleElementsOut);
SAME_SIZE(gmt_nvtx_resizes, nvtxMemRegionsResizeBatch_t);
SAME_PLACE(gmt_nvtx_resizes, count, nvtxMemRegionsResizeBatch_t, regionDescCount);
SAME_PLACE(gmt_nvtx_resizes, extents, nvtxMemRegionsResizeBatch_t, regionDescElements);
SAME_SIZE(gmt_nvtx_endings, nvtxMemRegionsUnregisterBatch_t);
SAME_PLACE(gmt_nvtx_endings, reference_type, nvtxMemRegionsUnregisterBatch_t, refType);
SAME_PLACE(gmt_nvtx_endings, count, nvtxMemRegionsUnregisterBatch_t, refCount);
SAME_PLACE(gmt_nvtx_endings, references, nvtxMemRegionsUnregisterBatch_t, refElements);
SAME_SIZE(gmt_nvtx_region_name, nvtxMemRegionNameDesc_t);
SAME_PLACE(gmt_nvtx_region_name, message_type, nvtxMemRegionNameDesc_t, nameType);
SAME_PLACE(gmt_nvtx_region_name, region, nvtxMemRegionNameDesc_t, region);
SAME_PLACE(gmt_nvtx_region_name, message, nvtxMemRegionNameDesc_t, name);
SAME_SIZE(gmt_nvtx_region_names, nvtxMemRegionsNameBatch_t);
SAME_PLACE(gmt_nvtx_region_names, count, nvtxMemRegionsNameBatch_t, regionCount);
SAME_PLACE(gmt_nvtx_region_names, elements, nvtxMemRegionsNameBatch_t, regionElements);
_Static_assert(GMT_NVTX_MODULE_MEMORY == NVTX_EXT_MODULEID_MEM &&
                   GMT_NVTX_MEMORY_COMPATIBILITY == NVTX_EXT_COMPATID_MEM &&
                   GMT_NVTX_VIRTUAL_ADDRESS == NVTX_MEM_TYPE_VIRTUAL_ADDRESS &&
                   GMT_NVTX_REF_POINTER == NVTX_MEM_REGION_REF_TYPE_POINTER &&
                   GMT_NVTX_REF_HANDLE == NVTX_MEM_REGION_REF_TYPE_HANDLE,
               "memory extension");
_Static_assert(GMT_HEAP_SUB_ALLOCATOR == NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR &&
                   GMT_HEAP_LAYOUT == NVTX_MEM_HEAP_USAGE_TYPE_LAYOUT,
               "usages of heaps");
_Static_assert(GMT_NVTX_HEAP_REGISTER == NVTX3EXT_CBID_nvtxMemHeapRegister &&
                   GMT_NVTX_HEAP_UNREGISTER == NVTX3EXT_CBID_nvtxMemHeapUnregister &&
                   GMT_NVTX_HEAP_RESET == NVTX3EXT_CBID_nvtxMemHeapReset &&
                   GMT_NVTX_REGIONS_REGISTER == NVTX3EXT_CBID_nvtxMemRegionsRegister &&
                   GMT_NVTX_REGIONS_RESIZE == NVTX3EXT_CBID_nvtxMemRegionsResize &&
                   GMT_NVTX_REGIONS_UNREGISTER == NVTX3EXT_CBID_nvtxMemRegionsUnregister &&
                   GMT_NVTX_REGIONS_NAME == NVTX3EXT_CBID_nvtxMemRegionsName,
               "slots of the memory extension");

struct regions_pool regions_pool;
nvtxDomainHandle_t regions_domain;

void regions_begin(void)
{
    client_load(VIA_PROC);
    (void)client_start();
}

void regions_open_pool(void)
{
    CHECK(cu.cuMemAlloc(&regions_pool.base, POOL_BYTES));
    regions_pool.used = 0;
    regions_pool.heap = regions_heap(regions_pool.base, POOL_BYTES,
                                     NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR, "pool");
}

nvtxMemHeapHandle_t regions_heap(CUdeviceptr base, size_t bytes, uint32_t usage, const char *name)
{
    nvtxMemVirtualRangeDesc_t range = {.size = bytes, .ptr = (const void *)(uintptr_t)base};
    nvtxMemHeapDesc_t desc = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                              .structSize = sizeof desc,
                              .usage = usage,
                              .type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
                              .typeSpecificDescSize = sizeof range,
                              .typeSpecificDesc = &range,
                              .messageType = NVTX_MESSAGE_TYPE_ASCII,
                              .message.ascii = name};
    return nvtxMemHeapRegister(regions_domain, &desc);
}

nvtxMemVirtualRangeDesc_t regions_range(CUdeviceptr address, size_t bytes)
{
    return (nvtxMemVirtualRangeDesc_t){.size = bytes, .ptr = (const void *)(uintptr_t)address};
}

void regions_register(nvtxMemHeapHandle_t heap, const nvtxMemVirtualRangeDesc_t *ranges,
                      size_t count, nvtxMemRegionHandle_t *handles)
{
    nvtxMemRegionsRegisterBatch_t batch = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                           .structSize = sizeof batch,
                                           .regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
                                           .heap = heap,
                                           .regionCount = count,
                                           .regionDescElementSize = sizeof *ranges,
                                           .regionDescElements = ranges,
                                           .regionHandleElementsOut = handles};
    nvtxMemRegionsRegister(regions_domain, &batch);
}

void regions_resize(CUdeviceptr address, size_t bytes)
{
    nvtxMemVirtualRangeDesc_t range = regions_range(address, bytes);
    nvtxMemRegionsResizeBatch_t batch = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                         .structSize = sizeof batch,
                                         .regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
                                         .regionDescCount = 1,
                                         .regionDescElementSize = sizeof range,
                                         .regionDescElements = &range};
    nvtxMemRegionsResize(regions_domain, &batch);
}

void regions_end(nvtxMemRegionRef_t reference, uint32_t type)
{
    nvtxMemRegionsUnregisterBatch_t batch = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                             .structSize = sizeof batch,
                                             .refType = type,
                                             .refCount = 1,
                                             .refElementSize = sizeof reference,
                                             .refElements = &reference};
    nvtxMemRegionsUnregister(regions_domain, &batch);
}

void regions_end_at(CUdeviceptr address)
{
    nvtxMemRegionRef_t reference = {.pointer = (const void *)(uintptr_t)address};
    regions_end(reference, NVTX_MEM_REGION_REF_TYPE_POINTER);
}

void regions_name(CUdeviceptr address, const char *text)
{
    nvtxMemRegionNameDesc_t named = {.regionRefType = NVTX_MEM_REGION_REF_TYPE_POINTER,
                                     .nameType = NVTX_MESSAGE_TYPE_ASCII,
                                     .region.pointer = (const void *)(uintptr_t)address,
                                     .name.ascii = text};
    nvtxMemRegionsNameBatch_t batch = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                       .structSize = sizeof batch,
                                       .regionCount = 1,
                                       .regionElementSize = sizeof named,
                                       .regionElements = &named};
    nvtxMemRegionsName(regions_domain, &batch);
}

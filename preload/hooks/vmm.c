/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks: virtual memory management. A mapping is the allocation: what a program can copy to and from
 * begins with cuMemMap and ends with cuMemUnmap. Releasing the physical memory and reserving addresses are calls with
 * their bytes, whose hooks follow from their rows.
 */
#include "preload/driver/resolve.h"
#include "preload/hooks/alloc_record.h"
#include "preload/hooks/hook.h"
#include "preload/repeat/repeat.h"
#include "preload/state/context.h"
#include "preload/state/hazards.h"

GMT_DEFINE_HOOK(cuMemCreate,
                (CUmemGenericAllocationHandle * handle, size_t bytes,
                 const CUmemAllocationProp *properties, unsigned long long flags),
                (handle, bytes, properties, flags), NULL, 0, gmt_repeat_make_room(bytes),
                gmt_hook_call_record(GMT_REC_CALL, &call, bytes))

/* Physical memory of the host is page-locked host memory wherever it is mapped. */
static enum gmt_alloc_kind kind_of(CUmemGenericAllocationHandle handle, CUresult result)
{
    CUmemAllocationProp properties = {0};
    bool known = result == CUDA_SUCCESS &&
                 gmt_driver.cuMemGetAllocationPropertiesFromHandle != NULL &&
                 gmt_driver.cuMemGetAllocationPropertiesFromHandle(&properties, handle) ==
                     CUDA_SUCCESS;
    bool host = known && (properties.location.type == CU_MEM_LOCATION_TYPE_HOST ||
                          properties.location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
                          properties.location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT);
    return host ? GMT_ALLOC_HOST : GMT_ALLOC_MAPPED;
}

GMT_DEFINE_HOOK(cuMemMap,
                (CUdeviceptr address, size_t bytes, size_t offset,
                 CUmemGenericAllocationHandle handle, unsigned long long flags),
                (address, bytes, offset, handle, flags), NULL, 0, (void)0,
                gmt_alloc_record(&call, kind_of(handle, call.result), address, bytes,
                                 (struct gmt_alloc_shape){.pool = handle,
                                                          .outlives_context = true}))

/*
 * One call may end many mappings; each gives a record. Taken after the call: the addresses stay
 * reserved, so nobody else can get them before the program knows that the call is over.
 */
static void record_unmap(const struct gmt_hook_call *call, uint64_t address, uint64_t bytes)
{
    static const enum gmt_alloc_kind kinds[] = {GMT_ALLOC_MAPPED, GMT_ALLOC_HOST};
    struct gmt_allocation gone;
    bool any = false;
    for (unsigned i = 0; call->result == CUDA_SUCCESS && i < 2; i++) {
        while (gmt_allocmap_take_within(address, bytes, kinds[i], &gone)) {
            gmt_alloc_record_free(call, true, &gone);
            any = true;
        }
    }
    if (!any) {
        gmt_hook_call_record(GMT_REC_CALL, call, bytes);
    }
}

GMT_DEFINE_HOOK(cuMemUnmap, (CUdeviceptr address, size_t bytes), (address, bytes), NULL, 0, (void)0,
                record_unmap(&call, address, bytes))

GMT_DEFINE_HOOK(cuMemSetAccess,
                (CUdeviceptr address, size_t bytes, const CUmemAccessDesc *access, size_t count),
                (address, bytes, access, count), NULL, 0, (void)0, {
                    if (gmt_access_of_others(&call, access, count)) {
                        gmt_hazards_opened(&call,
                                           "memory that several devices can use (cuMemSetAccess)");
                        (void)gmt_allocmap_share(address, bytes);
                    }
                    gmt_hook_call_record(GMT_REC_CALL, &call, bytes);
                })

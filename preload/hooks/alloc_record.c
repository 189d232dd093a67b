/* SPDX-License-Identifier: Apache-2.0 */
/* Recording the beginning and the end of an allocation, and that others can open it (alloc_record.h). */
#include "preload/hooks/alloc_record.h"

#include "libtrace/record/spool.h"
#include "preload/driver/resolve.h"
#include "preload/hash/content_hash.h"
#include "preload/session/session.h"
#include "preload/state/context.h"

/* Memory of a device, and memory that the host reads without its caches, is not for us to look at. */
static bool is_unreadable(enum gmt_alloc_kind kind, uint32_t flags)
{
    return (kind == GMT_ALLOC_HOST && (flags & CU_MEMHOSTALLOC_WRITECOMBINED) != 0) ||
           (kind == GMT_ALLOC_REGISTERED && (flags & CU_MEMHOSTREGISTER_IOMEMORY) != 0);
}

void gmt_alloc_record(const struct gmt_hook_call *call, enum gmt_alloc_kind kind, uint64_t address,
                      uint64_t bytes, struct gmt_alloc_shape shape)
{
    struct gmt_alloc alloc = {
        .kind = (uint8_t)kind,
        .pitch = shape.pitch,
        .width = shape.width,
        .height = shape.height,
        .pool = shape.pool,
        .flags = shape.flags,
        .handle_hash = shape.handle_hash,
    };
    if (call->result == CUDA_SUCCESS && (call->flags & GMT_CALL_CAPTURING) == 0) {
        alloc.address = address;
        alloc.id = gmt_allocmap_insert(address, shape.is_handle ? 1 : bytes, kind,
                                       shape.outlives_context ? 0 : gmt_context_current(NULL));
        if (kind == GMT_ALLOC_MANAGED && address != 0 && gmt_collector != NULL &&
            gmt_collector->managed_memory != NULL) {
            gmt_collector->managed_memory();
        }
        if (is_unreadable(kind, shape.flags)) {
            gmt_allocmap_set_unreadable(address);
        }
    }
    gmt_hook_call_record_with(GMT_REC_ALLOC, call, bytes, &alloc);
}

/* Two handles of one allocation need not be equal byte by byte (docs/decisions.md): all of them are hashed, and each is recorded. */
uint64_t gmt_alloc_handle_hash(const struct gmt_hook_call *call, const void *handle, size_t bytes)
{
    if (call->result != CUDA_SUCCESS || handle == NULL) {
        return 0;
    }
    const struct gmt_hash_range range = {.start = handle, .width = bytes, .rows = 1};
    uint64_t hash = gmt_hash_of(&range, bytes).low;
    return hash != 0 ? hash : 1;
}

void gmt_alloc_record_export(const struct gmt_hook_call *call, const void *handle,
                             size_t handle_bytes, uint64_t address)
{
    struct gmt_allocation known = {0};
    struct gmt_export record = {.hash = gmt_alloc_handle_hash(call, handle, handle_bytes),
                                .address = address};
    if (record.hash != 0) {
        if (gmt_allocmap_find(address, &known)) {
            record.bytes = known.bytes;
            record.alloc = known.id;
        }
        (void)gmt_spool_side(GMT_REC_EXPORT, &record, sizeof(record), NULL, 0);
    }
}

bool gmt_alloc_begin_free(uint64_t address, struct gmt_allocation *gone)
{
    return address != 0 && gmt_allocmap_remove(address, gone);
}

void gmt_alloc_record_free(const struct gmt_hook_call *call, bool known,
                           const struct gmt_allocation *gone)
{
    if (!known) {
        gmt_hook_call_record(GMT_REC_CALL, call, 0);
        return;
    }
    struct gmt_alloc alloc = {.address = gone->base, .kind = gone->kind};
    if (call->result == CUDA_SUCCESS) {
        alloc.id = gone->id;
    } else {
        gmt_allocmap_restore(gone);
    }
    gmt_hook_call_record_with(GMT_REC_FREE, call, gone->bytes, &alloc);
}

uint64_t gmt_alloc_bytes_at(uint64_t base)
{
    size_t bytes = 0;
    bool known = base != 0 && gmt_driver.cuMemGetAddressRange_v2 != NULL &&
                 gmt_driver.cuMemGetAddressRange_v2(NULL, &bytes, base) == CUDA_SUCCESS;
    return known ? bytes : 0;
}

bool gmt_access_of_others(const struct gmt_hook_call *call, const CUmemAccessDesc *access,
                          size_t count)
{
    CUdevice device = -1;
    bool any = false;
    if (call->result != CUDA_SUCCESS || access == NULL || gmt_driver.cuCtxGetDevice == NULL ||
        gmt_driver.cuCtxGetDevice(&device) != CUDA_SUCCESS) {
        return call->result == CUDA_SUCCESS && count > 1;
    }
    for (size_t i = 0; i < count; i++) {
        any |= access[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
               access[i].location.id != device && access[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
    }
    return any;
}

uint64_t gmt_alloc_value_at(const CUdeviceptr *address, CUresult result)
{
    return result == CUDA_SUCCESS && address != NULL ? *address : 0;
}

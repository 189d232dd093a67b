/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks: memory comes to life and goes, on the device and page-locked on the host. */
#include "preload/hooks/alloc.h"
#include "preload/driver/resolve.h"
#include "preload/hooks/hook.h"
#include "preload/repeat/repeat.h"
#include "preload/state/allocmap.h"
#include "preload/state/context.h"

/* Memory of a device, and memory that the host reads without its caches, is not for us to look at. */
static bool is_unreadable(enum gmt_alloc_kind kind, uint32_t flags)
{
    return (kind == GMT_ALLOC_HOST && (flags & CU_MEMHOSTALLOC_WRITECOMBINED) != 0) ||
           (kind == GMT_ALLOC_REGISTERED && (flags & CU_MEMHOSTREGISTER_IOMEMORY) != 0);
}

void gmt_alloc_record(const struct gmt_site *site, enum gmt_alloc_kind kind, uint64_t address,
                      uint64_t bytes, struct gmt_alloc_shape shape)
{
    struct gmt_alloc alloc = {
        .kind = (uint8_t)kind,
        .pitch = shape.pitch,
        .width = shape.width,
        .height = shape.height,
        .pool = shape.pool,
        .flags = shape.flags,
    };
    if (site->result == CUDA_SUCCESS && (site->flags & GMT_CALL_CAPTURING) == 0) {
        alloc.address = address;
        alloc.id = gmt_allocmap_insert(address, shape.is_handle ? 1 : bytes, kind,
                                       shape.outlives_context ? 0 : gmt_context_current(NULL));
        if (is_unreadable(kind, shape.flags)) {
            gmt_allocmap_set_unreadable(address);
        }
    }
    gmt_site_record_with(GMT_REC_ALLOC, site, bytes, &alloc);
}

bool gmt_alloc_begin_free(uint64_t address, struct gmt_allocation *gone)
{
    return address != 0 && gmt_allocmap_remove(address, gone);
}

void gmt_alloc_record_free(const struct gmt_site *site, bool known,
                           const struct gmt_allocation *gone)
{
    if (!known) {
        gmt_site_record(GMT_REC_CALL, site, 0);
        return;
    }
    struct gmt_alloc alloc = {.address = gone->base, .kind = gone->kind};
    if (site->result == CUDA_SUCCESS) {
        alloc.id = gone->id;
    } else {
        gmt_allocmap_restore(gone);
    }
    gmt_site_record_with(GMT_REC_FREE, site, gone->bytes, &alloc);
}

uint64_t gmt_alloc_bytes_at(uint64_t base)
{
    size_t bytes = 0;
    bool known = base != 0 && gmt_driver.cuMemGetAddressRange_v2 != NULL &&
                 gmt_driver.cuMemGetAddressRange_v2(NULL, &bytes, base) == CUDA_SUCCESS;
    return known ? bytes : 0;
}

uint64_t gmt_alloc_value_at(const CUdeviceptr *address, CUresult result)
{
    return result == CUDA_SUCCESS && address != NULL ? *address : 0;
}

static uint64_t pointer_at(void *const *address, CUresult result)
{
    return result == CUDA_SUCCESS && address != NULL ? (uint64_t)(uintptr_t)*address : 0;
}

#define ALLOC_AFTER(BEFORE, SYMBOL, KIND, PARAMETERS, ARGUMENTS, STREAM, FLAGS, ADDRESS, BYTES, \
                    ...) \
    GMT_DEFINE_HOOK( \
        SYMBOL, PARAMETERS, ARGUMENTS, STREAM, FLAGS, BEFORE, \
        gmt_alloc_record(&site, KIND, ADDRESS, BYTES, (struct gmt_alloc_shape){__VA_ARGS__}))

#define ALLOC(...) ALLOC_AFTER((void)0, __VA_ARGS__)
#define ALLOC_DEVICE(BYTES, ...) ALLOC_AFTER(gmt_repeat_make_room(BYTES), __VA_ARGS__)

#define FREE(SYMBOL, PARAMETERS, ARGUMENTS, STREAM, FLAGS, ADDRESS) \
    GMT_DEFINE_HOOK_KEEPING(SYMBOL, struct gmt_freed, PARAMETERS, ARGUMENTS, STREAM, FLAGS, \
                            kept->known = gmt_alloc_begin_free(ADDRESS, &kept->gone), \
                            gmt_alloc_record_free(&site, kept->known, &kept->gone))

ALLOC_DEVICE(bytes, cuMemAlloc_v2, GMT_ALLOC_DEVICE, (CUdeviceptr * address, size_t bytes),
             (address, bytes), NULL, 0, gmt_alloc_value_at(address, site.result), bytes, 0)

/* A failed call has told no pitch: what was asked for at least. */
static uint64_t pitched_bytes(const size_t *pitch, size_t width, size_t height, CUresult result)
{
    return (result == CUDA_SUCCESS && pitch != NULL ? *pitch : width) * height;
}

ALLOC_DEVICE(width *height, cuMemAllocPitch_v2, GMT_ALLOC_PITCHED,
             (CUdeviceptr * address, size_t *pitch, size_t width, size_t height,
              unsigned element_bytes),
             (address, pitch, width, height, element_bytes), NULL, 0,
             gmt_alloc_value_at(address, site.result),
             pitched_bytes(pitch, width, height, site.result),
             .pitch = pitched_bytes(pitch, 0, 1, site.result), .width = width, .height = height)
ALLOC(cuMemAllocManaged, GMT_ALLOC_MANAGED, (CUdeviceptr * address, size_t bytes, unsigned flags),
      (address, bytes, flags), NULL, 0, gmt_alloc_value_at(address, site.result), bytes,
      .flags = flags)
ALLOC_DEVICE(bytes, cuMemAllocAsync, GMT_ALLOC_ASYNC,
             (CUdeviceptr * address, size_t bytes, CUstream stream), (address, bytes, stream),
             stream, 0, gmt_alloc_value_at(address, site.result), bytes, 0)
ALLOC_DEVICE(bytes, cuMemAllocAsync_ptsz, GMT_ALLOC_ASYNC,
             (CUdeviceptr * address, size_t bytes, CUstream stream), (address, bytes, stream),
             stream, GMT_CALL_PER_THREAD, gmt_alloc_value_at(address, site.result), bytes, 0)
ALLOC_DEVICE(bytes, cuMemAllocFromPoolAsync,
             gmt_pool_kind(pool, gmt_alloc_value_at(address, site.result)),
             (CUdeviceptr * address, size_t bytes, CUmemoryPool pool, CUstream stream),
             (address, bytes, pool, stream), stream, 0, gmt_alloc_value_at(address, site.result),
             bytes, .pool = (uint64_t)(uintptr_t)pool)
ALLOC_DEVICE(bytes, cuMemAllocFromPoolAsync_ptsz,
             gmt_pool_kind(pool, gmt_alloc_value_at(address, site.result)),
             (CUdeviceptr * address, size_t bytes, CUmemoryPool pool, CUstream stream),
             (address, bytes, pool, stream), stream, GMT_CALL_PER_THREAD,
             gmt_alloc_value_at(address, site.result), bytes, .pool = (uint64_t)(uintptr_t)pool)
ALLOC(cuMemAllocHost_v2, GMT_ALLOC_HOST, (void **address, size_t bytes), (address, bytes), NULL, 0,
      pointer_at(address, site.result), bytes, 0)
ALLOC(cuMemHostAlloc, GMT_ALLOC_HOST, (void **address, size_t bytes, unsigned flags),
      (address, bytes, flags), NULL, 0, pointer_at(address, site.result), bytes, .flags = flags)
ALLOC(cuMemHostRegister, GMT_ALLOC_REGISTERED, (void *address, size_t bytes, unsigned flags),
      (address, bytes, flags), NULL, 0, (uint64_t)(uintptr_t)address, bytes, .flags = flags)
ALLOC(cuMemHostRegister_v2, GMT_ALLOC_REGISTERED, (void *address, size_t bytes, unsigned flags),
      (address, bytes, flags), NULL, 0, (uint64_t)(uintptr_t)address, bytes, .flags = flags)

FREE(cuMemFree_v2, (CUdeviceptr address), (address), NULL, 0, address)
FREE(cuMemFreeAsync, (CUdeviceptr address, CUstream stream), (address, stream), stream, 0, address)
FREE(cuMemFreeAsync_ptsz, (CUdeviceptr address, CUstream stream), (address, stream), stream,
     GMT_CALL_PER_THREAD, address)
FREE(cuMemFreeHost, (void *address), (address), NULL, 0, (uint64_t)(uintptr_t)address)
FREE(cuMemHostUnregister, (void *address), (address), NULL, 0, (uint64_t)(uintptr_t)address)

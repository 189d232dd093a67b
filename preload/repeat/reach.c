/* SPDX-License-Identifier: Apache-2.0 */
/* Gathers the memory that a kernel can write (reach.h). */
#include "preload/repeat/reach.h"

#include <errno.h>
#include <stdlib.h>

#include "preload/driver/resolve.h"
#include "preload/session/session.h"
#include "preload/state/allocmap.h"
#include "preload/state/hazards.h"

struct gathering {
    struct gmt_reach *reach;
    CUmodule module;
    uint16_t context;
    enum gmt_unmeasured why;
};

static bool add(struct gathering *g, uint64_t base, uint64_t bytes)
{
    if (g->reach->count == GMT_REACH_EXTENTS) {
        g->why = GMT_UNMEASURED_ONCE_ROOM;
        return false;
    }
    g->reach->extents[g->reach->count++] = (struct gmt_extent){base, bytes};
    return true;
}

/* False: it ends here. */
static bool visit(void *data, const struct gmt_allocation *allocation)
{
    struct gathering *g = data;
    bool here = allocation->context == g->context;
    switch ((enum gmt_alloc_kind)allocation->kind) {
    case GMT_ALLOC_DEVICE:
    case GMT_ALLOC_PITCHED:
    case GMT_ALLOC_ASYNC:
    case GMT_ALLOC_POOL:
        return !here || allocation->shared || add(g, allocation->base, allocation->bytes);
    /* Of no context: contexts of one device share it. */
    case GMT_ALLOC_MAPPED:
        return gmt_hazards_of_others(allocation, 0) || add(g, allocation->base, allocation->bytes);
    /* What leads there is looked for in what the kernel can read (scan.h). */
    case GMT_ALLOC_MANAGED:
    case GMT_ALLOC_HOST:
    case GMT_ALLOC_REGISTERED:
    case GMT_ALLOC_IPC:
    case GMT_ALLOC_EXTERNAL: return true;
    /* A surface writes into an array through a handle that is no address. No array without the flag has one. */
    case GMT_ALLOC_ARRAY:
    case GMT_ALLOC_MIPMAP: here = allocation->shared && (here || allocation->context == 0); break;
    case GMT_ALLOC_UNKNOWN:
    case GMT_ALLOC_KIND_COUNT: break;
    }
    g->why = here ? GMT_UNMEASURED_ONCE_KINDS : g->why;
    return !here;
}

static void variable(void *data, const char *name)
{
    struct gathering *g = data;
    CUdeviceptr base;
    size_t bytes;
    unsigned managed = 0;
    if (g->why != GMT_MEASURABLE) {
        return;
    }
    if (gmt_driver.cuModuleGetGlobal_v2 == NULL ||
        gmt_driver.cuModuleGetGlobal_v2(&base, &bytes, g->module, name) != CUDA_SUCCESS) {
        g->why = GMT_UNMEASURED_ONCE_CODE;
    } else if (gmt_driver.cuPointerGetAttribute == NULL ||
               gmt_driver.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, base) !=
                   CUDA_SUCCESS ||
               managed != 0) {
        g->why = GMT_UNMEASURED_ONCE_REACH;
    } else if (bytes != 0) {
        (void)add(g, base, bytes);
    }
}

static void find_variables(struct gathering *g, CUfunction function,
                           const struct gmt_collector_class *cls)
{
    int error = gmt_collector->code_reach == NULL || gmt_driver.cuFuncGetModule == NULL ||
                        gmt_driver.cuFuncGetModule(&g->module, function) != CUDA_SUCCESS
                    ? -ENOENT
                    : gmt_collector->code_reach(cls, function, variable, g);
    if (error != 0) {
        g->why = error == -EPERM ? GMT_UNMEASURED_ONCE_EFFECTS : GMT_UNMEASURED_ONCE_CODE;
    }
}

static bool is_here(CUdeviceptr address, CUdevice device)
{
    CUmemorytype type;
    int on = -1;
    return gmt_driver.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) ==
               CUDA_SUCCESS &&
           type == CU_MEMORYTYPE_DEVICE &&
           gmt_driver.cuPointerGetAttribute(&on, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) ==
               CUDA_SUCCESS &&
           on == device;
}

/* What is mapped (cuMemMap) has no access until the program gives it some, and perhaps only to read. */
static bool is_writable(CUdeviceptr address)
{
    struct gmt_allocation found;
    unsigned access = 0;
    return !gmt_allocmap_find(address, &found) || found.kind != GMT_ALLOC_MAPPED ||
           (gmt_driver.cuPointerGetAttribute(&access, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, address) ==
                CUDA_SUCCESS &&
            access == CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
}

/* Our code is to read and write all of it: what the driver knows otherwise would end the context. Memory that was freed where
 * no hook saw it, or is of another device's pool, is left out: an address of it leads out (scan.h). A variable of the
 * kernel's module, behind the first `count`, cannot be. */
static bool keep_those_here(struct gmt_reach *reach, size_t count)
{
    CUdevice device;
    size_t kept = 0;
    bool all = gmt_driver.cuPointerGetAttribute != NULL && gmt_driver.cuCtxGetDevice != NULL &&
               gmt_driver.cuCtxGetDevice(&device) == CUDA_SUCCESS;
    for (size_t i = 0; all && i < reach->count; i++) {
        struct gmt_extent extent = reach->extents[i];
        bool here = is_here(extent.base, device) &&
                    is_here(extent.base + extent.bytes - 1, device) && is_writable(extent.base);
        if (here) {
            reach->extents[kept++] = extent;
        }
        all = here || i < count;
    }
    reach->count = kept;
    return all;
}

static int by_base(const void *one, const void *other)
{
    const struct gmt_extent *a = one, *b = other;
    return (a->base > b->base) - (a->base < b->base);
}

/* A pool may hand out memory that the hooks saw no end of: overlapping extents are one. */
static void join_overlapping(struct gmt_reach *reach)
{
    size_t kept = 0;
    qsort(reach->extents, reach->count, sizeof(reach->extents[0]), by_base);
    for (size_t i = 0; i < reach->count; i++) {
        struct gmt_extent *last = &reach->extents[kept - (kept != 0)], next = reach->extents[i];
        if (kept == 0 || next.base - last->base >= last->bytes) {
            reach->extents[kept++] = next;
        } else if (next.base + next.bytes > last->base + last->bytes) {
            last->bytes = next.base + next.bytes - last->base;
        }
    }
    reach->count = kept;
    reach->bytes = 0;
    for (size_t i = 0; i < kept; i++) {
        reach->bytes += reach->extents[i].bytes;
    }
}

bool gmt_reach_add(struct gmt_reach *reach, uint64_t base, uint64_t bytes)
{
    if (reach->count == GMT_REACH_EXTENTS || bytes == 0) {
        return false;
    }
    reach->extents[reach->count++] = (struct gmt_extent){base, bytes};
    join_overlapping(reach);
    return true;
}

enum gmt_unmeasured gmt_reach_find(struct gmt_reach *reach, CUfunction function,
                                   const struct gmt_collector_class *cls, uint16_t context)
{
    struct gathering g = {.reach = reach, .context = context, .why = GMT_MEASURABLE};
    reach->count = 0;
    if (!gmt_allocmap_each(visit, &g) && g.why == GMT_MEASURABLE) {
        g.why = GMT_UNMEASURED_ONCE_ROOM;
    }
    size_t allocations = reach->count;
    if (g.why == GMT_MEASURABLE) {
        find_variables(&g, function, cls);
    }
    if (g.why == GMT_MEASURABLE && !keep_those_here(reach, allocations)) {
        g.why = GMT_UNMEASURED_ONCE_KINDS;
    }
    if (g.why == GMT_MEASURABLE) {
        join_overlapping(reach);
    }
    return g.why;
}

bool gmt_reach_holds(const struct gmt_reach *reach, uint64_t address)
{
    size_t low = 0, high = reach->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (reach->extents[middle].base <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low != 0 && address - reach->extents[low - 1].base < reach->extents[low - 1].bytes;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual memory management: reserved addresses, physical memory (a file without a name), mappings. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "simgpu/driver/registry.h"
#include "simgpu/order/order.h"

#define GRANULARITY ((size_t)2 << 20)

struct physical {
    struct physical *next;
    CUmemAllocationProp properties;
    size_t bytes;
    int file;
    unsigned handles, mappings;
};

struct mapping {
    struct mapping *next;
    uintptr_t start;
    size_t bytes;
    struct physical *memory;
    bool accessible;
};

struct reservation {
    struct reservation *next;
    uintptr_t start;
    size_t bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct physical *memories;
static struct mapping *mappings;
static struct reservation *reservations;

static bool whole(size_t bytes)
{
    return bytes != 0 && bytes % GRANULARITY == 0;
}

/* Nothing but memory of a device, not to be shared. */
static CUresult properties_check(const CUmemAllocationProp *prop)
{
    return prop == NULL || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED ? CUDA_ERROR_INVALID_VALUE
           : prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
                   prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE
               ? CUDA_ERROR_NOT_SUPPORTED
           : sim_device_valid(prop->location.id) ? CUDA_SUCCESS
                                                 : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                           CUmemAllocationGranularity_flags option)
{
    CUresult result = granularity != NULL ? properties_check(prop) : CUDA_ERROR_INVALID_VALUE;
    (void)option;
    if (result == CUDA_SUCCESS) {
        *granularity = GRANULARITY;
    }
    return result;
}

/* ---- addresses -------------------------------------------------------------------------------- */

CUresult sim_cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
                                 unsigned long long flags)
{
    (void)addr; /* a wish */
    size_t align = alignment > GRANULARITY ? alignment : GRANULARITY;
    if (ptr == NULL || !whole(size) || flags != 0 || (align & (align - 1)) != 0 ||
        size > SIZE_MAX - align) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct reservation *made = calloc(1, sizeof *made);
    void *map = made == NULL ? MAP_FAILED
                             : mmap(NULL, size + align, PROT_NONE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) {
        free(made);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    uintptr_t first = (uintptr_t)map, start = (first + align - 1) & ~(align - 1);
    if (start != first) {
        munmap(map, start - first);
    }
    munmap((void *)(start + size), first + align - start);
    *made = (struct reservation){.start = start, .bytes = size};
    pthread_mutex_lock(&lock);
    made->next = reservations;
    reservations = made;
    pthread_mutex_unlock(&lock);
    *ptr = start;
    return CUDA_SUCCESS;
}

static bool any_mapping(uintptr_t start, size_t bytes)
{
    const struct mapping *found = mappings;
    while (found != NULL &&
           (found->start >= start + bytes || start >= found->start + found->bytes)) {
        found = found->next;
    }
    return found != NULL;
}

CUresult sim_cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    struct reservation **link = &reservations;
    while (*link != NULL && ((*link)->start != ptr || (*link)->bytes != size)) {
        link = &(*link)->next;
    }
    struct reservation *gone = *link;
    if (gone != NULL && !any_mapping(ptr, size)) {
        *link = gone->next;
        munmap((void *)gone->start, gone->bytes);
        free(gone);
        result = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/* ---- physical memory -------------------------------------------------------------------------- */

CUresult sim_cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                         const CUmemAllocationProp *prop, unsigned long long flags)
{
    CUresult result = handle == NULL || !whole(size) || flags != 0 ? CUDA_ERROR_INVALID_VALUE
                                                                   : properties_check(prop);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (!sim_heap_charge(prop->location.id, size)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    struct physical *made = calloc(1, sizeof *made);
    int file = memfd_create("simgpu", MFD_CLOEXEC);
    if (made == NULL || file < 0 || ftruncate(file, (off_t)size) != 0) {
        free(made);
        if (file >= 0) {
            close(file);
        }
        sim_heap_refund(prop->location.id, size);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *made = (struct physical){.properties = *prop, .bytes = size, .file = file, .handles = 1};
    pthread_mutex_lock(&lock);
    made->next = memories;
    memories = made;
    pthread_mutex_unlock(&lock);
    *handle = (uintptr_t)made;
    return CUDA_SUCCESS;
}

/* Locked. */
static struct physical *memory_of(CUmemGenericAllocationHandle handle)
{
    struct physical *found = memories;
    while (found != NULL && ((uintptr_t)found != handle || found->handles == 0)) {
        found = found->next;
    }
    return found;
}

/* Locked. Physical memory goes with its last handle and its last mapping. */
static void drop(struct physical *memory)
{
    struct physical **link = &memories;
    if (memory->handles != 0 || memory->mappings != 0) {
        return;
    }
    while (*link != memory) {
        link = &(*link)->next;
    }
    *link = memory->next;
    close(memory->file);
    sim_heap_refund(memory->properties.location.id, memory->bytes);
    free(memory);
}

CUresult sim_cuMemRelease(CUmemGenericAllocationHandle handle)
{
    pthread_mutex_lock(&lock);
    struct physical *memory = memory_of(handle);
    if (memory != NULL) {
        memory->handles--;
        drop(memory);
    }
    pthread_mutex_unlock(&lock);
    return memory != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                                    CUmemGenericAllocationHandle handle)
{
    pthread_mutex_lock(&lock);
    const struct physical *memory = prop != NULL ? memory_of(handle) : NULL;
    if (memory != NULL) {
        *prop = memory->properties;
    }
    pthread_mutex_unlock(&lock);
    return memory != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- mappings --------------------------------------------------------------------------------- */

/* Locked. */
static bool reserved(uintptr_t start, size_t bytes)
{
    const struct reservation *found = reservations;
    while (found != NULL && (start < found->start || start - found->start > found->bytes ||
                             bytes > found->bytes - (start - found->start))) {
        found = found->next;
    }
    return found != NULL;
}

CUresult sim_cuMemMap(CUdeviceptr ptr, size_t size, size_t offset,
                      CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    struct mapping *made = calloc(1, sizeof *made);
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    struct physical *memory = memory_of(handle);
    if (made != NULL && memory != NULL && whole(size) && ptr % GRANULARITY == 0 && flags == 0 &&
        offset == 0 && size <= memory->bytes && reserved(ptr, size) && !any_mapping(ptr, size) &&
        mmap((void *)ptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory->file, 0) !=
            MAP_FAILED) {
        *made = (struct mapping){.next = mappings, .start = ptr, .bytes = size, .memory = memory};
        mappings = made;
        memory->mappings++;
        made = NULL;
        result = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    free(made);
    return result;
}

/* Locked. True if mappings fill [start, start + bytes) and none reaches beyond it. */
static bool filled(uintptr_t start, size_t bytes)
{
    size_t inside = 0;
    for (const struct mapping *at = mappings; at != NULL; at = at->next) {
        bool within = at->start >= start && at->start - start < bytes;
        if (within && at->bytes > bytes - (at->start - start)) {
            return false;
        }
        inside += within ? at->bytes : 0;
    }
    return bytes != 0 && inside == bytes;
}

/* Locked. The memory is known to copies and kernels while it is accessible. */
static bool set_access(struct mapping *mapping, bool accessible)
{
    struct sim_range range = {.start = mapping->start,
                              .bytes = mapping->bytes,
                              .kind = SIM_MEM_MAPPED,
                              .device = mapping->memory->properties.location.id};
    if (accessible && !mapping->accessible && !sim_heap_adopt(&range)) {
        return false;
    }
    if (!accessible && mapping->accessible) {
        sim_heap_disown(mapping->start);
    }
    mapping->accessible = accessible;
    return true;
}

CUresult sim_cuMemUnmap(CUdeviceptr ptr, size_t size)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    sim_order_drain();
    sim_work_stop();
    pthread_mutex_lock(&lock);
    if (filled(ptr, size)) {
        struct mapping **link = &mappings;
        while (*link != NULL) {
            struct mapping *gone = *link;
            if (gone->start < ptr || gone->start - ptr >= size) {
                link = &gone->next;
                continue;
            }
            *link = gone->next;
            (void)set_access(gone, false);
            gone->memory->mappings--;
            drop(gone->memory);
            free(gone);
        }
        (void)mmap((void *)ptr, size, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        result = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    sim_work_resume();
    return result;
}

/* Access of the memory's own device only: that of others is not supported. */
CUresult sim_cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count)
{
    if (desc == NULL || count == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    result = filled(ptr, size) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (struct mapping *at = mappings; result == CUDA_SUCCESS && at != NULL; at = at->next) {
        for (size_t i = 0; at->start >= ptr && at->start - ptr < size && i < count; i++) {
            bool own = desc[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
                       desc[i].location.id == at->memory->properties.location.id;
            if (!own) {
                result = CUDA_ERROR_NOT_SUPPORTED;
            } else if (!set_access(at, desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE)) {
                result = CUDA_ERROR_OUT_OF_MEMORY;
            }
        }
    }
    pthread_mutex_unlock(&lock);
    return result;
}

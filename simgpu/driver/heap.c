/* SPDX-License-Identifier: Apache-2.0 */
/* Memory: allocating, registering and freeing it, and finding what an address belongs to. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "simgpu/driver/registry.h"
#include "simgpu/order/order.h"

#define ALIGNMENT \
    ((size_t)512) /* as on hardware: a warp's accesses fall into lines as they do there */
#define PAGE ((size_t)4096)
#define LARGE ((size_t)1 << 20) /* from here on by mmap, so that freeing gives the memory back */

static uint32_t last_id; /* registry locked */

/* SIMGPU_MEMORY_MB, else three quarters of the host's memory, at most the 80 GiB of a large GPU. */
size_t sim_heap_limit(void)
{
    static _Atomic size_t limit;
    size_t bytes = atomic_load_explicit(&limit, memory_order_relaxed);
    if (bytes == 0) {
        const char *text = getenv("SIMGPU_MEMORY_MB");
        unsigned long long mib = text != NULL ? strtoull(text, NULL, 10) : 0;
        size_t host = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
        size_t most = (size_t)80 << 30;
        bytes = host / 4 * 3 < most ? host / 4 * 3 : most;
        if (mib > 0 && mib <= SIZE_MAX >> 20) {
            bytes = (size_t)mib << 20;
        }
        atomic_store_explicit(&limit, bytes, memory_order_relaxed);
    }
    return bytes;
}

size_t sim_heap_used(CUdevice device)
{
    pthread_mutex_lock(&sim_registry.lock);
    size_t used = sim_registry.used[device];
    pthread_mutex_unlock(&sim_registry.lock);
    return used;
}

bool sim_heap_charge(CUdevice device, size_t bytes)
{
    size_t limit = sim_heap_limit();
    pthread_mutex_lock(&sim_registry.lock);
    bool fits = bytes <= limit && sim_registry.used[device] <= limit - bytes;
    sim_registry.used[device] += fits ? bytes : 0;
    pthread_mutex_unlock(&sim_registry.lock);
    return fits;
}

void sim_heap_refund(CUdevice device, size_t bytes)
{
    pthread_mutex_lock(&sim_registry.lock);
    sim_registry.used[device] -= bytes;
    pthread_mutex_unlock(&sim_registry.lock);
}

/* Mapped memory was counted when it was made. */
static bool on_device(const struct sim_range *range)
{
    return (range->kind & SIM_ANY_DEVICE_MEMORY) != 0 && range->kind != SIM_MEM_MAPPED;
}

/* Registry locked. */
static bool enter(struct sim_range *range)
{
    range->id = ++last_id;
    if (sim_tree_insert(&sim_registry.memory, range) == NULL) {
        return false;
    }
    sim_registry.generation++;
    sim_registry.used[range->device] += on_device(range) ? range->bytes : 0;
    return true;
}

/* Registry locked. */
static bool leave(uintptr_t start, struct sim_range *gone)
{
    if (!sim_tree_remove(&sim_registry.memory, start, gone)) {
        return false;
    }
    sim_registry.generation++;
    sim_registry.used[gone->device] -= on_device(gone) ? gone->bytes : 0;
    if (gone->pool != NULL) {
        sim_mempool_give(gone->pool, gone->bytes);
    }
    return true;
}

/* Memory with an address of 32 bits, for kernels that were compiled for such. */
static void *map_low(size_t bytes, int flags)
{
#ifdef MAP_32BIT
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_32BIT, -1, 0);
#else
    enum { STEP = 16 << 20 };
    for (uintptr_t at = UINT32_C(1) << 28; at < UINT32_C(1) << 31; at += STEP) {
        void *map = mmap((void *)at, bytes, PROT_READ | PROT_WRITE, // NOLINT
                         flags | MAP_FIXED_NOREPLACE, -1, 0);
        if (map == (void *)at) { // NOLINT
            return map;
        }
        if (map != MAP_FAILED) {
            munmap(map, bytes); /* a kernel before 4.17 takes the address for a hint */
        }
    }
    return MAP_FAILED;
#endif
}

static void *obtain(size_t bytes, bool low, size_t *mapped_bytes)
{
    *mapped_bytes = 0;
    if (low || bytes >= LARGE) {
        size_t rounded = (bytes + PAGE - 1) & ~(PAGE - 1);
        int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        void *map = low ? map_low(rounded, flags)
                        : mmap(NULL, rounded, PROT_READ | PROT_WRITE, flags, -1, 0);
        if (map == MAP_FAILED) {
            return NULL;
        }
        *mapped_bytes = rounded;
        return map;
    }
    void *start = NULL;
    return posix_memalign(&start, ALIGNMENT, (bytes + ALIGNMENT - 1) & ~(ALIGNMENT - 1)) == 0
               ? start
               : NULL;
}

/* Registered memory and the variables of modules belong to others. */
static void release(const struct sim_range *range)
{
    if ((range->kind & (SIM_MEM_REGISTERED | SIM_MEM_GLOBAL)) != 0) {
        return;
    }
    if (range->pool_offset != 0) {
        (void)madvise((void *)range->start, range->mapped_bytes, MADV_REMOVE);
    }
    if (range->file != 0) {
        close(range->file);
    }
    if (range->mapped_bytes != 0) {
        munmap((void *)range->start, range->mapped_bytes);
    } else {
        free((void *)range->start);
    }
}

CUresult sim_heap_allocate(enum sim_kind kind, size_t bytes, unsigned flags, bool low,
                           struct sim_mempool *pool, void **out)
{
    if (out == NULL || bytes == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct sim_range range = {
        .bytes = bytes, .kind = kind, .flags = flags, .context = sim_current(), .pool = pool};
    if (range.context == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    range.device = pool != NULL ? sim_mempool_device(pool) : range.context->device;
    size_t limit = sim_heap_limit();
    if (bytes > limit) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    void *start = pool != NULL && sim_mempool_is_shareable(pool)
                      ? sim_mempool_obtain(pool, bytes, &range.mapped_bytes, &range.pool_offset)
                      : obtain(bytes, low, &range.mapped_bytes);
    if (start == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    range.start = (uintptr_t)start;
    pthread_mutex_lock(&sim_registry.lock);
    bool fits = !on_device(&range) || bytes <= limit - sim_registry.used[range.device];
    bool known = fits && (pool == NULL || sim_mempool_take(pool, bytes));
    if (known && !enter(&range)) {
        known = false;
        if (pool != NULL) {
            sim_mempool_give(pool, bytes);
        }
    }
    pthread_mutex_unlock(&sim_registry.lock);
    if (!known) {
        release(&range);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (sim_order_on()) {
        sim_order_memory_is_new((uintptr_t)start, bytes);
    }
    *out = start;
    return CUDA_SUCCESS;
}

CUresult sim_heap_register(void *start, size_t bytes, unsigned flags)
{
    struct sim_context *context = sim_current();
    if (start == NULL || bytes == 0 || (uintptr_t)start + bytes < (uintptr_t)start) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (context == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    struct sim_range range = {.start = (uintptr_t)start,
                              .bytes = bytes,
                              .kind = SIM_MEM_REGISTERED,
                              .flags = flags,
                              .device = context->device,
                              .context = context};
    pthread_mutex_lock(&sim_registry.lock);
    bool taken = sim_tree_overlaps(&sim_registry.memory, range.start, bytes);
    bool known = !taken && enter(&range);
    pthread_mutex_unlock(&sim_registry.lock);
    return taken    ? CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
           : !known ? CUDA_ERROR_OUT_OF_MEMORY
                    : CUDA_SUCCESS;
}

bool sim_heap_adopt(const struct sim_range *range)
{
    struct sim_range entered = *range;
    pthread_mutex_lock(&sim_registry.lock);
    bool known = enter(&entered);
    pthread_mutex_unlock(&sim_registry.lock);
    return known;
}

void sim_heap_disown(uintptr_t start)
{
    struct sim_range gone;
    pthread_mutex_lock(&sim_registry.lock);
    (void)leave(start, &gone);
    pthread_mutex_unlock(&sim_registry.lock);
}

/* Work that runs may use the memory: as on hardware, freeing waits for it. */
CUresult sim_heap_free(uintptr_t start, unsigned kinds)
{
    struct sim_range gone = {0};
    sim_work_stop();
    pthread_mutex_lock(&sim_registry.lock);
    const struct sim_range *range = sim_tree_find(&sim_registry.memory, start);
    bool is = range != NULL && range->start == start && (range->kind & kinds) != 0 &&
              (range->kind & SIM_MEM_GLOBAL) == 0 && leave(start, &gone);
    pthread_mutex_unlock(&sim_registry.lock);
    if (is) {
        release(&gone);
    }
    sim_work_resume();
    return is                            ? CUDA_SUCCESS
           : kinds == SIM_MEM_REGISTERED ? CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED
                                         : CUDA_ERROR_INVALID_VALUE;
}

bool sim_heap_find(uintptr_t address, struct sim_range *out)
{
    pthread_mutex_lock(&sim_registry.lock);
    const struct sim_range *range = sim_tree_find(&sim_registry.memory, address);
    if (range != NULL) {
        *out = *range;
    }
    pthread_mutex_unlock(&sim_registry.lock);
    return range != NULL;
}

bool sim_heap_set_file(uintptr_t start, uint32_t id, int file)
{
    pthread_mutex_lock(&sim_registry.lock);
    struct sim_range *range = sim_tree_find(&sim_registry.memory, start);
    bool is = range != NULL && range->id == id;
    if (is) {
        range->file = file;
    }
    pthread_mutex_unlock(&sim_registry.lock);
    return is;
}

bool sim_heap_covers(uintptr_t address, size_t bytes)
{
    struct sim_range range;
    while (bytes != 0) {
        if (!sim_heap_find(address, &range)) {
            return false;
        }
        size_t rest = range.bytes - (address - range.start);
        if (bytes > rest && range.kind != SIM_MEM_MAPPED) {
            return false; /* only mappings go on in the next one */
        }
        address += rest;
        bytes -= bytes < rest ? bytes : rest;
    }
    return true;
}

bool sim_heap_advise(uintptr_t address, size_t bytes, void (*change)(struct sim_range *, void *),
                     void *data)
{
    pthread_mutex_lock(&sim_registry.lock);
    struct sim_range *range = sim_tree_find(&sim_registry.memory, address);
    bool is = range != NULL && (range->kind & SIM_MEM_MANAGED) != 0 &&
              bytes <= range->bytes - (address - range->start);
    if (is) {
        change(range, data);
    }
    pthread_mutex_unlock(&sim_registry.lock);
    return is;
}

/* ---- with their context ---- */

struct owned {
    const struct sim_context *context;
    uintptr_t *starts; /* NULL: count only */
    size_t count;
};

static bool collect(struct sim_range *range, void *data)
{
    struct owned *owned = data;
    if (range->context == owned->context && (range->kind & SIM_MEM_GLOBAL) == 0) {
        if (owned->starts != NULL) {
            owned->starts[owned->count] = range->start;
        }
        owned->count++;
    }
    return true;
}

/* Registry locked. All that the context owns, or one at a time where there is no memory for a list. */
static void leave_all(struct owned *owned)
{
    sim_tree_walk(&sim_registry.memory, collect, owned);
    owned->starts = calloc(owned->count != 0 ? owned->count : 1, sizeof *owned->starts);
    if (owned->starts == NULL) {
        return; /* what is left stays allocated until the process ends */
    }
    owned->count = 0;
    sim_tree_walk(&sim_registry.memory, collect, owned);
    for (size_t i = 0; i < owned->count; i++) {
        struct sim_range gone = {0};
        if (leave(owned->starts[i], &gone)) {
            release(&gone);
        }
    }
    free(owned->starts);
}

void sim_heap_release(struct sim_context *context)
{
    struct owned owned = {.context = context};
    pthread_mutex_lock(&sim_registry.lock);
    leave_all(&owned);
    pthread_mutex_unlock(&sim_registry.lock);
}

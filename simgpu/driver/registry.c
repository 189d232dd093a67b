/* SPDX-License-Identifier: Apache-2.0 */
/* Which addresses are memory or live objects of the software device: one sorted array of ranges. */
#include "simgpu/driver/driver.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sim_range *ranges;
static size_t range_count, range_capacity;
static size_t device_bytes_used;

/* Index of the first range that starts after `address`. Lock held. */
static size_t upper_bound(uintptr_t address)
{
    size_t low = 0, high = range_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ranges[middle].start <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The range that holds `address`, NULL if none. Lock held. */
static struct sim_range *find(uintptr_t address)
{
    size_t i = upper_bound(address);
    if (i == 0) {
        return NULL;
    }
    struct sim_range *range = &ranges[i - 1];
    return address - range->start < (range->bytes != 0 ? range->bytes : 1) ? range : NULL;
}

static bool insert(const struct sim_range *range)
{
    if (range_count == range_capacity) {
        size_t capacity = range_capacity != 0 ? range_capacity * 2 : 256;
        struct sim_range *grown = realloc(ranges, capacity * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        ranges = grown;
        range_capacity = capacity;
    }
    size_t i = upper_bound(range->start);
    memmove(&ranges[i + 1], &ranges[i], (range_count - i) * sizeof *ranges);
    ranges[i] = *range;
    range_count++;
    return true;
}

static void remove_at(struct sim_range *range)
{
    size_t i = (size_t)(range - ranges);
    range_count--;
    memmove(&ranges[i], &ranges[i + 1], (range_count - i) * sizeof *ranges);
}

size_t sim_memory_limit(void)
{
    const char *text = getenv("SIMGPU_MEMORY_MB");
    size_t mib = text != NULL ? strtoul(text, NULL, 10) : 16384;
    return mib << 20;
}

size_t sim_memory_used(void)
{
    pthread_mutex_lock(&registry_lock);
    size_t used = device_bytes_used;
    pthread_mutex_unlock(&registry_lock);
    return used;
}

/* The functions that went last: the driver hands their handles out again, and so does this one. */
static struct {
    void *object;
    size_t bytes;
} spare;

static void *spare_take(enum sim_kind kind, size_t bytes)
{
    void *object = NULL;
    pthread_mutex_lock(&registry_lock);
    if (kind == SIM_FUNCTION && spare.object != NULL && spare.bytes == bytes) {
        object = memset(spare.object, 0, bytes);
        spare.object = NULL;
    }
    pthread_mutex_unlock(&registry_lock);
    return object;
}

static void object_free(const struct sim_range *range)
{
    void *gone = (void *)range->start;
    if (range->kind == SIM_FUNCTION) {
        pthread_mutex_lock(&registry_lock);
        gone = spare.object;
        spare.object = (void *)range->start;
        spare.bytes = range->bytes;
        pthread_mutex_unlock(&registry_lock);
    }
    free(gone);
}

void *sim_object_new(enum sim_kind kind, size_t bytes)
{
    void *object = spare_take(kind, bytes);
    if (object == NULL) {
        object = calloc(1, bytes);
    }
    if (object == NULL) {
        return NULL;
    }
    struct sim_range range = {.start = (uintptr_t)object, .bytes = bytes, .kind = kind};
    pthread_mutex_lock(&registry_lock);
    bool known = insert(&range);
    pthread_mutex_unlock(&registry_lock);
    if (!known) {
        free(object);
        return NULL;
    }
    return object;
}

bool sim_object_is(const void *object, unsigned kinds)
{
    pthread_mutex_lock(&registry_lock);
    const struct sim_range *range = find((uintptr_t)object);
    bool is = range != NULL && range->start == (uintptr_t)object && (range->kind & kinds) != 0;
    pthread_mutex_unlock(&registry_lock);
    return is;
}

bool sim_object_element(const void *address, enum sim_kind kind, size_t element_bytes)
{
    pthread_mutex_lock(&registry_lock);
    const struct sim_range *range = find((uintptr_t)address);
    bool is = range != NULL && range->kind == kind &&
              ((uintptr_t)address - range->start) % element_bytes == 0;
    pthread_mutex_unlock(&registry_lock);
    return is;
}

void sim_object_own(const void *object, struct sim_context *context)
{
    pthread_mutex_lock(&registry_lock);
    struct sim_range *range = find((uintptr_t)object);
    if (range != NULL && range->start == (uintptr_t)object) {
        range->context = context;
    }
    pthread_mutex_unlock(&registry_lock);
}

bool sim_object_delete(void *object, unsigned kinds)
{
    struct sim_range gone = {0};
    pthread_mutex_lock(&registry_lock);
    struct sim_range *range = find((uintptr_t)object);
    bool is = range != NULL && range->start == (uintptr_t)object && (range->kind & kinds) != 0;
    if (is) {
        gone = *range;
        remove_at(range);
    }
    pthread_mutex_unlock(&registry_lock);
    if (is) {
        object_free(&gone);
    }
    return is;
}

static void release_memory(const struct sim_range *range)
{
    if (range->kind == SIM_MEM_REGISTERED) {
        return;
    }
    if (range->mapped_bytes != 0) {
        munmap((void *)range->start, range->mapped_bytes);
    } else {
        object_free(range);
    }
}

static void *obtain(size_t bytes, bool low, size_t *mapped_bytes)
{
    *mapped_bytes = 0;
    if (low || bytes >= (1u << 20)) {
        size_t rounded = (bytes + 4095) & ~(size_t)4095;
        void *map = mmap(NULL, rounded, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (low ? MAP_32BIT : 0), -1,
                         0);
        if (map == MAP_FAILED) {
            return NULL;
        }
        *mapped_bytes = rounded;
        return map;
    }
    void *start = NULL;
    return posix_memalign(&start, 512, (bytes + 511) & ~(size_t)511) == 0 ? start : NULL;
}

/* `low`: below 4 GiB, for entry points with 32-bit device pointers. */
CUresult sim_memory_new(enum sim_kind kind, size_t bytes, unsigned flags, bool low, void **out)
{
    bool on_device = (kind & SIM_ANY_DEVICE_MEMORY) != 0;
    if (out == NULL || bytes == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct sim_range range = {
        .bytes = bytes, .kind = kind, .flags = flags, .context = sim_current()};
    if (range.context == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (bytes > sim_memory_limit()) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    void *start = obtain(bytes, low, &range.mapped_bytes);
    if (start == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    range.start = (uintptr_t)start;
    pthread_mutex_lock(&registry_lock);
    bool fits = !on_device || device_bytes_used + bytes <= sim_memory_limit();
    bool known = fits && insert(&range);
    if (known && on_device) {
        device_bytes_used += bytes;
    }
    pthread_mutex_unlock(&registry_lock);
    if (!known) {
        release_memory(&range);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = start;
    return CUDA_SUCCESS;
}

CUresult sim_memory_register(void *start, size_t bytes, unsigned flags)
{
    if (start == NULL || bytes == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct sim_range range = {.start = (uintptr_t)start,
                              .bytes = bytes,
                              .kind = SIM_MEM_REGISTERED,
                              .flags = flags,
                              .context = sim_current()};
    pthread_mutex_lock(&registry_lock);
    bool taken = find(range.start) != NULL || find(range.start + bytes - 1) != NULL;
    bool known = !taken && insert(&range);
    pthread_mutex_unlock(&registry_lock);
    return taken    ? CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
           : !known ? CUDA_ERROR_OUT_OF_MEMORY
                    : CUDA_SUCCESS;
}

bool sim_memory_adopt(void *start, size_t bytes)
{
    struct sim_range range = {.start = (uintptr_t)start, .bytes = bytes, .kind = SIM_MEM_DEVICE};
    pthread_mutex_lock(&registry_lock);
    bool known = insert(&range);
    device_bytes_used += known ? bytes : 0;
    pthread_mutex_unlock(&registry_lock);
    return known;
}

CUresult sim_memory_delete(uintptr_t start, unsigned kinds)
{
    struct sim_range gone = {0};
    pthread_mutex_lock(&registry_lock);
    struct sim_range *range = find(start);
    if (range != NULL && range->start == start && (range->kind & kinds) != 0) {
        gone = *range;
        if ((gone.kind & SIM_ANY_DEVICE_MEMORY) != 0) {
            device_bytes_used -= gone.bytes;
        }
        remove_at(range);
    }
    pthread_mutex_unlock(&registry_lock);
    if (gone.kind == SIM_NOTHING) {
        return kinds == SIM_MEM_REGISTERED ? CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED
                                           : CUDA_ERROR_INVALID_VALUE;
    }
    release_memory(&gone);
    return CUDA_SUCCESS;
}

bool sim_memory_find(uintptr_t address, struct sim_range *out)
{
    pthread_mutex_lock(&registry_lock);
    const struct sim_range *range = find(address);
    bool found = range != NULL &&
                 (range->kind & (SIM_ANY_DEVICE_MEMORY | SIM_ANY_HOST_MEMORY)) != 0;
    if (found) {
        *out = *range;
    }
    pthread_mutex_unlock(&registry_lock);
    return found;
}

bool sim_memory_covers(uintptr_t address, size_t bytes)
{
    struct sim_range range;
    if (bytes == 0) {
        return true;
    }
    return sim_memory_find(address, &range) && bytes <= range.bytes - (address - range.start);
}

void sim_context_release(struct sim_context *context)
{
    for (;;) {
        struct sim_range gone = {0};
        pthread_mutex_lock(&registry_lock);
        for (size_t i = 0; i < range_count && gone.kind == SIM_NOTHING; i++) {
            if (ranges[i].context == context) {
                gone = ranges[i];
                if ((gone.kind & SIM_ANY_DEVICE_MEMORY) != 0) {
                    device_bytes_used -= gone.bytes;
                }
                remove_at(&ranges[i]);
            }
        }
        pthread_mutex_unlock(&registry_lock);
        if (gone.kind == SIM_NOTHING) {
            return;
        }
        release_memory(&gone);
    }
}

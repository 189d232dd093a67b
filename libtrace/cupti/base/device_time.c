/* SPDX-License-Identifier: Apache-2.0 */
/* A table of what kernels took, by a hash of their name and shape (device_time.h). */
#include "libtrace/cupti/base/device_time.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 8192u /* further classes have no time */
#define PROBES 64u

struct gmt_device_time {
    _Atomic uint64_t key; /* 0: free */
    _Atomic uint64_t ns;
    _Atomic uint64_t count;
};

static struct gmt_device_time *_Atomic table;

/* FNV-1a of the name, and a multiplicative hash of the rest. Two keys of 8192 are equal with a probability of 2e-12. */
static uint64_t key_of(const char *name, const uint32_t grid[3], const uint32_t block[3])
{
    uint64_t key = UINT64_C(0xcbf29ce484222325);
    for (const char *at = name; *at != '\0'; at++) {
        key = (key ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    }
    const uint32_t shape[] = {grid[0], grid[1], grid[2], block[0], block[1], block[2]};
    for (size_t i = 0; i < sizeof(shape) / sizeof(shape[0]); i++) {
        key = (key ^ shape[i]) * UINT64_C(0x9e3779b97f4a7c15);
        key ^= key >> 32;
    }
    return key != 0 ? key : 1;
}

/* NULL: not there, and no room for it where it is to be made. */
static struct gmt_device_time *find(struct gmt_device_time *slots, uint64_t key, int make)
{
    for (uint64_t i = 0; i < PROBES; i++) {
        struct gmt_device_time *at = &slots[(key + i) % SLOTS];
        uint64_t there = atomic_load_explicit(&at->key, memory_order_acquire);
        if (there == 0 && make && atomic_compare_exchange_strong(&at->key, &there, key)) {
            return at;
        }
        if (there == key) {
            return at;
        }
        if (there == 0) {
            return NULL;
        }
    }
    return NULL;
}

static struct gmt_device_time *slots_needed(void)
{
    struct gmt_device_time *known = atomic_load(&table);
    if (known != NULL) {
        return known;
    }
    struct gmt_device_time *made = calloc(SLOTS, sizeof(*made));
    if (made != NULL && !atomic_compare_exchange_strong(&table, &known, made)) {
        free(made);
        return known;
    }
    return made;
}

struct gmt_device_time *gmt_device_time_of(const char *name, const uint32_t grid[3],
                                           const uint32_t block[3])
{
    struct gmt_device_time *slots = slots_needed();
    return slots != NULL && name != NULL ? find(slots, key_of(name, grid, block), 1) : NULL;
}

void gmt_device_time_note(const char *name, const uint32_t grid[3], const uint32_t block[3],
                          uint64_t ns)
{
    struct gmt_device_time *slots = atomic_load(&table);
    struct gmt_device_time *of = slots != NULL && name != NULL
                                     ? find(slots, key_of(name, grid, block), 0)
                                     : NULL;
    if (of != NULL) {
        atomic_fetch_add_explicit(&of->ns, ns, memory_order_relaxed);
        atomic_fetch_add_explicit(&of->count, 1, memory_order_release);
    }
}

uint64_t gmt_device_time_mean_ns(const struct gmt_device_time *of)
{
    uint64_t count = of != NULL ? atomic_load_explicit(&of->count, memory_order_acquire) : 0;
    if (count == 0) {
        return 0;
    }
    uint64_t mean_ns = atomic_load_explicit(&of->ns, memory_order_relaxed) / count;
    return mean_ns != 0 ? mean_ns : 1;
}

void gmt_device_time_forget(void)
{
    struct gmt_device_time *slots = atomic_load(&table);
    if (slots != NULL) {
        memset(slots, 0, SLOTS * sizeof(*slots));
    }
}

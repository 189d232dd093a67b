/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of tensor maps that the program has encoded (tensor_maps.h). */
#include "preload/state/tensor_maps.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "libtrace/record/spool.h"
#include "libtrace/threads/mutex.h"
#include "preload/hash/content_hash.h"
#include "preload/session/table.h"

#define SLOTS 65536u
#define MOST (SLOTS / 2)
#define FILTER_BITS 4096u
#define DESCRIPTOR_ALIGNMENT 64u

struct map_table {
    _Atomic uint64_t hashes[SLOTS]; /* 0: free */
    uint32_t ids[SLOTS];            /* there before the hash is */
    /* Of the first words of all descriptors: in most places where one could be, none is. */
    _Atomic uint64_t filter[FILTER_BITS / 64];
    struct gmt_tensor_map maps[MOST]; /* by id - 1; each is there before its id is */
};
static gmt_table_pointer tables;
static struct gmt_mutex mutex = GMT_MUTEX(TENSOR_MAPS);
_Atomic uint32_t gmt_tensor_map_count;

/* Never 0, which is a free slot. */
static uint64_t hash_of(const void *descriptor)
{
    const struct gmt_hash_range range = {descriptor, sizeof(CUtensorMap), 1, 0, false};
    uint64_t low = gmt_hash_of(&range, sizeof(CUtensorMap)).low;
    return low != 0 ? low : 1;
}

static unsigned filter_bit(const void *descriptor)
{
    uint64_t word;
    memcpy(&word, descriptor, sizeof(word));
    return (unsigned)((word * UINT64_C(0x9e3779b97f4a7c15)) >> 32) % FILTER_BITS;
}

/* 0: none. `at` gets its slot, or the free one for it. */
static uint32_t find(const struct map_table *all, uint64_t hash, unsigned *at)
{
    *at = (unsigned)(hash % SLOTS);
    for (;; *at = (*at + 1) % SLOTS) {
        uint64_t seen = atomic_load_explicit(&all->hashes[*at], memory_order_acquire);
        if (seen == hash || seen == 0) {
            return seen == hash ? all->ids[*at] : 0;
        }
    }
}

/* The id of a descriptor, 0: it is not known. */
static uint32_t id_of(const void *descriptor)
{
    unsigned at;
    const struct map_table *all = gmt_table(&tables);
    return all != NULL ? find(all, hash_of(descriptor), &at) : 0;
}

uint32_t gmt_tensor_map_id_for(const CUtensorMap *descriptor, struct gmt_tensor_map *map)
{
    unsigned at;
    uint64_t hash = hash_of(descriptor);
    struct map_table *all = gmt_table_need(&tables, sizeof(struct map_table));
    uint32_t id = all != NULL ? find(all, hash, &at) : 0;
    if (all == NULL || id != 0) {
        return id;
    }
    bool is_new = false;
    gmt_mutex_lock(&mutex);
    id = find(all, hash, &at);
    if (id == 0 && gmt_tensor_map_count < MOST) {
        unsigned bit = filter_bit(descriptor);
        id = gmt_tensor_map_count + 1;
        map->id = id;
        all->maps[id - 1] = *map;
        all->ids[at] = id;
        atomic_fetch_or_explicit(&all->filter[bit / 64], UINT64_C(1) << (bit % 64),
                                 memory_order_relaxed);
        gmt_tensor_map_count = id; /* who finds the hash knows that there is one */
        atomic_store_explicit(&all->hashes[at], hash, memory_order_release);
        is_new = true;
    }
    gmt_mutex_unlock(&mutex);
    if (is_new) {
        (void)gmt_spool_side(GMT_REC_TENSOR_MAP, map, sizeof(*map), NULL, 0);
    }
    return id;
}

/* Read through the kernel: the driver may refuse the call without having read it. */
uint32_t gmt_tensor_map_id_at(const CUtensorMap *map)
{
    char copy[sizeof(CUtensorMap)];
    struct iovec to = {copy, sizeof(copy)}, from = {(void *)(uintptr_t)map, sizeof(copy)}; // NOLINT
    if (map == NULL || gmt_table(&tables) == NULL) {
        return 0;
    }
    int saved_errno = errno;
    bool is_read = process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)sizeof(copy);
    errno = saved_errno;
    return is_read ? id_of(copy) : 0;
}

const struct gmt_tensor_map *gmt_tensor_map_of(uint32_t id)
{
    const struct map_table *all = gmt_table(&tables);
    return &all->maps[id - 1];
}

uint64_t gmt_tensor_map_address(uint32_t index)
{
    const struct map_table *all = gmt_table(&tables);
    return all->maps[index].address;
}

/* ---- launches --------------------------------------------------------------------------------- */

static bool may_be_known(const struct map_table *all, const uint8_t *bytes)
{
    unsigned bit = filter_bit(bytes);
    return (atomic_load_explicit(&all->filter[bit / 64], memory_order_relaxed) >> (bit % 64) & 1) !=
           0;
}

/* A descriptor may be a parameter, or a member of one. */
uint8_t gmt_tensor_map_find_all(const struct gmt_kernel_info *kernel, void **parameters,
                                struct gmt_launch_arg *list, unsigned room)
{
    const struct map_table *all = gmt_table(&tables);
    uint8_t count = 0;
    if (all == NULL || parameters == NULL || !kernel->parameters_known) {
        return 0;
    }
    for (uint16_t i = 0; i < kernel->parameter_count; i++) {
        const struct gmt_parameter *parameter = &kernel->parameters[i];
        const uint8_t *bytes = parameters[i];
        uint32_t step, at = -parameter->offset % DESCRIPTOR_ALIGNMENT;
        for (; bytes != NULL && at + sizeof(CUtensorMap) <= parameter->bytes; at += step) {
            uint32_t id = may_be_known(all, bytes + at) ? id_of(bytes + at) : 0;
            step = id != 0 ? sizeof(CUtensorMap) : DESCRIPTOR_ALIGNMENT;
            if (id != 0 && count == room) {
                gmt_spool_loss("tensor map of a launch", "too many arguments", 1);
            } else if (id != 0) {
                list[count++] = (struct gmt_launch_arg){
                    .parameter = i,
                    .word_offset = (uint16_t)at,
                    .alloc = id,
                    .offset = GMT_ARG_TENSOR_MAP,
                };
            }
        }
    }
    return count;
}

void gmt_tensor_map_reset(void)
{
    gmt_mutex_renew(&mutex);
    if (gmt_table(&tables) != NULL) {
        memset(gmt_table(&tables), 0, offsetof(struct map_table, maps));
    }
    gmt_tensor_map_count = 0;
}

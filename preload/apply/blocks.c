/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of memory that was allocated and that is kept (blocks.h). */
#include "preload/apply/blocks.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "libtrace/threads/mutex.h"
#include "preload/apply/state.h"

#define SLOTS 8192u /* of allocated blocks */
#define TRIES 16u
#define MOST_KEPT 64u

static struct gmt_mutex mutex = GMT_MUTEX(BLOCKS);
static struct gmt_block *allocated; /* by address; empty where that is 0. NULL: nothing is known */
static struct gmt_block kept[MOST_KEPT]; /* the oldest first */
static _Atomic unsigned kept_count;
static uint64_t kept_bytes[GMT_BLOCK_KINDS];

/* ---- allocated ---------------------------------------------------------------------------------- */

bool gmt_blocks_make(void)
{
    void *memory = mmap(NULL, SLOTS * sizeof(*allocated), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) {
        allocated = memory;
    }
    return allocated != NULL;
}

/* The slot of that address, 0: an empty one near where `near` would be. Locked. NULL: there is none. */
static struct gmt_block *slot_of(uint64_t address, uint64_t near)
{
    unsigned at = (unsigned)((near * UINT64_C(0x9e3779b97f4a7c15)) >> 51);
    for (unsigned i = 0; i < TRIES && allocated != NULL; i++) {
        struct gmt_block *slot = &allocated[(at + i) % SLOTS];
        if (slot->address == address) {
            return slot;
        }
    }
    return NULL;
}

void gmt_blocks_add(const struct gmt_block *block)
{
    gmt_mutex_lock(&mutex);
    struct gmt_block *slot = slot_of(block->address, block->address);
    slot = slot != NULL ? slot : slot_of(0, block->address);
    if (slot != NULL) {
        *slot = *block;
    }
    gmt_mutex_unlock(&mutex);
}

bool gmt_blocks_remove(enum gmt_block_kind kind, uint64_t address, struct gmt_block *block)
{
    gmt_mutex_lock(&mutex);
    struct gmt_block *slot = address != 0 ? slot_of(address, address) : NULL;
    bool found = slot != NULL && slot->kind == kind;
    if (found) {
        *block = *slot;
        slot->address = 0;
    }
    gmt_mutex_unlock(&mutex);
    return found;
}

void gmt_blocks_show(uint64_t address)
{
    gmt_mutex_lock(&mutex);
    struct gmt_block *slot = address != 0 ? slot_of(address, address) : NULL;
    if (slot != NULL) {
        slot->is_shown = true;
    }
    gmt_mutex_unlock(&mutex);
}

void gmt_blocks_forget(void)
{
    gmt_mutex_lock(&mutex);
    if (allocated != NULL) {
        memset(allocated, 0, SLOTS * sizeof(*allocated));
    }
    gmt_mutex_unlock(&mutex);
}

/* ---- kept --------------------------------------------------------------------------------------- */

bool gmt_kept_add(const struct gmt_block *block)
{
    gmt_mutex_lock(&mutex);
    unsigned count = kept_count;
    bool fits = count < MOST_KEPT;
    if (fits) {
        kept[count] = *block;
        kept_bytes[block->kind] += block->bytes;
        kept_count = count + 1;
    }
    gmt_mutex_unlock(&mutex);
    return fits;
}

/* Locked. */
static void take_out(unsigned at, struct gmt_block *block)
{
    *block = kept[at];
    kept_bytes[block->kind] -= block->bytes;
    unsigned left = kept_count - 1;
    memmove(&kept[at], &kept[at + 1], (left - at) * sizeof(kept[0]));
    kept_count = left;
}

bool gmt_kept_take(const struct gmt_block *like, struct gmt_block *block)
{
    bool found = false;
    if (kept_count == 0) {
        return false;
    }
    gmt_mutex_lock(&mutex);
    for (unsigned i = kept_count; i-- > 0 && !found;) {
        found = kept[i].kind == like->kind &&
                (kept[i].bytes == like->bytes || GMT_APPLY_MUTANT(cache_any_size)) &&
                (kept[i].flags == like->flags || GMT_APPLY_MUTANT(cache_any_flags)) &&
                (kept[i].context == like->context || GMT_APPLY_MUTANT(cache_context));
        if (found) {
            take_out(i, block);
        }
    }
    gmt_mutex_unlock(&mutex);
    return found;
}

bool gmt_kept_take_at(uint64_t address, struct gmt_block *block)
{
    bool found = false;
    if (kept_count == 0) {
        return false;
    }
    gmt_mutex_lock(&mutex);
    for (unsigned i = kept_count; i-- > 0 && !found;) {
        found = address - kept[i].address < kept[i].bytes;
        if (found) {
            take_out(i, block);
        }
    }
    gmt_mutex_unlock(&mutex);
    return found;
}

bool gmt_kept_take_oldest(enum gmt_block_kind kind, struct gmt_block *block)
{
    bool found = false;
    if (kept_count == 0) {
        return false;
    }
    gmt_mutex_lock(&mutex);
    for (unsigned i = 0; i < kept_count && !found; i++) {
        found = kept[i].kind == kind;
        if (found) {
            take_out(i, block);
        }
    }
    gmt_mutex_unlock(&mutex);
    return found;
}

uint64_t gmt_kept_bytes(enum gmt_block_kind kind)
{
    gmt_mutex_lock(&mutex);
    uint64_t bytes = kept_bytes[kind];
    gmt_mutex_unlock(&mutex);
    return bytes;
}

unsigned gmt_kept_count(void)
{
    return kept_count;
}

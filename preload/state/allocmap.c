/* SPDX-License-Identifier: Apache-2.0 */
/* Live allocations: a tree in the order of addresses, under a sequence lock. */
#include "preload/state/allocmap.h"

#include <stdatomic.h>
#include <stddef.h>

#include "libtrace/record/spool.h"
#include "libtrace/threads/mutex.h"
#include "preload/state/alloctree.h"

#define CACHE_ENTRIES 8u
#define UNREADABLE (UINT64_C(1) << 63) /* of a tag; the rest is context << 40 | id << 8 | kind */
#define SHARED (UINT64_C(1) << 62)
#define SPINS 1000u /* looks at a map that is being changed before waiting for it to be done */

static struct {
    struct gmt_mutex mutex;
    _Atomic uint64_t seq; /* odd while being changed */
    _Atomic uint32_t last_id;
    _Atomic uint64_t lowest, highest; /* bounds of all addresses ever known: a cheap first test */
    _Atomic size_t host_visible;
    /* No allocation of this context lies at that address or above. */
    uint16_t swept_context;
    uint64_t swept_from;
} map = {.mutex = GMT_MUTEX(ALLOCATIONS), .lowest = UINT64_MAX, .swept_from = UINT64_MAX};

/* Programs use the same few pointers again and again. Valid while `seq` does not change. Few entries: a
 * library that is opened late finds room for some 700 bytes of thread-local storage (static programs). */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
    volatile uint64_t address;
    uint64_t seq;
    struct gmt_alloctree_entry found;
} cache[CACHE_ENTRIES];

/* This thread has the mutex, or is about to: a signal handler of its must not wait for it. */
static _Thread_local __attribute__((tls_model("initial-exec"))) volatile bool inside;

static bool is_host_visible(uint8_t kind)
{
    return kind == GMT_ALLOC_HOST || kind == GMT_ALLOC_REGISTERED || kind == GMT_ALLOC_MANAGED;
}

static struct gmt_alloctree_entry entry_of(const struct gmt_allocation *allocation)
{
    return (struct gmt_alloctree_entry){
        .base = allocation->base,
        .bytes = allocation->bytes,
        .tag = (allocation->unreadable ? UNREADABLE : 0) | (allocation->shared ? SHARED : 0) |
               (uint64_t)allocation->context << 40 | (uint64_t)allocation->id << 8 |
               allocation->kind,
    };
}

static struct gmt_allocation allocation_of(const struct gmt_alloctree_entry *entry)
{
    return (struct gmt_allocation){
        .base = entry->base,
        .bytes = entry->bytes,
        .id = (uint32_t)(entry->tag >> 8),
        .kind = (uint8_t)entry->tag,
        .context = (uint16_t)(entry->tag >> 40),
        .unreadable = (entry->tag & UNREADABLE) != 0,
        .shared = (entry->tag & SHARED) != 0,
    };
}

/* False: this is a signal handler that interrupted a change. */
static bool lock(void)
{
    if (inside) {
        return false;
    }
    inside = true;
    gmt_mutex_lock(&map.mutex);
    return true;
}

static void unlock(void)
{
    gmt_mutex_unlock(&map.mutex);
    inside = false;
}

static void begin_change(void)
{
    uint64_t seq = atomic_load_explicit(&map.seq, memory_order_relaxed);
    atomic_store_explicit(&map.seq, seq + 1, memory_order_relaxed); /* see alloctree.c */
}

static void end_change(void)
{
    uint64_t seq = atomic_load_explicit(&map.seq, memory_order_relaxed);
    atomic_store_explicit(&map.seq, seq + 1, memory_order_release);
}

static void widen_bounds(const struct gmt_allocation *allocation)
{
    uint64_t end = allocation->base + allocation->bytes;
    if (allocation->base < atomic_load_explicit(&map.lowest, memory_order_relaxed)) {
        atomic_store_explicit(&map.lowest, allocation->base, memory_order_relaxed);
    }
    if (end > atomic_load_explicit(&map.highest, memory_order_relaxed)) {
        atomic_store_explicit(&map.highest, end, memory_order_relaxed);
    }
}

static bool insert(const struct gmt_allocation *allocation)
{
    struct gmt_alloctree_entry entry = entry_of(allocation);
    if (!lock()) {
        return false;
    }
    bool room = gmt_alloctree_reserve();
    if (room) {
        begin_change();
        gmt_alloctree_insert(&entry);
        widen_bounds(allocation);
        end_change();
        if (allocation->context == map.swept_context && allocation->base >= map.swept_from) {
            map.swept_from = UINT64_MAX;
        }
        if (is_host_visible(allocation->kind)) {
            atomic_fetch_add_explicit(&map.host_visible, 1, memory_order_relaxed);
        }
    }
    unlock();
    return room;
}

uint32_t gmt_allocmap_insert(uint64_t base, uint64_t bytes, enum gmt_alloc_kind kind,
                             uint16_t context)
{
    struct gmt_allocation allocation = {
        .base = base,
        .bytes = bytes,
        .id = atomic_fetch_add_explicit(&map.last_id, 1, memory_order_relaxed) + 1,
        .kind = (uint8_t)kind,
        .context = context,
    };
    if (!insert(&allocation)) {
        gmt_spool_loss("allocation not tracked", "more live allocations than the map holds", 1);
    }
    return allocation.id;
}

/* The caller has the lock. */
static void add_flag(const struct gmt_alloctree_cursor *place, uint64_t flag)
{
    struct gmt_alloctree_entry entry;
    gmt_alloctree_get(place, &entry);
    entry.tag |= flag;
    begin_change();
    gmt_alloctree_remove(place);
    gmt_alloctree_insert(&entry);
    end_change();
}

void gmt_allocmap_set_unreadable(uint64_t base)
{
    struct gmt_alloctree_cursor place;
    struct gmt_alloctree_entry entry;
    if (!lock()) {
        return;
    }
    if (gmt_alloctree_reserve() && gmt_alloctree_seek(base, &place)) {
        gmt_alloctree_get(&place, &entry);
        if (entry.base == base) {
            add_flag(&place, UNREADABLE);
        }
    }
    unlock();
}

/* From the last to the first: those below do not move. */
bool gmt_allocmap_share(uint64_t first, uint64_t bytes)
{
    struct gmt_alloctree_cursor place;
    struct gmt_alloctree_entry entry = {.base = UINT64_MAX};
    uint64_t at = first + (bytes != 0 ? bytes - 1 : 0);
    bool any = false;
    if (!lock()) {
        return false;
    }
    while (entry.base > first && gmt_alloctree_reserve() && gmt_alloctree_seek(at, &place)) {
        gmt_alloctree_get(&place, &entry);
        if (entry.base < first && first - entry.base >= entry.bytes) {
            break; /* it ends before */
        }
        add_flag(&place, SHARED);
        any = true;
        at = entry.base - 1;
    }
    unlock();
    return any;
}

void gmt_allocmap_restore(const struct gmt_allocation *allocation)
{
    (void)insert(allocation);
}

static struct gmt_allocation look_at(const struct gmt_alloctree_cursor *place)
{
    struct gmt_alloctree_entry entry;
    gmt_alloctree_get(place, &entry);
    return allocation_of(&entry);
}

/* The caller has the lock. */
static void take_out(const struct gmt_alloctree_cursor *place, const struct gmt_allocation *removed)
{
    begin_change();
    gmt_alloctree_remove(place);
    end_change();
    if (is_host_visible(removed->kind)) {
        atomic_fetch_sub_explicit(&map.host_visible, 1, memory_order_relaxed);
    }
}

bool gmt_allocmap_remove(uint64_t base, struct gmt_allocation *removed)
{
    struct gmt_alloctree_cursor place;
    if (!lock()) {
        return false;
    }
    bool found = gmt_alloctree_seek(base, &place);
    if (found) {
        struct gmt_allocation there = look_at(&place);
        found = there.base == base;
        if (found) {
            *removed = there;
            take_out(&place, removed);
        }
    }
    unlock();
    return found;
}

/* From the highest address down; the next call goes on where this one ends. */
bool gmt_allocmap_take_from(uint16_t context, struct gmt_allocation *removed)
{
    struct gmt_alloctree_cursor place;
    bool found = false;
    if (!lock()) {
        return false;
    }
    uint64_t below = map.swept_context == context ? map.swept_from : UINT64_MAX;
    bool more = gmt_alloctree_seek(below, &place);
    map.swept_context = context;
    map.swept_from = 0;
    for (; more && !found; more = !found && gmt_alloctree_step(&place, false)) {
        struct gmt_allocation there = look_at(&place);
        found = there.context == context;
        if (found) {
            /* Others of that very address may be left. */
            map.swept_from = there.base != UINT64_MAX ? there.base + 1 : UINT64_MAX;
            *removed = there;
            take_out(&place, removed);
        }
    }
    unlock();
    return found;
}

bool gmt_allocmap_take_within(uint64_t start, uint64_t bytes, enum gmt_alloc_kind kind,
                              struct gmt_allocation *removed)
{
    struct gmt_alloctree_cursor place;
    bool found = false;
    if (!lock()) {
        return false;
    }
    bool below = start != 0 && gmt_alloctree_seek(start - 1, &place);
    bool more = below ? gmt_alloctree_step(&place, true) : gmt_alloctree_first(&place);
    for (; more && !found; more = !found && gmt_alloctree_step(&place, true)) {
        struct gmt_allocation there = look_at(&place);
        uint64_t offset = there.base - start;
        if (offset >= bytes) {
            break;
        }
        found = there.kind == kind && there.bytes <= bytes - offset;
        if (found) {
            *removed = there;
            take_out(&place, removed);
        }
    }
    unlock();
    return found;
}

bool gmt_allocmap_each(bool (*visit)(void *data, const struct gmt_allocation *allocation),
                       void *data)
{
    struct gmt_alloctree_cursor place;
    bool all = true;
    if (!lock()) {
        return false;
    }
    for (bool more = gmt_alloctree_first(&place); more && all;
         more = all && gmt_alloctree_step(&place, true)) {
        struct gmt_allocation there = look_at(&place);
        all = visit(data, &there);
    }
    unlock();
    return all;
}

static struct gmt_allocation look_up(uint64_t address)
{
    struct gmt_alloctree_cursor place;
    struct gmt_allocation found = {0};
    if (gmt_alloctree_seek(address, &place)) {
        found = look_at(&place);
        if (address - found.base >= found.bytes) {
            found.id = 0;
        }
    }
    return found;
}

/*
 * Search until a whole search saw no change. Changes are short; should the thread that makes one have
 * lost its processor, waiting for the mutex lets it go on. False: nobody knows.
 */
static bool search(uint64_t address, struct gmt_allocation *found, uint64_t *seq_out)
{
    for (unsigned tries = 0; tries < SPINS; tries++) {
        uint64_t seq = atomic_load_explicit(&map.seq, memory_order_acquire);
        if ((seq & 1) == 0) {
            *found = look_up(address);
            *seq_out = seq;
            if (atomic_load_explicit(&map.seq, memory_order_relaxed) == seq) {
                return true;
            }
        }
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    if (!lock()) {
        return false;
    }
    *found = look_up(address);
    *seq_out = atomic_load_explicit(&map.seq, memory_order_relaxed);
    unlock();
    return true;
}

/* A signal handler may fill the slot anew at any moment. */
static bool cached(unsigned slot, uint64_t address, struct gmt_allocation *found)
{
    if (cache[slot].address != address ||
        cache[slot].seq != atomic_load_explicit(&map.seq, memory_order_acquire)) {
        return false;
    }
    *found = allocation_of(&cache[slot].found);
    atomic_signal_fence(memory_order_seq_cst);
    return cache[slot].address == address;
}

bool gmt_allocmap_find(uint64_t address, struct gmt_allocation *found)
{
    if (address < atomic_load_explicit(&map.lowest, memory_order_relaxed) ||
        address >= atomic_load_explicit(&map.highest, memory_order_relaxed)) {
        return false;
    }
    unsigned slot = (unsigned)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 61) % CACHE_ENTRIES;
    if (cached(slot, address, found)) {
        return found->id != 0;
    }
    uint64_t seq;
    if (!search(address, found, &seq)) {
        return false;
    }
    cache[slot].address = 0;
    atomic_signal_fence(memory_order_seq_cst);
    cache[slot].found = entry_of(found);
    cache[slot].seq = seq;
    atomic_signal_fence(memory_order_seq_cst);
    cache[slot].address = address;
    return found->id != 0;
}

enum gmt_mem_class gmt_allocmap_class(uint64_t address, enum gmt_mem_class otherwise, uint32_t *id)
{
    struct gmt_allocation found;
    bool known = gmt_allocmap_find(address, &found);
    if (id != NULL) {
        *id = known ? found.id : 0;
    }
    if (!known) {
        return otherwise;
    }
    switch ((enum gmt_alloc_kind)found.kind) {
    case GMT_ALLOC_HOST:
    case GMT_ALLOC_REGISTERED: return GMT_MEM_PINNED;
    case GMT_ALLOC_MANAGED: return GMT_MEM_MANAGED;
    case GMT_ALLOC_ARRAY:
    case GMT_ALLOC_MIPMAP: return GMT_MEM_ARRAY;
    default: return GMT_MEM_DEVICE;
    }
}

bool gmt_allocmap_has_host_visible(void)
{
    return atomic_load_explicit(&map.host_visible, memory_order_relaxed) != 0;
}

void gmt_allocmap_reset(void)
{
    gmt_mutex_renew(&map.mutex);
    inside = false;
    gmt_alloctree_clear();
    map.swept_from = UINT64_MAX;
    atomic_store(&map.seq, (atomic_load(&map.seq) | 1) + 1);
    atomic_store(&map.last_id, 0);
    atomic_store(&map.host_visible, 0);
}

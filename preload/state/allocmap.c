/* SPDX-License-Identifier: Apache-2.0 */
/* Live allocations: a tree in the order of addresses, under a sequence lock. */
#include "preload/state/allocmap.h"

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>

#include "libtrace/record/spool.h"
#include "libtrace/threads/mutex.h"
#include "preload/session/table.h"
#include "preload/state/alloctree.h"

#define CACHE_SLOTS 512u
#define GRANULE_BITS 21u /* 2 MiB: what the allocators of frameworks take, and align to, at least */
#define UNREADABLE (UINT64_C(1) << 63) /* of a tag; the rest is context << 40 | id << 8 | kind */
#define SHARED (UINT64_C(1) << 62)
#define SPINS 1000u /* looks at a map that is being changed before waiting for it to be done */

struct gmt_allocmap_bounds gmt_allocmap_bounds = {.lowest = UINT64_MAX};

static struct {
    struct gmt_mutex mutex;
    _Atomic uint64_t seq; /* odd while being changed */
    _Atomic uint32_t last_id;
    _Atomic bool overlap; /* two allocations did once: what was found is not used any more */
    _Atomic size_t host_visible;
    /* No allocation of this context lies at that address or above. */
    uint16_t swept_context;
    uint64_t swept_from;
} map = {.mutex = GMT_MUTEX(ALLOCATIONS), .swept_from = UINT64_MAX};

/*
 * What was found, for all threads: a launch gives its kernel several pointers into few allocations, and between two
 * launches the program's own work evicts the nodes of the tree. One line of the processor's cache each. Big allocations are found by
 * the 2 MiB that an address is in, others by the address. As in alloctree.c there are no fences. Not used once allocations overlap:
 * the tree finds the one that begins last before an address.
 */
struct slot {
    _Alignas(64) _Atomic uint64_t version; /* odd while it is filled */
    _Atomic uint64_t seq;                  /* of the map, for which it holds */
    _Atomic uint64_t base, bytes, tag;
};
static gmt_table_pointer cache;

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
    if (allocation->base <
        atomic_load_explicit(&gmt_allocmap_bounds.lowest, memory_order_relaxed)) {
        atomic_store_explicit(&gmt_allocmap_bounds.lowest, allocation->base, memory_order_relaxed);
    }
    if (end > atomic_load_explicit(&gmt_allocmap_bounds.highest, memory_order_relaxed)) {
        atomic_store_explicit(&gmt_allocmap_bounds.highest, end, memory_order_relaxed);
    }
}

/* Arrays have handles in the host's heap, which may be page-locked, and a free may be missed. The caller has the lock. */
static bool overlaps(const struct gmt_alloctree_entry *entry)
{
    struct gmt_alloctree_cursor place;
    struct gmt_alloctree_entry other;
    if (!gmt_alloctree_seek(entry->base + (entry->bytes != 0 ? entry->bytes - 1 : 0), &place)) {
        return false;
    }
    gmt_alloctree_get(&place, &other);
    bool begins_within = other.base >= entry->base && other.bytes != 0 && entry->bytes != 0;
    return begins_within || (other.base < entry->base && entry->base - other.base < other.bytes);
}

static bool insert(const struct gmt_allocation *allocation)
{
    struct gmt_alloctree_entry entry = entry_of(allocation);
    if (allocation->base == 0) {
        return true; /* a call that gave nothing */
    }
    if (!lock()) {
        return false;
    }
    bool room = gmt_alloctree_reserve();
    if (room) {
        (void)gmt_table_need(&cache, CACHE_SLOTS * sizeof(struct slot));
        if (overlaps(&entry)) {
            atomic_store_explicit(&map.overlap, true, memory_order_relaxed);
        }
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

static size_t slot_of(uint64_t key)
{
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 55);
}
static_assert(CACHE_SLOTS == 1u << (64 - 55), "the number of a slot has nine bits");

/* Does it hold the allocation that has `address`? */
static bool is_in(const struct slot *slot, uint64_t address, uint64_t seq,
                  struct gmt_alloctree_entry *entry)
{
    uint64_t version = atomic_load_explicit(&slot->version, memory_order_acquire);
    uint64_t of_seq = atomic_load_explicit(&slot->seq, memory_order_acquire);
    entry->base = atomic_load_explicit(&slot->base, memory_order_acquire);
    entry->bytes = atomic_load_explicit(&slot->bytes, memory_order_acquire);
    entry->tag = atomic_load_explicit(&slot->tag, memory_order_acquire);
    return address - entry->base < entry->bytes && of_seq == seq && (version & 1) == 0 &&
           atomic_load_explicit(&slot->version, memory_order_relaxed) == version;
}

/* Whoever fills it already goes on. That may be what a signal handler interrupted. */
static void fill(struct slot *slot, uint64_t seq, const struct gmt_alloctree_entry *entry)
{
    uint64_t version = atomic_load_explicit(&slot->version, memory_order_relaxed);
    if ((version & 1) != 0 ||
        !atomic_compare_exchange_strong(&slot->version, &version, version + 1)) {
        return;
    }
    atomic_store_explicit(&slot->seq, seq, memory_order_release);
    atomic_store_explicit(&slot->base, entry->base, memory_order_release);
    atomic_store_explicit(&slot->bytes, entry->bytes, memory_order_release);
    atomic_store_explicit(&slot->tag, entry->tag, memory_order_release);
    atomic_store_explicit(&slot->version, version + 2, memory_order_release);
}

bool gmt_allocmap_find(uint64_t address, struct gmt_allocation *found)
{
    if (!gmt_allocmap_may_hold(address)) {
        return false;
    }
    size_t of_granule = slot_of(address >> GRANULE_BITS), of_address = slot_of(address);
    struct slot *slots = gmt_table(&cache);
    uint64_t seq = atomic_load_explicit(&map.seq, memory_order_acquire);
    struct gmt_alloctree_entry entry;
    bool caches = slots != NULL && !atomic_load_explicit(&map.overlap, memory_order_relaxed);
    if (caches && (is_in(&slots[of_granule], address, seq, &entry) ||
                   is_in(&slots[of_address], address, seq, &entry))) {
        *found = allocation_of(&entry);
        return true;
    }
    if (!search(address, found, &seq)) {
        return false;
    }
    if (found->id != 0 && caches) {
        entry = entry_of(found);
        bool is_big = found->bytes >> GRANULE_BITS != 0;
        fill(&slots[is_big ? of_granule : of_address], seq, &entry);
    }
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
    struct slot *slots = gmt_table(&cache);
    for (unsigned i = 0; slots != NULL && i < CACHE_SLOTS; i++) {
        /* Another thread may have been filling it. */
        atomic_store(&slots[i].version, (atomic_load(&slots[i].version) | 1) + 1);
    }
    map.swept_from = UINT64_MAX;
    atomic_store(&map.seq, (atomic_load(&map.seq) | 1) + 1);
    atomic_store(&map.last_id, 0);
    atomic_store(&map.overlap, false);
    atomic_store(&map.host_visible, 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A sorted array of live allocations under a sequence lock. */
#include "preload/allocmap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#include "libtrace/record/spool.h"

#define CAPACITY ((size_t)1 << 20) /* 40 MiB of address space, used as it fills */
#define CACHE_ENTRIES 16u
#define UNREADABLE (UINT64_C(1) << 63)

/* Readers may look while a writer moves entries: every field is a relaxed atomic, and a changed
 * sequence number makes the reader try again. */
struct entry {
    _Atomic uint64_t base;
    _Atomic uint64_t bytes;
    _Atomic uint64_t id_kind; /* UNREADABLE | context << 40 | id << 8 | kind */
};

static struct {
    pthread_mutex_t mutex;
    struct entry *entries;
    _Atomic size_t count;
    _Atomic uint64_t seq; /* odd while being changed */
    _Atomic uint32_t last_id;
    _Atomic uint64_t lowest, highest; /* bounds of all addresses ever known: a cheap first test */
    _Atomic size_t host_visible;
} map = {.mutex = PTHREAD_MUTEX_INITIALIZER, .lowest = UINT64_MAX};

/* Programs use the same few pointers again and again. Valid while `seq` stands still. */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
    uint64_t address;
    uint64_t seq;
    struct gmt_allocation found;
} cache[CACHE_ENTRIES];

static bool is_host_visible(uint8_t kind)
{
    return kind == GMT_ALLOC_HOST || kind == GMT_ALLOC_REGISTERED || kind == GMT_ALLOC_MANAGED;
}

static void copy_entry(struct entry *to, const struct entry *from)
{
    atomic_store_explicit(&to->base, atomic_load_explicit(&from->base, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(&to->bytes, atomic_load_explicit(&from->bytes, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(&to->id_kind, atomic_load_explicit(&from->id_kind, memory_order_relaxed),
                          memory_order_relaxed);
}

/* Index of the last entry whose base is <= address, or -1. */
static ptrdiff_t last_not_above(uint64_t address, size_t count)
{
    ptrdiff_t low = -1;
    ptrdiff_t high = (ptrdiff_t)count;
    while (high - low > 1) {
        ptrdiff_t middle = low + (high - low) / 2;
        if (atomic_load_explicit(&map.entries[middle].base, memory_order_relaxed) <= address) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static void begin_change(void)
{
    pthread_mutex_lock(&map.mutex);
    uint64_t seq = atomic_load_explicit(&map.seq, memory_order_relaxed);
    atomic_store_explicit(&map.seq, seq + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
}

static void end_change(void)
{
    uint64_t seq = atomic_load_explicit(&map.seq, memory_order_relaxed);
    atomic_store_explicit(&map.seq, seq + 1, memory_order_release);
    pthread_mutex_unlock(&map.mutex);
}

static bool insert(const struct gmt_allocation *allocation)
{
    bool done = false;
    begin_change();
    if (map.entries == NULL) {
        void *memory = mmap(NULL, CAPACITY * sizeof(struct entry), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        map.entries = memory != MAP_FAILED ? memory : NULL;
    }
    size_t count = atomic_load_explicit(&map.count, memory_order_relaxed);
    if (map.entries != NULL && count < CAPACITY) {
        size_t at = (size_t)(last_not_above(allocation->base, count) + 1);
        for (size_t i = count; i > at; i--) {
            copy_entry(&map.entries[i], &map.entries[i - 1]);
        }
        struct entry *entry = &map.entries[at];
        atomic_store_explicit(&entry->base, allocation->base, memory_order_relaxed);
        atomic_store_explicit(&entry->bytes, allocation->bytes, memory_order_relaxed);
        atomic_store_explicit(&entry->id_kind,
                              (allocation->unreadable ? UNREADABLE : 0) |
                                  (uint64_t)allocation->context << 40 |
                                  (uint64_t)allocation->id << 8 | allocation->kind,
                              memory_order_relaxed);
        atomic_store_explicit(&map.count, count + 1, memory_order_relaxed);
        uint64_t end = allocation->base + allocation->bytes;
        if (allocation->base < atomic_load_explicit(&map.lowest, memory_order_relaxed)) {
            atomic_store_explicit(&map.lowest, allocation->base, memory_order_relaxed);
        }
        if (end > atomic_load_explicit(&map.highest, memory_order_relaxed)) {
            atomic_store_explicit(&map.highest, end, memory_order_relaxed);
        }
        done = true;
    }
    end_change();
    if (done && is_host_visible(allocation->kind)) {
        atomic_fetch_add_explicit(&map.host_visible, 1, memory_order_relaxed);
    }
    return done;
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

void gmt_allocmap_set_unreadable(uint64_t base)
{
    begin_change();
    ptrdiff_t at = last_not_above(base, atomic_load_explicit(&map.count, memory_order_relaxed));
    if (at >= 0 && map.entries[at].base == base) {
        map.entries[at].id_kind |= UNREADABLE;
    }
    end_change();
}

void gmt_allocmap_restore(const struct gmt_allocation *allocation)
{
    (void)insert(allocation);
}

/* Take out entry `at`; the caller is changing the map. */
static void take_out(size_t at, struct gmt_allocation *removed)
{
    size_t count = atomic_load_explicit(&map.count, memory_order_relaxed);
    uint64_t id_kind = map.entries[at].id_kind;
    *removed = (struct gmt_allocation){.base = map.entries[at].base,
                                       .bytes = map.entries[at].bytes,
                                       .id = (uint32_t)(id_kind >> 8),
                                       .kind = (uint8_t)id_kind,
                                       .context = (uint16_t)(id_kind >> 40),
                                       .unreadable = (id_kind & UNREADABLE) != 0};
    for (size_t i = at; i + 1 < count; i++) {
        copy_entry(&map.entries[i], &map.entries[i + 1]);
    }
    atomic_store_explicit(&map.count, count - 1, memory_order_relaxed);
    if (is_host_visible(removed->kind)) {
        atomic_fetch_sub_explicit(&map.host_visible, 1, memory_order_relaxed);
    }
}

bool gmt_allocmap_remove(uint64_t base, struct gmt_allocation *removed)
{
    begin_change();
    ptrdiff_t at = last_not_above(base, atomic_load_explicit(&map.count, memory_order_relaxed));
    bool found = at >= 0 && map.entries[at].base == base;
    if (found) {
        take_out((size_t)at, removed);
    }
    end_change();
    return found;
}

bool gmt_allocmap_take_from(uint16_t context, struct gmt_allocation *removed)
{
    bool found = false;
    begin_change();
    size_t count = atomic_load_explicit(&map.count, memory_order_relaxed);
    for (size_t i = count; i-- > 0 && !found;) {
        found = (uint16_t)(map.entries[i].id_kind >> 40) == context;
        if (found) {
            take_out(i, removed);
        }
    }
    end_change();
    return found;
}

bool gmt_allocmap_take_within(uint64_t start, uint64_t bytes, enum gmt_alloc_kind kind,
                              struct gmt_allocation *removed)
{
    bool found = false;
    begin_change();
    size_t count = atomic_load_explicit(&map.count, memory_order_relaxed);
    ptrdiff_t below = start != 0 ? last_not_above(start - 1, count) : -1;
    for (size_t i = (size_t)(below + 1); i < count && !found; i++) {
        uint64_t offset = map.entries[i].base - start;
        if (offset >= bytes) {
            break;
        }
        found = (uint8_t)map.entries[i].id_kind == kind && map.entries[i].bytes <= bytes - offset;
        if (found) {
            take_out(i, removed);
        }
    }
    end_change();
    return found;
}

/* Search until a whole search saw no change. Writers are short; readers never wait for long. */
static struct gmt_allocation search(uint64_t address, uint64_t *seq_out)
{
    for (;;) {
        struct gmt_allocation found = {0};
        uint64_t seq = atomic_load_explicit(&map.seq, memory_order_acquire);
        if ((seq & 1) != 0) {
            __builtin_ia32_pause();
            continue;
        }
        ptrdiff_t at = last_not_above(address,
                                      atomic_load_explicit(&map.count, memory_order_relaxed));
        if (at >= 0) {
            const struct entry *entry = &map.entries[at];
            found.base = atomic_load_explicit(&entry->base, memory_order_relaxed);
            found.bytes = atomic_load_explicit(&entry->bytes, memory_order_relaxed);
            uint64_t id_kind = atomic_load_explicit(&entry->id_kind, memory_order_relaxed);
            found.id = (uint32_t)(id_kind >> 8);
            found.kind = (uint8_t)id_kind;
            found.unreadable = (id_kind & UNREADABLE) != 0;
        }
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&map.seq, memory_order_relaxed) == seq) {
            if (found.id != 0 && address - found.base >= found.bytes) {
                found.id = 0;
            }
            *seq_out = seq;
            return found;
        }
    }
}

bool gmt_allocmap_find(uint64_t address, struct gmt_allocation *found)
{
    if (address < atomic_load_explicit(&map.lowest, memory_order_relaxed) ||
        address >= atomic_load_explicit(&map.highest, memory_order_relaxed)) {
        return false;
    }
    unsigned slot = (unsigned)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 60) % CACHE_ENTRIES;
    if (cache[slot].address != address ||
        cache[slot].seq != atomic_load_explicit(&map.seq, memory_order_acquire)) {
        cache[slot].found = search(address, &cache[slot].seq);
        cache[slot].address = address;
    }
    *found = cache[slot].found;
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
    pthread_mutex_init(&map.mutex, NULL);
    atomic_store(&map.count, 0);
    atomic_store(&map.seq, (atomic_load(&map.seq) | 1) + 1);
    atomic_store(&map.last_id, 0);
    atomic_store(&map.host_visible, 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Interns the stacks of calls: a walk by what is known, and the slow way for what is new. */
#include "preload/unwind/stack.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "libtrace/record/spool.h"
#include "libtrace/threads/mutex.h"
#include "preload/overhead/overhead.h"
#include "preload/python/interpreter.h"
#include "preload/session/options.h"
#include "preload/session/table.h"
#include "preload/unwind/chains.h"
#include "preload/unwind/objects.h"
#include "preload/unwind/pages.h"
#include "preload/unwind/places.h"
#include "preload/unwind/rows.h"
#include "preload/unwind/walk.h"

#define INTERN_SLOTS 65536u /* a power of two; half of them are used */
#define MERGED_MOST \
    (INTERN_SLOTS / 8 * 3) /* with Python's lines; what is left is for native stacks */
#define MERGED_WORDS (GMT_STACK_FRAMES + GMT_PYTHON_FRAMES)
#define LOADER_CHECK_CALLS 256u /* of one thread: looks for unloaded objects this often */

static _Thread_local __attribute__((tls_model("initial-exec"))) uintptr_t stack_low, stack_high;
static _Thread_local __attribute__((tls_model("initial-exec"))) unsigned calls_since_check;

/* hash -> id; written under `mutex`, read without. */
struct interned {
    _Atomic uint64_t hash;
    _Atomic uint32_t id;
};
static gmt_table_pointer interned; /* to INTERN_SLOTS of them */
#define INTERNED_BYTES (INTERN_SLOTS * sizeof(struct interned))
static _Atomic uint32_t interned_count;
static bool cut_said;
static struct gmt_mutex mutex = GMT_MUTEX(STACKS);

void gmt_stack_note_thread(void)
{
    pthread_attr_t attributes;
    int saved_errno = errno;
    void *base = NULL;
    size_t bytes = 0;
    stack_low = 1; /* tried; an empty range if it fails */
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &base, &bytes) == 0) {
            stack_low = (uintptr_t)base;
            stack_high = (uintptr_t)base + bytes;
        }
        pthread_attr_destroy(&attributes);
    }
    errno = saved_errno;
}

bool gmt_stack_is_own(const void *address)
{
    return (uintptr_t)address >= stack_low && (uintptr_t)address < stack_high;
}

static void make_present(gmt_table_pointer *table, size_t bytes)
{
    void *there = gmt_table_need(table, bytes);
    if (there != NULL) {
        gmt_pages_populate(there, bytes);
    }
}

void gmt_stack_start(void)
{
    if (gmt_options.stacks != GMT_STACKS_OFF) {
        make_present(&interned, INTERNED_BYTES);
        make_present(&gmt_rows, GMT_ROWS_BYTES);
        gmt_chains_populate();
    }
    gmt_mutex_lock(&mutex);
    gmt_objects_note();
    gmt_mutex_unlock(&mutex);
}

static uint64_t hash_of(const struct gmt_walk *walk)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ walk->mark ^ walk->salt;
    for (uint32_t i = 0; i < walk->depth; i++) {
        hash = (hash ^ walk->address[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash | 1; /* 0 marks a free slot */
}

/* Whoever reads a stack of GMT_STACK_FRAMES frames shall know that it may have had more. No gap: places are
 * identified by the innermost ones. */
static void say_cut(void)
{
    char detail[128];
    if (!cut_said) {
        cut_said = true;
        (void)snprintf(detail, sizeof(detail),
                       "of stacks with more than %u callers the outermost are not kept",
                       GMT_STACK_FRAMES);
        gmt_spool_capability("stacks", GMT_CAP_OK, 0, detail, "");
    }
}

/* With Python's functions in place of the native frames that run them. Caller holds `mutex`. */
static uint32_t merge(const struct gmt_walk *walk, uint64_t words[static MERGED_WORDS])
{
    if (walk->salt == 0 || walk->bottom == NULL) {
        return 0;
    }
    return gmt_python_merge(
        &(struct gmt_python_native){.address = walk->address,
                                    .bottom = walk->bottom,
                                    .depth = walk->depth,
                                    .is_complete = walk->end == GMT_WALK_COMPLETE},
        words);
}

/* Caller holds `mutex`. */
static uint32_t add_chain(const struct gmt_walk *walk, uint64_t hash, unsigned slot)
{
    struct interned *table = gmt_table_need(&interned, INTERNED_BYTES);
    if (table == NULL) {
        return 0;
    }
    static uint64_t merged[MERGED_WORDS];
    uint32_t id = interned_count + 1, depth = merge(walk, merged);
    const uint64_t *words = depth != 0 ? merged : walk->address;
    struct gmt_stack stack = {.id = id, .depth = depth != 0 ? depth : walk->depth};
    if (gmt_spool_side_data(GMT_REC_STACK, &stack, sizeof(stack), words,
                            stack.depth * sizeof(words[0])) != 0) {
        return 0;
    }
    if (walk->end == GMT_WALK_CUT) {
        say_cut();
    }
    interned_count = id;
    if (id == INTERN_SLOTS / 2) {
        gmt_spool_loss("stack not kept", "more different stacks than the table holds", 1);
    }
    if (id == MERGED_MOST && walk->salt != 0) {
        gmt_spool_loss("lines of Python not kept", "more different stacks than the table holds", 1);
    }
    atomic_store_explicit(&table[slot].id, id, memory_order_relaxed);
    atomic_store_explicit(&table[slot].hash, hash, memory_order_release);
    return id;
}

/* The id of a chain that has been seen, or 0 and the slot where it belongs. */
static uint32_t find(uint64_t hash, unsigned *slot)
{
    struct interned *table = gmt_table(&interned);
    if (table == NULL) {
        *slot = (unsigned)(hash >> 40) % INTERN_SLOTS;
        return 0;
    }
    for (*slot = (unsigned)(hash >> 40) % INTERN_SLOTS;; *slot = (*slot + 1) % INTERN_SLOTS) {
        uint64_t seen = atomic_load_explicit(&table[*slot].hash, memory_order_acquire);
        if (seen == hash) {
            return atomic_load_explicit(&table[*slot].id, memory_order_relaxed);
        }
        if (seen == 0) {
            return 0;
        }
    }
}

/* The same; a stack that is new when there are many is kept without Python's lines: its salt is taken away. */
static uint32_t find_or_reduce(struct gmt_walk *walk, uint64_t *hash, unsigned *slot)
{
    *hash = hash_of(walk);
    uint32_t id = find(*hash, slot);
    if (id == 0 && walk->salt != 0 && interned_count >= MERGED_MOST) {
        walk->salt = 0;
        *hash = hash_of(walk);
        id = find(*hash, slot);
    }
    return id;
}

static void walk_held(void *walk)
{
    struct gmt_walk *held = walk;
    held->mark = gmt_objects_mark();
    gmt_walk_finding(held, gmt_objects_row);
}

/* The slow way: everything is looked up that the table of rows does not have. */
static uint32_t intern(struct gmt_walk *walk)
{
    static uintptr_t bottom[GMT_WALK_BOTTOMS];
    unsigned slot;
    uint32_t id = 0;
    gmt_python_look(gmt_objects_loads());
    gmt_mutex_lock(&mutex);
    walk->bottom = bottom;
    if (!gmt_objects_hold(walk_held, walk)) {
        walk->bottom = NULL;
        gmt_walk_known(walk); /* it ends early: at least the caller is there */
    }
    if (walk->salt == 0 && walk->low != UINTPTR_MAX && gmt_stack_is_own(walk->frame)) {
        walk->salt = gmt_python_here();
    }
    uint64_t hash = 0;
    if (walk->depth != 0) {
        id = find_or_reduce(walk, &hash, &slot);
    }
    if (id == 0 && walk->depth != 0 && interned_count < INTERN_SLOTS / 2) {
        id = add_chain(walk, hash, slot);
    }
    gmt_mutex_unlock(&mutex);
    return id;
}

uint32_t gmt_stack_here(const void *frame, uint64_t hint)
{
    uint64_t hash;
    unsigned slot;
    if (gmt_options.stacks == GMT_STACKS_OFF || frame == NULL) {
        return 0;
    }
    if (__builtin_expect(stack_low == 0, 0)) {
        gmt_stack_note_thread();
    }
    struct gmt_walk walk;
    /* Without a stack to walk the chain is the hook's return address alone. */
    walk.low = gmt_options.stacks == GMT_STACKS_FULL ? stack_low : UINTPTR_MAX;
    walk.high = stack_high;
    walk.frame = frame;
    walk.mark = gmt_objects_mark();
    walk.bottom = NULL;
    walk.hint = hint;
    walk.salt = gmt_stack_is_own(frame) && walk.low != UINTPTR_MAX ? gmt_python_here() : 0;
    if (__builtin_expect(++calls_since_check < LOADER_CHECK_CALLS, 1)) {
        uint32_t same = gmt_chains_find(&walk);
        if (__builtin_expect(same != 0, 1)) {
            return same;
        }
        gmt_overhead_stack_walked();
        gmt_walk_known(&walk);
        bool is_whole = walk.end != GMT_WALK_MISSED;
        uint32_t id = is_whole ? find_or_reduce(&walk, &hash, &slot) : 0;
        if (id != 0) {
            gmt_chains_put(&walk, id);
            return id;
        }
        /* When the table is full, unseen chains stay unnamed at the price of a search, not of a
         * lock. */
        if (is_whole && interned_count >= INTERN_SLOTS / 2) {
            return 0;
        }
    }
    calls_since_check = 0;
    int saved_errno = errno;
    uint32_t id = intern(&walk);
    errno = saved_errno;
    return id;
}

void gmt_stack_reset(void)
{
    gmt_mutex_renew(&mutex);
    if (gmt_table(&interned) != NULL) {
        memset(gmt_table(&interned), 0, INTERNED_BYTES);
    }
    interned_count = 0;
    cut_said = false;
    gmt_chains_reset();
    gmt_places_reset();
    gmt_objects_reset();
    gmt_python_reset();
}

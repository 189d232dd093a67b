/* SPDX-License-Identifier: Apache-2.0 */
/* The table of walked stacks: pairs of entries, each under a sequence lock of its own. */
#include "preload/unwind/chains.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "preload/session/table.h"
#include "preload/unwind/pages.h"

#define SETS 512u /* a power of two */
#define WAYS 2u   /* two ways to one place, in turn, need not drive each other out */

struct chain_entry {
    _Atomic uint32_t sequence; /* odd: being written */
    _Atomic uint32_t number;   /* 0: empty */
    _Atomic uint64_t frame, high, pc, bp, mark;
    _Atomic uint32_t count;
    _Atomic uint32_t offset[GMT_WALK_WORDS]; /* from the frame, in words */
    _Atomic uint64_t value[GMT_WALK_WORDS];
};
static gmt_table_pointer entries; /* struct chain_entry [SETS][WAYS] */
#define ENTRIES_BYTES (SETS * WAYS * sizeof(struct chain_entry))
static _Atomic uint8_t oldest[SETS];
static _Atomic uint64_t epoch;

#define GET(member) atomic_load_explicit(&(member), memory_order_relaxed)
#define SET(member, to) atomic_store_explicit(&(member), (to), memory_order_relaxed)

/* What a walk starts with. */
struct start {
    uint64_t frame, high, pc, bp, mark;
    unsigned set;
};

static inline struct start start_of(const struct gmt_walk *walk)
{
    const uintptr_t *frame = walk->frame;
    struct start start = {.frame = (uintptr_t)frame,
                          .pc = frame[1],
                          .bp = frame[0],
                          .mark = walk->mark ^ GET(epoch) ^ walk->salt};
    uint64_t hash = (start.frame ^ start.pc << 20 ^ start.bp >> 3 ^ walk->salt) *
                    UINT64_C(0x9e3779b97f4a7c15);
    start.set = (unsigned)(hash >> 40) % SETS;
    return start;
}

/* The whole stack is read, redzones of sanitizers among it. */
__attribute__((no_sanitize("address"))) static inline uint64_t word_of(uint64_t frame,
                                                                       uint32_t offset)
{
    return ((const uint64_t *)frame)[offset]; // NOLINT(performance-no-int-to-ptr)
}

static inline bool is_same(struct chain_entry *entry, const struct start *start)
{
    uint64_t differ = (GET(entry->frame) ^ start->frame) | (GET(entry->high) ^ start->high) |
                      (GET(entry->pc) ^ start->pc) | (GET(entry->bp) ^ start->bp) |
                      (GET(entry->mark) ^ start->mark);
    uint32_t count = GET(entry->count);
    if (differ != 0 || count > GMT_WALK_WORDS) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t offset = GET(entry->offset[i]);
        if (offset >= (start->high - start->frame) / 8) { /* the entry is being written */
            return false;
        }
        differ |= word_of(start->frame, offset) ^ GET(entry->value[i]);
    }
    return differ == 0;
}

uint32_t gmt_chains_find(const struct gmt_walk *walk)
{
    struct start start = start_of(walk);
    if (start.frame < walk->low || start.frame >= walk->high) {
        return 0;
    }
    struct chain_entry(*sets)[WAYS] = gmt_table(&entries);
    for (unsigned way = 0; way < WAYS && sets != NULL; way++) {
        struct chain_entry *entry = &sets[start.set][way];
        uint32_t sequence = atomic_load_explicit(&entry->sequence, memory_order_acquire);
        uint32_t number = GET(entry->number);
        if (number == 0 || (sequence & 1) != 0 || !is_same(entry, &start)) {
            continue;
        }
        atomic_thread_fence(memory_order_acquire);
        if (GET(entry->sequence) == sequence) {
            return number;
        }
    }
    return 0;
}

static void fill(struct chain_entry *entry, const struct start *start, const struct gmt_walk *walk,
                 uint32_t number)
{
    SET(entry->number, number);
    SET(entry->frame, start->frame);
    SET(entry->high, start->high);
    SET(entry->pc, start->pc);
    SET(entry->bp, start->bp);
    SET(entry->mark, start->mark);
    SET(entry->count, walk->words);
    for (uint32_t i = 0; i < walk->words; i++) {
        SET(entry->offset[i], (uint32_t)((walk->word[i].address - start->frame) / 8));
        SET(entry->value[i], walk->word[i].value);
    }
}

void gmt_chains_put(const struct gmt_walk *walk, uint32_t number)
{
    struct start start = start_of(walk);
    uint8_t way = GET(oldest[start.set]);
    struct chain_entry(*sets)[WAYS] = gmt_table_need(&entries, ENTRIES_BYTES);
    if (sets == NULL) {
        return;
    }
    struct chain_entry *entry = &sets[start.set][way % WAYS];
    uint32_t sequence = GET(entry->sequence);
    if (walk->words > GMT_WALK_WORDS || (walk->high - start.frame) / 8 > UINT32_MAX ||
        start.frame < walk->low || start.frame >= walk->high || (sequence & 1) != 0 ||
        !atomic_compare_exchange_strong(&entry->sequence, &sequence, sequence + 1)) {
        return;
    }
    atomic_thread_fence(memory_order_release);
    fill(entry, &start, walk, number);
    atomic_store_explicit(&entry->sequence, sequence + 2, memory_order_release);
    SET(oldest[start.set], (uint8_t)((way + 1) % WAYS));
}

void gmt_chains_populate(void)
{
    void *sets = gmt_table_need(&entries, ENTRIES_BYTES);
    if (sets != NULL) {
        gmt_pages_populate(sets, ENTRIES_BYTES);
    }
}

void gmt_chains_reset(void)
{
    atomic_store(&epoch, (GET(epoch) + 1) * UINT64_C(0xd1342543de82ef95));
}

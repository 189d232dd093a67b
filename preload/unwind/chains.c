/* SPDX-License-Identifier: Apache-2.0 */
/* The table of walked stacks: sets of entries, each under a sequence lock of its own. */
#include "preload/unwind/chains.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "preload/session/table.h"
#include "preload/unwind/pages.h"

/* A step of a training loop has some thousand different stacks. */
#define SETS 1024u /* a power of two */
#define WAYS 4u    /* several ways to one place, in turn, need not drive each other out */
#define MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)

struct chain_entry {
    _Alignas(64) _Atomic uint32_t sequence; /* odd: being written */
    _Atomic uint32_t number;                /* 0: empty */
    _Atomic uint64_t frame, high, pc, mark;
    _Atomic uint64_t hash;                   /* of the words */
    _Atomic uint32_t count;                  /* of them */
    _Atomic uint16_t offset[GMT_WALK_WORDS]; /* from the frame, in words */
};
static_assert(GMT_WALK_WORDS % 2 == 0, "words are hashed by pairs");
static gmt_table_pointer entries; /* struct chain_entry [SETS][WAYS] */
#define ENTRIES_BYTES (SETS * WAYS * sizeof(struct chain_entry))
static _Atomic uint32_t replaced;
static _Atomic uint64_t epoch;

#define GET(member) atomic_load_explicit(&(member), memory_order_relaxed)
#define SET(member, to) atomic_store_explicit(&(member), (to), memory_order_relaxed)

/* What a walk starts with. */
struct start {
    uint64_t frame, high, pc, mark;
    unsigned set;
};

/* The register of the frame pointer is none of it: code without frame pointers has anything in it. Where a walk depends on
 * it, it is one of the words. */
static inline struct start start_of(const struct gmt_walk *walk)
{
    const uintptr_t *frame = walk->frame;
    struct start start = {.frame = (uintptr_t)frame,
                          .high = walk->high,
                          .pc = frame[1],
                          .mark = walk->mark ^ GET(epoch) ^ walk->salt};
    uint64_t hash = (start.frame ^ start.pc << 20 ^ walk->salt ^ walk->hint * MULTIPLIER) *
                    MULTIPLIER;
    start.set = (unsigned)(hash >> 40) % SETS;
    return start;
}

/* The whole stack is read, redzones of sanitizers among it. */
__attribute__((no_sanitize("address"))) static inline uint64_t word_of(uint64_t frame,
                                                                       uint32_t offset)
{
    return ((const uint64_t *)frame)[offset]; // NOLINT(performance-no-int-to-ptr)
}

/* Of the words that the entry lists, by pairs, the last one with what `fill` puts behind it; false where one would lie outside of the stack: the entry is being written.
 * Products do not wait for one another, as in hashes that multiply their words in turn. */
static inline bool hash_words(struct chain_entry *entry, const struct start *start, uint32_t count,
                              uint64_t *hash)
{
    uint64_t limit = (start->high - start->frame) / 8, sum = count, key = MULTIPLIER;
    for (uint32_t i = 0; i < count; i += 2, key += MULTIPLIER) {
        uint32_t first = GET(entry->offset[i]);
        uint32_t second = GET(entry->offset[i + 1]);
        if (first >= limit || second >= limit) {
            return false;
        }
        unsigned __int128 product = (unsigned __int128)(word_of(start->frame, first) ^ key) *
                                    (word_of(start->frame, second) ^ (key << 32 | key >> 32));
        sum += (uint64_t)product ^ (uint64_t)(product >> 64);
    }
    *hash = sum;
    return true;
}

static inline bool is_same(struct chain_entry *entry, const struct start *start)
{
    uint64_t differ = (GET(entry->frame) ^ start->frame) | (GET(entry->high) ^ start->high) |
                      (GET(entry->pc) ^ start->pc) | (GET(entry->mark) ^ start->mark);
    uint32_t count = GET(entry->count);
    uint64_t hash;
    return differ == 0 && count <= GMT_WALK_WORDS && hash_words(entry, start, count, &hash) &&
           hash == GET(entry->hash);
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

/* Are all words within what an offset can say? */
static bool fits(const struct gmt_walk *walk, const struct start *start)
{
    bool fit = walk->words <= GMT_WALK_WORDS && start->frame >= walk->low &&
               start->frame < walk->high;
    for (uint32_t i = 0; fit && i < walk->words; i++) {
        fit = (walk->word[i].address - start->frame) / 8 <= UINT16_MAX;
    }
    return fit;
}

/* The thread's own stack holds what the walk read. */
static void fill(struct chain_entry *entry, const struct start *start, const struct gmt_walk *walk,
                 uint32_t number)
{
    uint64_t hash = 0;
    SET(entry->number, number);
    SET(entry->frame, start->frame);
    SET(entry->high, start->high);
    SET(entry->pc, start->pc);
    SET(entry->mark, start->mark);
    SET(entry->count, walk->words);
    for (uint32_t i = 0; i < walk->words; i++) {
        SET(entry->offset[i], (uint16_t)((walk->word[i].address - start->frame) / 8));
    }
    if (walk->words % 2 != 0) {
        SET(entry->offset[walk->words], 1); /* the return address, which is the same anyhow */
    }
    (void)hash_words(entry, start, walk->words, &hash);
    SET(entry->hash, hash);
}

/* An empty one, else any: with more stacks in turn than a set has room for, each would drive out the one that is next if the
 * oldest had to go. */
static struct chain_entry *to_replace(struct chain_entry set[WAYS])
{
    for (unsigned way = 0; way < WAYS; way++) {
        if (GET(set[way].number) == 0 && GET(set[way].sequence) == 0) {
            return &set[way];
        }
    }
    uint32_t turn = atomic_fetch_add_explicit(&replaced, 1, memory_order_relaxed);
    return &set[(turn * MULTIPLIER >> 40) % WAYS];
}

void gmt_chains_put(const struct gmt_walk *walk, uint32_t number)
{
    struct start start = start_of(walk);
    struct chain_entry(*sets)[WAYS] = gmt_table_need(&entries, ENTRIES_BYTES);
    if (sets == NULL || !fits(walk, &start)) {
        return;
    }
    struct chain_entry *entry = to_replace(sets[start.set]);
    uint32_t sequence = GET(entry->sequence);
    if ((sequence & 1) != 0 ||
        !atomic_compare_exchange_strong(&entry->sequence, &sequence, sequence + 1)) {
        return;
    }
    atomic_thread_fence(memory_order_release);
    fill(entry, &start, walk, number);
    atomic_store_explicit(&entry->sequence, sequence + 2, memory_order_release);
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

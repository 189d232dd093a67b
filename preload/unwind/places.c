/* SPDX-License-Identifier: Apache-2.0 */
/* The table of places (places.h): one word for what a place is and its stack, so that they are read as one. */
#include "preload/unwind/places.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "preload/overhead/overhead.h"
#include "preload/session/table.h"

#define PLACES 8192u /* a power of two */
#define WAYS 4u      /* slots that a place may have: a line of the cache */
#define FIRST_CALLS \
    8u /* of a place: all are read; then one in 1 + seen / FIRST_CALLS, up to what is asked for */
#define WITHOUT_PYTHON 64u /* windows, of PLACES calls each; then it is tried again in one */

/* Threads that share a slot may disturb each other's distances; a stack is never another place's, but for equal hashes of
 * 32 bits and of the slot. */
struct place_slot {
    _Atomic uint64_t tag_and_stack;
    _Atomic uint32_t left; /* calls that still take it */
    _Atomic uint32_t seen; /* calls of the place */
};
static gmt_table_pointer slots; /* struct place_slot [PLACES] */
#define SLOTS_BYTES (PLACES * sizeof(struct place_slot))

/* Whether places come back often enough for a part of their first calls only to be read. */
static struct {
    _Atomic uint32_t calls,
        new_places; /* of this window; those that took a stack count when it was put */
    _Atomic uint32_t left_without; /* windows in which Python is not looked at */
    _Atomic bool was_bad;          /* the window before */
} window;

#define GET(member) atomic_load_explicit(&(member), memory_order_relaxed)
#define SET(member, to) atomic_store_explicit(&(member), (to), memory_order_relaxed)

static inline uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static inline uint64_t hash_of(const struct gmt_place *place)
{
    uint64_t hash = mix(mix(place->caller, place->frame), place->outer);
    return mix(mix(mix(hash, place->kind), place->python), place->thread_and_api);
}

static inline struct place_slot *set_of(struct place_slot *table, uint64_t hash)
{
    return &table[(uint32_t)hash % (PLACES / WAYS) * WAYS];
}

/* Where it is, or belongs: in place of another one, always the same, if all are in use. */
static struct place_slot *slot_for(struct place_slot *set, uint64_t hash)
{
    struct place_slot *slot = &set[(hash >> 24) % WAYS];
    for (uint32_t i = 0; i < WAYS; i++) {
        uint64_t word = GET(set[i].tag_and_stack);
        if (word >> 32 == hash >> 32) {
            return &set[i];
        }
        slot = word == 0 ? &set[i] : slot;
    }
    return slot;
}

bool gmt_places_take(const struct gmt_place *place, uint32_t *stack)
{
    struct place_slot *table = gmt_table(&slots);
    uint64_t hash = hash_of(place);
    if (table == NULL) {
        return false;
    }
    struct place_slot *set = set_of(table, hash);
    for (uint32_t i = 0; i < WAYS; i++) {
        uint64_t word = GET(set[i].tag_and_stack);
        if (word >> 32 == hash >> 32 && (uint32_t)word != 0) {
            uint32_t left = GET(set[i].left);
            if (left == 0) {
                return false;
            }
            SET(set[i].left, left - 1);
            *stack = (uint32_t)word;
            return true;
        }
    }
    return false;
}

/* One at a time: what another thread counts meanwhile is lost, or counts in the next one. */
static void end_window(uint32_t calls)
{
    bool is_bad = GET(window.new_places) > calls / FIRST_CALLS;
    uint32_t left = GET(window.left_without);
    SET(window.new_places, 0);
    if (left != 0) {
        SET(window.left_without, left - 1);
    } else {
        /* In the first one all are new. */
        SET(window.left_without, is_bad && GET(window.was_bad) ? WITHOUT_PYTHON : 0);
        SET(window.was_bad, is_bad);
    }
}

static void count(uint32_t calls, bool is_new)
{
    if (is_new) {
        (void)atomic_fetch_add_explicit(&window.new_places, 1, memory_order_relaxed);
    }
    calls += atomic_fetch_add_explicit(&window.calls, calls, memory_order_relaxed);
    if (calls >= PLACES && atomic_exchange_explicit(&window.calls, 0, memory_order_relaxed) != 0) {
        end_window(calls);
    }
}

bool gmt_places_have_python(void)
{
    return GET(window.left_without) == 0;
}

uint32_t gmt_places_put(const struct gmt_place *place, uint32_t stack, uint32_t one_in)
{
    struct place_slot *table = gmt_table_need(&slots, SLOTS_BYTES);
    uint64_t hash = hash_of(place);
    if (table == NULL || stack == 0) {
        return 0;
    }
    struct place_slot *slot = slot_for(set_of(table, hash), hash);
    uint32_t seen = GET(slot->tag_and_stack) >> 32 == hash >> 32 ? GET(slot->seen) : 0;
    uint32_t mean = 1 + seen / FIRST_CALLS;
    uint32_t taken_by = gmt_overhead_distance(mean < one_in ? mean : one_in) - 1;
    SET(slot->left, 0);
    SET(slot->tag_and_stack, hash >> 32 << 32 | stack);
    SET(slot->seen, seen < UINT32_MAX / 2 ? seen + 1 + taken_by : seen);
    SET(slot->left, taken_by);
    count(1 + taken_by, seen == 0);
    return taken_by;
}

void gmt_places_reset(void)
{
    if (gmt_table(&slots) != NULL) {
        memset(gmt_table(&slots), 0, SLOTS_BYTES);
    }
    SET(window.calls, 0);
    SET(window.new_places, 0);
    SET(window.left_without, 0);
    SET(window.was_bad, false);
}

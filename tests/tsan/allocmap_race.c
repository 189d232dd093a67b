/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that change the map of live allocations and threads that look into it, for ThreadSanitizer.
 *
 * A third of the allocations stay: whoever asks for one must get exactly what it is, whatever
 * happens around it. The others come and go; one of those is there as it was made, or not at all.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "preload/state/allocmap.h"

enum { WRITERS = 3, READERS = 3, PLACES = 6000, ROUNDS = 20000, QUIET_ROUNDS = 40, CROWD = 16 };
#define START UINT64_C(0x7f0000000000)
#define SPACING UINT64_C(0x400000)
#define BIG_BYTES UINT64_C(0x300000)

static _Atomic int failures, writers_done;
static _Atomic uint64_t looks, hits;
static uint32_t stays_id[PLACES];
static uint64_t crowd[CROWD];
static unsigned crowd_count;

static uint64_t base_of(uint64_t place)
{
    return START + place * SPACING;
}

static uint64_t bytes_of(uint64_t place)
{
    return place % 10 == 3 ? BIG_BYTES : 512 + place * 8;
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void fail(const char *what, uint64_t place)
{
    fprintf(stderr, "allocmap_race: %s (place %llu)\n", what, (unsigned long long)place);
    atomic_fetch_add(&failures, 1);
}

/* Each writer has places of its own: those that leave 1 + its number when divided by 6. */
static void *come_and_go(void *argument)
{
    uint64_t writer = (uint64_t)(uintptr_t)argument, state = writer + 1;
    static bool there[PLACES];
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t place = next_random(&state) % (PLACES / 6) * 6 + 1 + writer;
        static uint32_t id[PLACES];
        struct gmt_allocation gone;
        bool known = gmt_allocmap_find(base_of(place), &gone);
        if (known != there[place] || (known && gone.id != id[place])) {
            fail("what a thread changed itself is not as it left it", place);
        }
        if (!there[place]) {
            id[place] = gmt_allocmap_insert(base_of(place), bytes_of(place), GMT_ALLOC_DEVICE, 1);
        } else if (!gmt_allocmap_remove(base_of(place), &gone) || gone.bytes != bytes_of(place)) {
            fail("an allocation was not found to be removed", place);
        }
        there[place] = !there[place];
    }
    atomic_fetch_add(&writers_done, 1);
    return NULL;
}

static void check(uint64_t place)
{
    struct gmt_allocation found;
    bool known = gmt_allocmap_find(base_of(place) + bytes_of(place) - 1, &found);
    bool stays = place % 6 == 0 || place % 6 == 5;
    atomic_fetch_add_explicit(&looks, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&hits, known, memory_order_relaxed);
    if (stays && (!known || found.id != stays_id[place])) {
        fail("an allocation that stays was not found", place);
    }
    if (known && (found.base != base_of(place) || found.bytes != bytes_of(place))) {
        fail("an allocation is not as it was made", place);
    }
    if (gmt_allocmap_find(base_of(place) + bytes_of(place), &found)) {
        fail("an address between allocations is known", place);
    }
}

static void *look(void *argument)
{
    uint64_t state = (uint64_t)(uintptr_t)argument + 100;
    while (atomic_load(&writers_done) < WRITERS && atomic_load(&failures) == 0) {
        check(next_random(&state) % PLACES);
    }
    for (uint64_t place = 0; place < PLACES; place++) {
        check(place);
    }
    /* Nothing changes any more, and all of these want one slot of what was found. */
    for (uint64_t i = 0; crowd_count != 0 && i < QUIET_ROUNDS * PLACES; i++) {
        check(crowd[next_random(&state) % crowd_count]);
    }
    return NULL;
}

/* Places that stay and are small, of the slot that most of them are kept in: as slot_of in allocmap.c. */
static void find_crowd(void)
{
    static unsigned counts[512];
    unsigned most = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (uint64_t place = 0; place < PLACES; place++) {
            uint64_t last = base_of(place) + bytes_of(place) - 1;
            unsigned slot = (unsigned)((last * UINT64_C(0x9e3779b97f4a7c15)) >> 55);
            if ((place % 6 != 0 && place % 6 != 5) || bytes_of(place) == BIG_BYTES) {
                continue;
            }
            if (pass == 0) {
                counts[slot]++;
                most = counts[slot] > counts[most] ? slot : most;
            } else if (slot == most && crowd_count < CROWD) {
                crowd[crowd_count++] = place;
            }
        }
    }
}

int main(void)
{
    find_crowd();
    pthread_t threads[WRITERS + READERS];
    for (uint64_t place = 0; place < PLACES; place++) {
        if (place % 6 == 0 || place % 6 == 5) {
            stays_id[place] = gmt_allocmap_insert(base_of(place), bytes_of(place), GMT_ALLOC_HOST,
                                                  1);
        }
    }
    for (uintptr_t i = 0; i < WRITERS + READERS; i++) {
        void *number = (void *)(i < WRITERS ? i : i - WRITERS);
        if (pthread_create(&threads[i], NULL, i < WRITERS ? come_and_go : look, number) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < WRITERS + READERS; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%llu looks, %llu hits, %d failures\n", (unsigned long long)atomic_load(&looks),
           (unsigned long long)atomic_load(&hits), atomic_load(&failures));
    return atomic_load(&failures) != 0 || atomic_load(&hits) == 0;
}

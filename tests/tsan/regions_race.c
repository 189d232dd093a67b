/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that begin, resize, name and end regions while others empty and end their heap, for ThreadSanitizer.
 *
 * At the end all is ended, and as many heaps as there is room for must find a place: none was lost on the way.
 */
#include <pthread.h>
#include <stdio.h>

#include "preload/driver/coverage.h"
#include "preload/state/regions.h"

enum { ALLOCATORS = 4, ROUNDS = 20000, PLACES = 50 };
#define HEAP UINT64_C(0x7f0000000000)
#define HEAP_BYTES (UINT64_C(1) << 30)

void gmt_coverage_count_fault(enum gmt_region_fault fault)
{
    (void)fault; /* most of what threads do here to each other's regions is one */
}

void gmt_coverage_forget_faults(void)
{
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void *allocate(void *argument)
{
    uint64_t number = (uint64_t)(uintptr_t)argument, state = number + 1;
    for (int i = 0; i < ROUNDS; i++) {
        /* Some places are of several threads. */
        uint64_t address = HEAP + (number * PLACES / 2 + next_random(&state) % PLACES) * 4096;
        switch (next_random(&state) % 6) {
        case 0: gmt_region_resize(address, 64 + next_random(&state) % 8192); break;
        case 1: gmt_region_name(address, "a name"); break;
        case 2:
        case 3: gmt_region_end(address); break;
        default: gmt_region_begin(i % 8 == 0 ? 0 : HEAP, address, 4096, 0); break;
        }
    }
    return NULL;
}

static void *empty(void *argument)
{
    (void)argument;
    for (int i = 0; i < ROUNDS / 50; i++) {
        (void)gmt_heap_begin(HEAP, HEAP_BYTES, GMT_HEAP_SUB_ALLOCATOR, "domain", "heap", 0);
        gmt_heap_empty(HEAP, 0);
        gmt_heap_empty(0, 0);
        if (i % 3 == 0) {
            gmt_heap_end(HEAP);
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[ALLOCATORS + 2];
    for (uintptr_t i = 0; i < ALLOCATORS + 2; i++) {
        (void)pthread_create(&threads[i], NULL, i < ALLOCATORS ? allocate : empty, (void *)i);
    }
    for (int i = 0; i < ALLOCATORS + 2; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    gmt_heap_end(HEAP);
    gmt_heap_empty(0, 0);
    uint32_t room = 0;
    while (room < GMT_REGIONS_MOST &&
           gmt_heap_begin(HEAP + room * UINT64_C(4096), 4096, 0, NULL, "", 0)) {
        room++;
    }
    printf("regions_race: room for %u heaps\n", room);
    /* One place is the whole process. */
    return room == GMT_REGIONS_MOST - 1 ? 0 : 1;
}

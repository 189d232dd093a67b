/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that walk their stacks with the tables they share, for ThreadSanitizer: rows are read without a
 * lock while others put them, and so are stacks. Every answer is compared with a walk that trusts
 * nothing; the tables are overrun on purpose.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "preload/unwind/chains.h"
#include "preload/unwind/objects.h"
#include "preload/unwind/walk.h"

enum { THREADS = 8, ROUNDS = 60, DEPTHS = 50 };
#define NO_TAIL_CALL() __asm__ volatile("" : : : "memory")

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic unsigned long failures, recognized, walked;
static _Thread_local uintptr_t stack_low, stack_high;

static uint32_t number_of(const struct gmt_walk *walk)
{
    uint64_t hash = walk->depth;
    for (uint32_t i = 0; i < walk->depth; i++) {
        hash = (hash ^ walk->address[i]) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return (uint32_t)(hash >> 33) | 1;
}

static void find_all(void *walk)
{
    gmt_walk_finding(walk, gmt_objects_row);
}

static void find_surely(struct gmt_walk *walk)
{
    pthread_mutex_lock(&mutex);
    if (!gmt_objects_hold(find_all, walk) || walk->end > GMT_WALK_CUT) {
        failures++;
    }
    pthread_mutex_unlock(&mutex);
}

__attribute__((noinline)) static void probe(void)
{
    struct gmt_walk walk = {.low = stack_low,
                            .high = stack_high,
                            .frame = __builtin_frame_address(0),
                            .mark = gmt_objects_mark()};
    struct gmt_walk sure = walk;
    find_surely(&sure);
    uint32_t number = number_of(&sure), known = gmt_chains_find(&walk);
    gmt_walk_known(&walk);
    bool is_whole = walk.end != GMT_WALK_MISSED;
    failures += known != 0 && known != number;
    failures += is_whole && number_of(&walk) != number;
    recognized += known != 0;
    walked += is_whole;
    if (is_whole) {
        gmt_chains_put(&walk, number);
    }
}

static void descend(unsigned depth, unsigned way);

__attribute__((noinline)) static void left(unsigned depth, unsigned way)
{
    descend(depth, way);
    NO_TAIL_CALL();
}

__attribute__((noinline)) static void right(unsigned depth, unsigned way)
{
    NO_TAIL_CALL();
    descend(depth, way);
    NO_TAIL_CALL();
}

__attribute__((noinline)) static void descend(unsigned depth, unsigned way)
{
    if (depth == 0) {
        probe();
    } else if (way % 2 == 0) {
        left(depth - 1, way / 2);
    } else {
        right(depth - 1, way / 2);
    }
    NO_TAIL_CALL();
}

static void *run(void *seed)
{
    pthread_attr_t attributes;
    void *base;
    size_t bytes;
    unsigned way = *(unsigned *)seed;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0 ||
        pthread_attr_getstack(&attributes, &base, &bytes) != 0) {
        abort();
    }
    pthread_attr_destroy(&attributes);
    stack_low = (uintptr_t)base;
    stack_high = stack_low + bytes;
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned depth = 1; depth <= DEPTHS; depth++) {
            descend(depth % 20, round % 3);
            descend(depth, (way + round * 7) % 4);
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    unsigned seeds[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        seeds[i] = i;
        if (pthread_create(&threads[i], NULL, run, &seeds[i]) != 0) {
            return 2;
        }
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%lu walked by known rows, %lu recognized, %lu wrong\n", (unsigned long)walked,
           (unsigned long)recognized, (unsigned long)failures);
    return failures == 0 && walked > 1000 && recognized > 1000 ? 0 : 1;
}

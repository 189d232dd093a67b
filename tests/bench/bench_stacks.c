/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it takes to know who called, in nanoseconds, at several depths: bench_stacks [rounds]
 *
 *   known      a walk by rows that are in the table, and the hash of the chain: a call whose stack
 *              has been forgotten
 *   first      a walk that finds all rows in the objects' tables: once for each new place, at most
 *   verified   recognizing the stack of an earlier walk: what most calls of a program do
 *   libgcc     _Unwind_Backtrace
 *
 * All in turn within each round; medians and the range of the rounds. One line of JSON per depth.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unwind.h>

#include "preload/unwind/chains.h"
#include "preload/unwind/objects.h"
#include "preload/unwind/rows.h"
#include "preload/unwind/walk.h"

enum { REPEAT = 2000, MOST_ROUNDS = 99 };

static struct gmt_walk walk;
static volatile uint64_t sink;

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void known(void)
{
    gmt_walk_known(&walk);
    uint64_t hash = walk.mark;
    for (uint32_t i = 0; i < walk.depth; i++) {
        hash = (hash ^ walk.address[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    sink = hash;
}

static void find_all(void *unused)
{
    (void)unused;
    if (gmt_table(&gmt_rows) != NULL) {
        memset(gmt_table(&gmt_rows), 0, GMT_ROWS_BYTES);
    }
    double begin = now_ns();
    gmt_walk_finding(&walk, gmt_objects_row);
    sink = (uint64_t)(now_ns() - begin);
}

static void verified(void)
{
    sink = gmt_chains_find(&walk);
}

static _Unwind_Reason_Code see(struct _Unwind_Context *context, void *unused)
{
    (void)unused;
    sink = _Unwind_GetIP(context);
    return _URC_NO_REASON;
}

static void libgcc(void)
{
    _Unwind_Backtrace(see, NULL);
}

static double time_of(void (*what)(void))
{
    double begin = now_ns();
    for (int i = 0; i < REPEAT; i++) {
        what();
    }
    return (now_ns() - begin) / REPEAT;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const char *name, double *times, int rounds)
{
    qsort(times, (size_t)rounds, sizeof(*times), by_value);
    printf(", \"%s\": [%.1f, %.1f, %.1f]", name, times[rounds / 2], times[0], times[rounds - 1]);
}

static void measure(int rounds)
{
    static double times[4][MOST_ROUNDS];
    (void)gmt_objects_hold(find_all, NULL);
    gmt_chains_put(&walk, 1);
    if (gmt_chains_find(&walk) != 1) {
        exit(3);
    }
    for (int round = 0; round < rounds; round++) {
        times[0][round] = time_of(known);
        times[1][round] = time_of(verified);
        times[2][round] = time_of(libgcc);
        (void)gmt_objects_hold(find_all, NULL);
        times[3][round] = (double)sink;
    }
    printf("{\"frames\": %u", walk.depth);
    print("known", times[0], rounds);
    print("verified", times[1], rounds);
    print("libgcc", times[2], rounds);
    print("first", times[3], rounds);
    puts("}");
}

/* Different functions, so that no row serves two frames; without frame pointers. */
#define LEVEL(n, next) \
    __attribute__((noinline)) static void level_##n(int depth, int rounds) \
    { \
        volatile char room[16 + (n)*8]; \
        room[0] = (char)depth; \
        if (depth <= (n)) { \
            walk.frame = __builtin_frame_address(0); \
            measure(rounds); \
        } else { \
            next(depth, rounds); \
        } \
        room[1] = room[0]; \
    }
#define LEVEL_10(tens, next) \
    LEVEL(tens##9, next) \
    LEVEL(tens##8, level_##tens##9) \
    LEVEL(tens##7, level_##tens##8) \
    LEVEL(tens##6, level_##tens##7) \
    LEVEL(tens##5, level_##tens##6) \
    LEVEL(tens##4, level_##tens##5) \
    LEVEL(tens##3, level_##tens##4) \
    LEVEL(tens##2, level_##tens##3) \
    LEVEL(tens##1, level_##tens##2) \
    LEVEL(tens##0, level_##tens##1)
static void level_60(int depth, int rounds)
{
    (void)depth;
    (void)rounds;
}
LEVEL_10(5, level_60)
LEVEL_10(4, level_50)
LEVEL_10(3, level_40)
LEVEL_10(2, level_30)
LEVEL_10(1, level_20)

int main(int argc, char **argv)
{
    pthread_attr_t attributes;
    void *base;
    size_t bytes;
    int rounds = argc > 1 ? atoi(argv[1]) : 21;
    if (rounds < 1 || rounds > MOST_ROUNDS ||
        pthread_getattr_np(pthread_self(), &attributes) != 0 ||
        pthread_attr_getstack(&attributes, &base, &bytes) != 0) {
        return 2;
    }
    walk.low = (uintptr_t)base;
    walk.high = (uintptr_t)base + bytes;
    for (int depth = 16; depth <= 56; depth += 10) {
        level_10(depth, rounds);
    }
    return 0;
}

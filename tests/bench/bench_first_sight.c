/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the first sight of a stack takes, all in all, in nanoseconds: bench_first_sight FOLDER
 *
 * Not only the walk (bench_stacks): the search for what is known, the loader's lock, the record in the
 * spool, which is made in FOLDER, and the pages that are touched for the first time.
 *
 *   all_new        no frame but those of main and its callers has been seen
 *   innermost_new  only the place of the call is new, as for most stacks of a program
 *
 * Each place is new once in a process: medians and the range of the places. One line of JSON.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libtrace/record/clock.h"
#include "libtrace/record/spool.h"
#include "preload/session/options.h"
#include "preload/unwind/stack.h"

enum { SETS = 24, PLACES = 64, MOST = 128 };

static double times[MOST];
static int count;

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

__attribute__((noinline)) static void hook(void)
{
    double begin = now_ns();
    uint32_t id = gmt_stack_here(__builtin_frame_address(0), 0);
    times[count++] = now_ns() - begin;
    if (id != (uint32_t)count) { /* each stack is a new one */
        exit(3);
    }
}

/* Functions that call one another, with frames of different sizes; no two are the same. */
#define LEVEL(name, bytes, next) \
    __attribute__((noinline)) static void name(void) \
    { \
        volatile char room[bytes]; \
        room[0] = (char)__COUNTER__; \
        next(); \
        room[1] = room[0]; \
    }
#define LEVEL_3(name, next) \
    LEVEL(name##c, 40, next) LEVEL(name##b, 200, name##c) LEVEL(name##a, 16, name##b)
#define LEVEL_9(name, next) \
    LEVEL_3(name##3, next) LEVEL_3(name##2, name##3a) LEVEL_3(name##1, name##2a)
#define LEVEL_45(name, next) \
    LEVEL_9(name##z, next) \
    LEVEL_9(name##y, name##z1a) \
    LEVEL_9(name##x, name##y1a) LEVEL_9(name##w, name##x1a) LEVEL_9(name##v, name##w1a)
#define FOUR(WHAT, name) WHAT(name##0) WHAT(name##1) WHAT(name##2) WHAT(name##3)

#define SET(name) LEVEL_45(name, hook)
#define SET_START(name) name##v1a,
#define SETS_4(WHAT) \
    FOUR(WHAT, set_a) \
    FOUR(WHAT, set_b) FOUR(WHAT, set_c) FOUR(WHAT, set_d) FOUR(WHAT, set_e) FOUR(WHAT, set_f)
SETS_4(SET)
static void (*const sets[])(void) = {SETS_4(SET_START)};

#define PLACE(name) LEVEL(name, 24, hook)
#define PLACE_START(name) name,
#define PLACES_16(WHAT, name) \
    FOUR(WHAT, name##0) FOUR(WHAT, name##1) FOUR(WHAT, name##2) FOUR(WHAT, name##3)
#define PLACES_64(WHAT) \
    PLACES_16(WHAT, place_a) \
    PLACES_16(WHAT, place_b) PLACES_16(WHAT, place_c) PLACES_16(WHAT, place_d)
PLACES_64(PLACE)
static void (*const places[])(void) = {PLACES_64(PLACE_START)};

static void (*place)(void);
LEVEL_45(shared, place)

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* But for the first of them, which has more to find. */
static void print(const char *name, int from)
{
    int number = count - from;
    qsort(times + from, (size_t)number, sizeof(*times), by_value);
    printf(", \"%s\": [%.0f, %.0f, %.0f]", name, times[from + number / 2], times[from],
           times[count - 1]);
}

int main(int argc, char **argv)
{
    char output[4096];
    if (argc != 2 ||
        snprintf(output, sizeof(output), "%s/first_sight.db", argv[1]) >= (int)sizeof(output)) {
        (void)fprintf(stderr, "usage: bench_first_sight FOLDER\n");
        return 2;
    }
    gmt_clock_init();
    gmt_options.stacks = GMT_STACKS_FULL;
    if (gmt_spool_open(&(struct gmt_spool_config){.output = output, .bytes_limit = 1u << 30}) !=
        0) {
        return 2;
    }
    double begin = now_ns();
    gmt_stack_start();
    printf("{\"frames\": 47, \"start\": %.0f", now_ns() - begin);
    for (int i = 0; i < SETS; i++) {
        sets[i]();
    }
    print("all_new", 1);
    for (int i = 0; i < PLACES; i++) {
        place = places[i];
        sharedv1a();
    }
    print("innermost_new", SETS + 1);
    puts("}");
    return 0;
}

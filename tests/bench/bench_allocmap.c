/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the map of live allocations costs: ns of processor time per change and per look, by how many
 * are live.
 *
 *     bench_allocmap [LIVE ...]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "preload/state/allocmap.h"

#define SPACING UINT64_C(4096)
#define START UINT64_C(0x7f0000000000)

static uint64_t state = 1;
static uint64_t sum; /* of ids: looks are not left out */

static uint64_t next_random(uint64_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return below != 0 ? (state >> 20) % below : 0;
}

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* One goes and comes back, at random. */
static void change(uint64_t live)
{
    struct gmt_allocation gone;
    uint64_t base = START + next_random(live) * SPACING;
    if (!gmt_allocmap_remove(base, &gone)) {
        abort();
    }
    gmt_allocmap_restore(&gone);
}

static void look(uint64_t live)
{
    struct gmt_allocation found;
    if (!gmt_allocmap_find(START + next_random(live) * SPACING + next_random(2048), &found)) {
        abort();
    }
    sum += found.id;
}

static void look_again(uint64_t live)
{
    struct gmt_allocation found;
    if (!gmt_allocmap_find(START + live / 2 * SPACING, &found)) {
        abort();
    }
    sum += found.id;
}

/* A program that allocates, copies into it and frees. */
static void change_and_look(uint64_t live)
{
    change(live);
    look(live);
}

/* ns per `act`, from as many as 0.2 s of processor time take. */
static double cost_of(void (*act)(uint64_t), uint64_t live)
{
    uint64_t done = 0;
    double start = now_ns(), spent = 0;
    while (spent < 2e8) {
        for (int i = 0; i < 100; i++) {
            act(live);
        }
        done += 100;
        spent = now_ns() - start;
    }
    return spent / (double)done;
}

static void measure(uint64_t live)
{
    struct gmt_allocation gone;
    double start = now_ns();
    for (uint64_t i = 0; i < live; i++) {
        (void)gmt_allocmap_insert(START + i * SPACING, SPACING, GMT_ALLOC_DEVICE, 1);
    }
    double grow = (now_ns() - start) / (double)live;
    printf("| %" PRIu64 " | %.0f | %.0f | %.0f | %.0f | %.0f |\n", live, grow,
           cost_of(change, live), cost_of(change_and_look, live), cost_of(look, live),
           cost_of(look_again, live));
    for (uint64_t i = live; i-- > 0;) {
        (void)gmt_allocmap_remove(START + i * SPACING, &gone);
    }
}

int main(int argc, char **argv)
{
    static const uint64_t usual[] = {1, 1000, 100000, 1000000};
    puts("| live | insert, ascending | remove and insert | the same and a look | look, at random "
         "| look, the same |\n|---|---|---|---|---|---|");
    for (int i = 1; i < argc; i++) {
        uint64_t live = strtoull(argv[i], NULL, 10);
        measure(live != 0 ? live : 1);
    }
    for (size_t i = 0; argc < 2 && i < sizeof usual / sizeof usual[0]; i++) {
        measure(usual[i]);
    }
    return sum == 0;
}

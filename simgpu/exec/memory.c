/* SPDX-License-Identifier: Apache-2.0 */
/* The map of memory as one worker sees it: look-up, and saying where an address lies. */
#include "simgpu/exec/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/exec/memory_state.h"

#define NULL_PAGE 4096u

static void forget_touched(struct sim_memory *memory)
{
    if (memory->touched != NULL) {
        for (size_t i = 0; i < memory->touched_count; i++) {
            free(memory->touched[i].reads.words);
            free(memory->touched[i].writes.words);
        }
    }
    free(memory->touched);
    memory->touched = NULL;
    sim_races_free(memory->races);
    memory->races = NULL;
}

int sim_memory_reset(struct sim_memory *memory, const struct sim_map *map, bool count)
{
    forget_touched(memory);
    memory->map = map;
    memory->count = count;
    memset(memory->recent, 0, sizeof memory->recent);
    if (!count || map->count == 0) {
        return 0;
    }
    memory->touched = calloc(map->count, sizeof *memory->touched);
    memory->touched_count = map->count;
    if (memory->touched != NULL) {
        return 0;
    }
    memory->count = false;
    return -ENOMEM;
}

struct sim_memory *sim_memory_new(const struct sim_map *map, bool count)
{
    struct sim_memory *memory = calloc(1, sizeof *memory);

    if (memory == NULL) {
        return NULL;
    }
    memory->map = map;
    if (sim_memory_reset(memory, map, count) != 0) {
        free(memory);
        return NULL;
    }
    return memory;
}

int sim_memory_races(struct sim_memory *const *memories, size_t count, struct sim_race **races,
                     size_t *race_count)
{
    int error = 0;

    *races = NULL;
    *race_count = 0;
    for (size_t i = 0; i < count && error == 0; i++) {
        if (memories[i]->races != NULL) {
            error = sim_races_collect(memories[i]->races, races, race_count);
        }
    }
    return error;
}

/* Index of the last region that begins at or below `address`, or SIM_NO_REGION. */
static uint32_t last_below(const struct sim_map *map, uint64_t address)
{
    size_t low = 0, high = map->count; /* regions below `low` begin at or below it */

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (map->regions[middle].base <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == 0 ? SIM_NO_REGION : (uint32_t)(low - 1);
}

uint32_t sim_memory_find(const struct sim_memory *memory, uint64_t address)
{
    const uint32_t below = last_below(memory->map, address);

    if (below == SIM_NO_REGION) {
        return below;
    }
    const struct sim_region *region = &memory->map->regions[below];
    return address - region->base < region->bytes ? below : SIM_NO_REGION;
}

/* ---- where an address lies -------------------------------------------------------------------- */

static const char *kind_of(const struct sim_region *region)
{
    return (region->flags & SIM_REGION_GLOBAL) != 0    ? "variable"
           : (region->flags & SIM_REGION_MANAGED) != 0 ? "managed allocation"
           : (region->flags & SIM_REGION_HOST) != 0    ? "page-locked host allocation"
                                                       : "allocation";
}

static void describe_place(const struct sim_region *region, char *text, size_t bytes)
{
    snprintf(text, bytes, "the %llu-byte %s%s%s at 0x%llx", (unsigned long long)region->bytes,
             kind_of(region), region->name != NULL ? " " : "",
             region->name != NULL ? region->name : "", (unsigned long long)region->base);
}

/* Farther than this from its end, an address has nothing to do with an allocation. */
static uint64_t reach_of(const struct sim_region *region)
{
    const uint64_t least = 1u << 20;
    return region->bytes < least ? least : region->bytes;
}

void sim_memory_describe(const struct sim_memory *memory, uint64_t address, uint32_t width,
                         char *text, size_t bytes)
{
    const struct sim_map *map = memory->map;
    const uint32_t below = last_below(map, address);
    const uint32_t above = below == SIM_NO_REGION ? 0 : below + 1;
    const struct sim_region *before = below == SIM_NO_REGION ? NULL : &map->regions[below];
    const struct sim_region *after = above < map->count ? &map->regions[above] : NULL;
    const unsigned long long at = address;
    char place[256];

    if (address < NULL_PAGE) {
        snprintf(text, bytes, "0x%llx is a null pointer%s", at,
                 address != 0 ? " plus an offset" : "");
        return;
    }
    const uint64_t past = before != NULL ? address - before->base - before->bytes : UINT64_MAX;
    const uint64_t until = after != NULL ? after->base - address : UINT64_MAX;
    if (before != NULL && address - before->base < before->bytes) {
        describe_place(before, place, sizeof place);
        snprintf(text, bytes, "0x%llx is in %s, but the last of its %u bytes are past the end", at,
                 place, width);
    } else if (before != NULL && past <= until && past <= reach_of(before)) {
        describe_place(before, place, sizeof place);
        snprintf(text, bytes, "0x%llx is %llu bytes past the end of %s", at,
                 (unsigned long long)past, place);
    } else if (after != NULL && until <= reach_of(after)) {
        describe_place(after, place, sizeof place);
        snprintf(text, bytes, "0x%llx is %llu bytes before %s", at, (unsigned long long)until,
                 place);
    } else if (before != NULL || after != NULL) {
        describe_place(before != NULL && past <= until ? before : after, place, sizeof place);
        snprintf(text, bytes, "0x%llx is not in any allocation (the nearest is %s)", at, place);
    } else {
        snprintf(text, bytes, "0x%llx is not in any allocation (there is none)", at);
    }
}

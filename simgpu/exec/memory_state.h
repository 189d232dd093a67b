/* SPDX-License-Identifier: Apache-2.0 */
/* What one worker knows of global memory during a launch: regions found last, first-touch bitmaps. */
#ifndef SIMGPU_EXEC_MEMORY_STATE_H
#define SIMGPU_EXEC_MEMORY_STATE_H

#include "simgpu/exec/access.h"
#include "simgpu/exec/count.h"
#include "simgpu/exec/race.h"

#define SIM_RECENT_REGIONS 64u /* a power of two */
#define SIM_NO_REGION UINT32_MAX

/* A bit per 32-byte sector of a region, counted from the line the region begins in. */
struct sim_bitmap {
    uint64_t *words;  /* NULL: never touched */
    size_t low, high; /* words touched: low <= index < high */
    uint64_t traffic; /* sectors of all requests */
};

struct sim_touched {
    struct sim_bitmap reads, writes;
};

struct sim_memory {
    const struct sim_map *map;
    bool count;
    uint32_t recent[SIM_RECENT_REGIONS]; /* by instruction: index of the region it touched last */
    struct sim_touched *touched;         /* one per region, NULL when not counting */
    size_t touched_count;
    struct sim_lines lines;      /* scratch */
    struct sim_races *races;     /* NULL: not looked for */
    struct sim_touches *touches; /* the launch's, or NULL */
};

/* Index of the region that holds `address`, or SIM_NO_REGION. */
uint32_t sim_memory_find(const struct sim_memory *memory, uint64_t address);

/* The same, with the region that instruction `slot` touched last tried first. */
static inline uint32_t sim_memory_recall(struct sim_memory *memory, uint32_t slot, uint64_t address)
{
    uint32_t *recent = &memory->recent[slot & (SIM_RECENT_REGIONS - 1)];

    if (*recent < memory->map->count) {
        const struct sim_region *region = &memory->map->regions[*recent];

        if (address - region->base < region->bytes) {
            return *recent;
        }
    }
    const uint32_t found = sim_memory_find(memory, address);
    if (found != SIM_NO_REGION) {
        *recent = found;
    }
    return found;
}

/*
 * Note what an access that has passed the checks touches: its lines are in `lines` when they all
 * belong to the region of the first lane, else it is taken apart by regions. 0 or -ENOMEM.
 */
int sim_memory_touch(struct sim_memory *memory, uint32_t slot, const struct sim_access *access,
                     const struct sim_traffic *traffic);

/* "0x7f.. is 8 bytes past the end of the 400-byte allocation at 0x7f.." */
void sim_memory_describe(const struct sim_memory *memory, uint64_t address, uint32_t width,
                         char *text, size_t bytes);

#endif

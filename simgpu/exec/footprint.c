/* SPDX-License-Identifier: Apache-2.0 */
/* First-touch bitmaps: which sectors of each allocation a launch read and wrote. */
#include <errno.h>
#include <stdlib.h>

#include "simgpu/exec/memory_state.h"

#define LINE_SHIFT 7
#define SECTOR_SHIFT 5
#define WORD_SECTORS 64u

/* Sectors are counted from the line the region begins in, so that a line is four bits of one word. */
static uint64_t first_sector(const struct sim_region *region)
{
    return (region->base >> LINE_SHIFT) << (LINE_SHIFT - SECTOR_SHIFT);
}

static size_t words_of(const struct sim_region *region)
{
    const uint64_t last = (region->base + region->bytes - 1) >> SECTOR_SHIFT;
    return (size_t)((last - first_sector(region)) / WORD_SECTORS + 1);
}

static int bitmap_ready(struct sim_bitmap *bitmap, const struct sim_region *region)
{
    if (bitmap->words != NULL) {
        return 0;
    }
    bitmap->words = calloc(words_of(region), sizeof *bitmap->words);
    bitmap->low = SIZE_MAX;
    return bitmap->words == NULL ? -ENOMEM : 0;
}

static void set_bits(struct sim_bitmap *bitmap, size_t word, uint64_t bits)
{
    if ((bitmap->words[word] & bits) == bits) {
        return;
    }
    bitmap->words[word] |= bits;
    if (word < bitmap->low) {
        bitmap->low = word;
    }
    if (word >= bitmap->high) {
        bitmap->high = word + 1;
    }
}

static void set_range(struct sim_bitmap *bitmap, uint64_t first, uint64_t last)
{
    for (uint64_t at = first; at <= last;) {
        const uint64_t word = at / WORD_SECTORS, bit = at % WORD_SECTORS;
        const uint64_t end = last / WORD_SECTORS == word ? last % WORD_SECTORS : WORD_SECTORS - 1;
        const uint64_t bits = (UINT64_MAX << bit) & (UINT64_MAX >> (WORD_SECTORS - 1 - end));

        set_bits(bitmap, (size_t)word, bits);
        at = (word + 1) * WORD_SECTORS;
    }
}

static int touch_bitmap(struct sim_bitmap *bitmap, const struct sim_region *region,
                        const struct sim_access *access, const struct sim_lines *lines,
                        uint32_t sectors)
{
    const uint64_t origin = first_sector(region);
    const int error = bitmap_ready(bitmap, region);

    if (error != 0) {
        return error;
    }
    bitmap->traffic += sectors;
    if (access->shape != SIM_SHAPE_ANY) {
        const unsigned lanes = access->shape == SIM_SHAPE_SAME
                                   ? 1
                                   : (unsigned)__builtin_popcount(access->mask);
        const uint64_t first = access->address[sim_first_lane(access->mask)];
        const uint64_t last = first + (uint64_t)lanes * access->width - 1;
        set_range(bitmap, (first >> SECTOR_SHIFT) - origin, (last >> SECTOR_SHIFT) - origin);
        return 0;
    }
    for (unsigned i = 0; i < lines->count; i++) {
        const uint64_t sector = (lines->line[i] << (LINE_SHIFT - SECTOR_SHIFT)) - origin;
        set_bits(bitmap, (size_t)(sector / WORD_SECTORS),
                 (uint64_t)lines->sectors[i] << (sector % WORD_SECTORS));
    }
    return 0;
}

static int touch_region(struct sim_memory *memory, uint32_t index, const struct sim_access *access,
                        uint32_t sectors)
{
    const struct sim_region *region = &memory->map->regions[index];
    struct sim_touched *touched = &memory->touched[index];
    int error = 0;

    if ((access->uses & SIM_USE_READ) != 0) {
        error = touch_bitmap(&touched->reads, region, access, &memory->lines, sectors);
    }
    if (error == 0 && (access->uses & SIM_USE_WRITE) != 0) {
        error = touch_bitmap(&touched->writes, region, access, &memory->lines, sectors);
    }
    return error;
}

/* The lanes of `mask` whose address `region` holds. */
static uint32_t lanes_within(const struct sim_region *region, const struct sim_access *access,
                             uint32_t mask)
{
    uint32_t inside = 0;

    SIM_FOR_LANES(mask, i,
                  inside |= (uint32_t)(access->address[i] - region->base < region->bytes) << i);
    return inside;
}

int sim_memory_touch(struct sim_memory *memory, uint32_t slot, const struct sim_access *access,
                     const struct sim_traffic *traffic)
{
    const unsigned lead = sim_first_lane(access->mask);
    uint32_t index = sim_memory_recall(memory, slot, access->address[lead]);

    if (index == SIM_NO_REGION || memory->touched == NULL) {
        return 0;
    }
    if (!access->is_split) {
        return touch_region(memory, index, access, traffic->sectors);
    }

    struct sim_access part = *access; /* several regions: each on its own */
    uint32_t mask;
    int error = 0;
    for (uint32_t rest = access->mask; rest != 0 && error == 0; rest &= ~mask) {
        struct sim_traffic own;
        index = sim_memory_recall(memory, slot, access->address[sim_first_lane(rest)]);
        if (index == SIM_NO_REGION) {
            return 0;
        }
        mask = lanes_within(&memory->map->regions[index], access, rest);
        part.mask = mask;
        sim_count_global(&part, &memory->lines, &own);
        error = touch_region(memory, index, &part, own.sectors);
    }
    return error;
}

/* ---- merging ---------------------------------------------------------------------------------- */

struct merged {
    uint64_t sectors, traffic;
};

static const struct sim_bitmap *bitmap_of(const struct sim_memory *memory, size_t region,
                                          bool writes)
{
    const struct sim_touched *touched = &memory->touched[region];
    return writes ? &touched->writes : &touched->reads;
}

static struct merged merge(struct sim_memory *const *memories, size_t count, size_t region,
                           bool writes)
{
    struct merged merged = {0};
    size_t low = SIZE_MAX, high = 0;

    for (size_t m = 0; m < count; m++) {
        if (memories[m]->touched == NULL) {
            continue;
        }
        const struct sim_bitmap *bitmap = bitmap_of(memories[m], region, writes);
        if (bitmap->words == NULL) {
            continue;
        }
        merged.traffic += bitmap->traffic;
        low = bitmap->low < low ? bitmap->low : low;
        high = bitmap->high > high ? bitmap->high : high;
    }
    for (size_t word = low; word < high; word++) {
        uint64_t bits = 0;
        for (size_t m = 0; m < count; m++) {
            const struct sim_bitmap *bitmap = memories[m]->touched != NULL
                                                  ? bitmap_of(memories[m], region, writes)
                                                  : NULL;
            if (bitmap != NULL && bitmap->words != NULL) {
                bits |= bitmap->words[word];
            }
        }
        merged.sectors += (unsigned)__builtin_popcountll(bits);
    }
    return merged;
}

int sim_memory_footprints(struct sim_memory *const *memories, size_t count,
                          struct sim_footprint **footprints, size_t *footprint_count)
{
    const struct sim_map *map = count > 0 ? memories[0]->map : NULL;
    const size_t regions = map != NULL ? map->count : 0;
    size_t used = 0;

    *footprints = NULL;
    *footprint_count = 0;
    if (regions == 0) {
        return 0;
    }
    struct sim_footprint *all = calloc(regions, sizeof *all);
    if (all == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < regions; i++) {
        const struct merged reads = merge(memories, count, i, false);
        const struct merged writes = merge(memories, count, i, true);

        if (reads.traffic + writes.traffic == 0) {
            continue;
        }
        all[used++] = (struct sim_footprint){
            .base = map->regions[i].base,
            .bytes = map->regions[i].bytes,
            .region_id = map->regions[i].id,
            .flags = map->regions[i].flags,
            .read_sectors = reads.sectors,
            .write_sectors = writes.sectors,
            .read_traffic = reads.traffic,
            .write_traffic = writes.traffic,
            .name = map->regions[i].name,
        };
    }
    *footprints = all;
    *footprint_count = used;
    return 0;
}

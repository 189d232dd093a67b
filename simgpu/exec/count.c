/* SPDX-License-Identifier: Apache-2.0 */
/* Sectors and lines of one access to global or local memory; distinct addresses of constant reads. */
#include "simgpu/exec/count.h"

#include <string.h>

#define LINE_SHIFT 7
#define SECTOR_SHIFT 5
#define SECTOR_BYTES 32u
#define LANES_PER_SECTOR 8u /* of interleaved local memory: 8 words of 4 bytes */

/* Multiplicative hashing: D. Knuth, The Art of Computer Programming, vol. 3, 6.4. */
static unsigned slot_of(uint64_t key)
{
    return (unsigned)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 58);
}
_Static_assert(SIM_LINE_SLOTS == 1u << (64 - 58), "slot_of gives a slot");

/* Index of `line` in the table, entered if it is new. */
static unsigned enter(struct sim_lines *lines, uint64_t line)
{
    unsigned slot = slot_of(line);

    while (lines->slot[slot] != 0) {
        const unsigned index = lines->slot[slot] - 1u;
        if (lines->line[index] == line) {
            return index;
        }
        slot = (slot + 1) % SIM_LINE_SLOTS;
    }
    const unsigned index = lines->count++;
    lines->slot[slot] = (uint8_t)(index + 1);
    lines->line[index] = line;
    lines->sectors[index] = 0;
    lines->asked[index][0] = lines->asked[index][1] = 0;
    return index;
}

static uint32_t sectors_for(uint64_t bytes)
{
    return (uint32_t)((bytes + SECTOR_BYTES - 1) / SECTOR_BYTES);
}

/* Of one run of bytes. */
static void count_run(uint64_t first, uint64_t bytes, struct sim_traffic *traffic)
{
    const uint64_t last = first + bytes - 1;

    traffic->sectors = (uint32_t)((last >> SECTOR_SHIFT) - (first >> SECTOR_SHIFT) + 1);
    traffic->lines = (uint32_t)((last >> LINE_SHIFT) - (first >> LINE_SHIFT) + 1);
    traffic->ideal_sectors = sectors_for(bytes);
    traffic->bytes = (uint32_t)bytes;
}

void sim_count_global(const struct sim_access *access, struct sim_lines *lines,
                      struct sim_traffic *traffic)
{
    const unsigned lead = sim_first_lane(access->mask);
    const uint64_t piece = (UINT64_C(1) << access->width) - 1; /* width <= 32 */
    uint32_t distinct = 0, sectors = 0;
    unsigned index = 0;

    if (access->shape != SIM_SHAPE_ANY) {
        const unsigned lanes = access->shape == SIM_SHAPE_SAME
                                   ? 1
                                   : (unsigned)__builtin_popcount(access->mask);
        count_run(access->address[lead], (uint64_t)lanes * access->width, traffic);
        return;
    }
    lines->count = 0;
    memset(lines->slot, 0, sizeof lines->slot);
    for (uint32_t left = access->mask; left != 0; left &= left - 1) {
        const uint64_t address = access->address[sim_first_lane(left)];
        if (lines->count == 0 || lines->line[index] != address >> LINE_SHIFT) {
            index = enter(lines, address >> LINE_SHIFT);
        }
        uint64_t *asked = &lines->asked[index][(address >> 6) & 1];
        const unsigned sector = 1u << ((address >> SECTOR_SHIFT) & 3);
        sectors += (lines->sectors[index] & sector) == 0;
        lines->sectors[index] |= (uint8_t)sector;
        distinct += (*asked >> (address & 63) & 1) == 0 ? access->width : 0;
        *asked |= piece << (address & 63);
    }
    traffic->sectors = sectors;
    traffic->lines = lines->count;
    traffic->ideal_sectors = sectors_for(distinct);
    traffic->bytes = distinct;
}

/* Sectors that the lanes of `mask` fill of a line of interleaved words. */
static uint32_t lane_sectors(uint32_t mask)
{
    uint32_t sectors = 0;

    for (unsigned i = 0; i < SIM_LANES; i += LANES_PER_SECTOR) {
        sectors += (mask >> i & 0xff) != 0;
    }
    return sectors;
}

void sim_count_local(const struct sim_access *access, struct sim_traffic *traffic)
{
    const uint32_t words = access->width <= 4 ? 1 : access->width / 4;
    uint32_t rest = access->mask;

    traffic->sectors = traffic->lines = 0;
    do { /* for each distinct word: the lanes that want it */
        const uint64_t word = access->address[sim_first_lane(rest)] / 4;
        uint32_t together = rest;
        if (access->shape != SIM_SHAPE_SAME) {
            together = 0;
            for (uint32_t left = rest; left != 0; left &= left - 1) {
                const unsigned i = sim_first_lane(left);
                together |= (uint32_t)(access->address[i] / 4 == word) << i;
            }
        }
        traffic->sectors += lane_sectors(together) * words;
        traffic->lines += words;
        rest &= ~together;
    } while (rest != 0);
    /* Narrow words leave gaps that the interleaving makes: what a warp can do at best is its words. */
    const unsigned lanes = (unsigned)__builtin_popcount(access->mask);
    traffic->ideal_sectors = sectors_for((uint64_t)lanes * words * 4);
    traffic->bytes = lanes * access->width;
}

static bool ascends(const struct sim_access *access)
{
    uint64_t last = access->address[sim_first_lane(access->mask)];

    for (uint32_t left = access->mask & (access->mask - 1); left != 0; left &= left - 1) {
        const uint64_t address = access->address[sim_first_lane(left)];
        if (address <= last) {
            return false;
        }
        last = address;
    }
    return true;
}

uint32_t sim_count_addresses(const struct sim_access *access)
{
    uint64_t seen[SIM_LANES];
    uint32_t count = 0;

    if (access->shape == SIM_SHAPE_SAME) {
        return 1;
    }
    if (access->shape == SIM_SHAPE_UNIT || ascends(access)) {
        return (uint32_t)__builtin_popcount(access->mask);
    }
    for (uint32_t left = access->mask; left != 0; left &= left - 1) {
        const uint64_t address = access->address[sim_first_lane(left)];
        uint32_t i = 0;
        while (i < count && seen[i] != address) {
            i++;
        }
        if (i == count) {
            seen[count++] = address;
        }
    }
    return count;
}

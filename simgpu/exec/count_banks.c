/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wavefronts of one access to shared memory.
 *
 * A warp goes through the data stage in groups of lanes: all 32 for up to 4 bytes per lane, halves for
 * 8, quarters for 16. A group takes as many wavefronts as the most distinct words that its lanes want
 * from one bank. Loads only: neighbouring groups go together (8 bytes: the whole warp, 16 bytes:
 * halves) if every active lane i wants the same as lane i ^ 1 of the warp, or every one the same as lane
 * i ^ 2; lanes that are switched off do not matter. Atomics and what cp.async writes: lanes that want
 * the same word take turns like lanes that want different words of a bank.
 *
 * Read off an H200's counters (tests/data/access_h200.txt); CUPTI's software-patched counter, which
 * gmtrace records on hardware, strays from the hardware's own where lanes of wide loads are off.
 */
#include "simgpu/exec/count.h"

#define BANKS 32u
#define BANK_BYTES 4u

/* The words wanted from each bank. */
struct banks {
    uint32_t word[BANKS][SIM_LANES];
    uint8_t count[BANKS];
    uint32_t most, words;
};

static void want(struct banks *banks, uint32_t word, bool takes_turns)
{
    const unsigned bank = word % BANKS;
    const unsigned count = banks->count[bank];

    for (unsigned i = 0; i < count && !takes_turns; i++) {
        if (banks->word[bank][i] == word) {
            return;
        }
    }
    banks->word[bank][count] = word;
    banks->count[bank] = (uint8_t)(count + 1);
    banks->words++;
    if (count + 1 > banks->most) {
        banks->most = count + 1;
    }
}

/* Lanes of up to 4 bytes where no bank is asked for two words: found without the lists. */
static bool count_free(const struct sim_access *access, uint32_t mask, bool takes_turns,
                       struct sim_conflicts *conflicts)
{
    uint32_t asked = 0, word[BANKS];

    for (uint32_t left = mask; left != 0; left &= left - 1) {
        const uint32_t want = (uint32_t)(access->address[sim_first_lane(left)] / BANK_BYTES);
        const uint32_t bank = 1u << want % BANKS;
        if ((asked & bank) == 0) {
            word[want % BANKS] = want;
        } else if (takes_turns || word[want % BANKS] != want) {
            return false;
        }
        asked |= bank;
    }
    conflicts->wavefronts = conflicts->ideal = conflicts->degree = 1;
    return true;
}

/* Adds the wavefronts of the lanes of `mask`, which go together. */
static void count_group(const struct sim_access *access, uint32_t mask, bool takes_turns,
                        struct sim_conflicts *conflicts)
{
    const unsigned each = access->width <= BANK_BYTES ? 1 : access->width / BANK_BYTES;
    struct banks banks;

    for (unsigned i = 0; i < BANKS; i++) {
        banks.count[i] = 0;
    }
    banks.most = banks.words = 0;
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        const uint32_t first = (uint32_t)(access->address[sim_first_lane(left)] / BANK_BYTES);
        for (unsigned k = 0; k < each; k++) {
            want(&banks, first + k, takes_turns);
        }
    }
    conflicts->wavefronts += banks.most;
    conflicts->ideal += (banks.words + BANKS - 1) / BANKS;
    if (banks.most > conflicts->degree) {
        conflicts->degree = banks.most;
    }
}

static bool shares_with(const struct sim_access *access, unsigned distance)
{
    for (uint32_t left = access->mask; left != 0; left &= left - 1) {
        const unsigned i = sim_first_lane(left), other = i ^ distance;
        if ((access->mask >> other & 1) != 0 && access->address[i] != access->address[other]) {
            return false;
        }
    }
    return true;
}

static unsigned lanes_together(const struct sim_access *access)
{
    const unsigned lanes = access->width <= BANK_BYTES ? SIM_LANES
                                                       : SIM_LANES * BANK_BYTES / access->width;

    if (lanes == SIM_LANES || access->uses != SIM_USE_READ) {
        return lanes;
    }
    return shares_with(access, 1) || shares_with(access, 2) ? 2 * lanes : lanes;
}

/* Lanes that are neighbours and want neighbouring words in order, or all the same: no conflicts. */
static bool count_simple(const struct sim_access *access, bool takes_turns,
                         struct sim_conflicts *conflicts)
{
    if (access->shape == SIM_SHAPE_ANY || takes_turns || access->mask != SIM_FULL_MASK) {
        return false;
    }
    const bool same = access->shape == SIM_SHAPE_SAME;
    const unsigned groups = access->width <= BANK_BYTES ? 1 : access->width / BANK_BYTES;

    if (access->width > 16) {
        return false;
    }
    conflicts->wavefronts = same && access->uses == SIM_USE_READ && groups > 1 ? groups / 2
                                                                               : groups;
    conflicts->ideal = conflicts->wavefronts;
    conflicts->degree = 1;
    return true;
}

void sim_count_shared(const struct sim_access *access, struct sim_conflicts *conflicts)
{
    const bool takes_turns = access->is_atomic || access->is_async;

    *conflicts = (struct sim_conflicts){0};
    if (count_simple(access, takes_turns, conflicts)) {
        return;
    }
    if (access->width <= BANK_BYTES && count_free(access, access->mask, takes_turns, conflicts)) {
        return;
    }
    const unsigned lanes = lanes_together(access);
    const uint32_t group = lanes == SIM_LANES ? SIM_FULL_MASK : (1u << lanes) - 1;
    for (unsigned first = 0; first < SIM_LANES; first += lanes) {
        if ((access->mask & group << first) != 0) {
            count_group(access, access->mask & group << first, takes_turns, conflicts);
        }
    }
}

/* ---- cp.async past L1 -------------------------------------------------------------------------- */

#define SECTOR_BYTES 32u
#define LINE_SECTORS 4u
#define CHUNK_BYTES 16u

/*
 * Copies of 16 bytes that pass L1 by (.cg) are written as their sectors arrive: per line one wavefront
 * for its whole sectors, one for its lower halves of sectors and one for its upper halves.
 */
uint32_t sim_count_bypass(const struct sim_access *access)
{
    uint64_t line[SIM_LANES];
    uint8_t halves[SIM_LANES][LINE_SECTORS]; /* per sector: 1 lower half, 2 upper half */
    unsigned lines = 0;
    uint32_t wavefronts = 0;

    for (uint32_t left = access->mask; left != 0; left &= left - 1) {
        const uint64_t address = access->address[sim_first_lane(left)];
        const uint64_t at = address / (SECTOR_BYTES * LINE_SECTORS);
        unsigned i = 0;
        while (i < lines && line[i] != at) {
            i++;
        }
        if (i == lines) {
            line[lines++] = at;
            for (unsigned s = 0; s < LINE_SECTORS; s++) {
                halves[i][s] = 0;
            }
        }
        halves[i][address / SECTOR_BYTES % LINE_SECTORS] |=
            (uint8_t)(1u << (address / CHUNK_BYTES % 2));
    }
    for (unsigned i = 0; i < lines; i++) {
        unsigned kinds = 0;
        for (unsigned s = 0; s < LINE_SECTORS; s++) {
            kinds |= 1u << halves[i][s];
        }
        wavefronts += (unsigned)__builtin_popcount(kinds >> 1);
    }
    return wavefronts;
}

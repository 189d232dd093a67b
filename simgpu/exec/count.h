/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many transactions one warp-level access takes.
 *
 * Global memory and local memory: the distinct 32-byte sectors and 128-byte lines that the active
 * lanes touch, and as the ideal ceil(distinct bytes / 32): the fewest sectors into which the bytes
 * asked for would fit if they lay next to each other. Lanes that ask for the same bytes ask once, so
 * a broadcast is ideal with one sector; lanes that are switched off do not ask, so half a warp
 * is ideal with two. The ideal is never above the sectors touched.
 *
 * Local memory is interleaved: word w (4 bytes) of the 32 lanes of a warp is one line, lane i's at
 * byte 4 i. All lanes at the same offset touch one line per word.
 *
 * Shared memory: 32 banks of 4 bytes; a wavefront serves at most one word per bank, to any number of
 * lanes. See count_banks.c for the rules of wide accesses.
 *
 * Bytes are distinct bytes too, in global and in shared memory: that is what the counters of hardware
 * (sass_data_bytes_*) mean, although lanes x width is what one would expect.
 *
 * All widths are powers of two up to 32 and addresses are multiples of the width. The numbers are those
 * that counters give on an H200: tests/data/access_h200.txt.
 */
#ifndef SIMGPU_EXEC_COUNT_H
#define SIMGPU_EXEC_COUNT_H

#include "simgpu/exec/access.h"

/* The distinct lines of an access, each with a bit per sector: a small hash table. */
#define SIM_LINE_SLOTS 64u

struct sim_lines {
    uint64_t line[SIM_LANES];     /* address / 128 */
    uint8_t sectors[SIM_LANES];   /* bit set of 4 */
    uint64_t asked[SIM_LANES][2]; /* bit per byte of the line */
    uint8_t slot[SIM_LINE_SLOTS]; /* index + 1 */
    unsigned count;
};

struct sim_traffic {
    uint32_t sectors, ideal_sectors, lines;
    uint32_t bytes; /* distinct ones */
};

struct sim_conflicts {
    uint32_t wavefronts, ideal, degree;
};

/* `lines` is filled for SIM_SHAPE_ANY only. */
void sim_count_global(const struct sim_access *access, struct sim_lines *lines,
                      struct sim_traffic *traffic);
void sim_count_local(const struct sim_access *access, struct sim_traffic *traffic);
void sim_count_shared(const struct sim_access *access, struct sim_conflicts *conflicts);
/* Wavefronts by which a 16-byte cp.async.cg reaches shared memory; `access` is the global side. */
uint32_t sim_count_bypass(const struct sim_access *access);
/* Distinct addresses among the active lanes. */
uint32_t sim_count_addresses(const struct sim_access *access);

#endif

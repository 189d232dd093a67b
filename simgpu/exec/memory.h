/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory as kernels see it: finding what an address belongs to, checking, and counting transactions.
 *
 * Owned by one worker during a launch; merged at its end. Loads and stores of the memory family and
 * atomics go through sim_memory_resolve, so the checks and the counts stand in one place.
 */
#ifndef SIMGPU_EXEC_MEMORY_H
#define SIMGPU_EXEC_MEMORY_H

#include "simgpu/exec/warp.h"

struct sim_memory;

/* One per worker; returns NULL when the host has no memory. `map` stays the caller's. */
struct sim_memory *sim_memory_new(const struct sim_map *map, bool count);
/* Prepare for the next launch. */
int sim_memory_reset(struct sim_memory *memory, const struct sim_map *map, bool count);

/* What the workers' bitmaps say together; 0 or -ENOMEM. `footprints` is malloc'ed, the caller's. */
int sim_memory_footprints(struct sim_memory *const *memories, size_t count,
                          struct sim_footprint **footprints, size_t *footprint_count);

/* The races that the workers found together; 0 or -ENOMEM. `races` is malloc'ed, the caller's. */
int sim_memory_races(struct sim_memory *const *memories, size_t count, struct sim_race **races,
                     size_t *race_count);

/* Where storage outside global memory lies, for the memory family: kernel parameters of the launch,
 * function parameters and return values (in the frame, 32 x bytes: lane i at offset + i * bytes). */
struct sim_param_slot {
    uint32_t frame_offset;
    uint32_t bytes; /* per lane, padded to 16 */
};
/* Slot of a .param variable of the function being decoded (own parameter or return value of a
 * device function, or declared in the body for a call); NULL for a kernel's parameters. */
const struct sim_param_slot *sim_decode_param(struct sim_decoder *decoder,
                                              const struct ptx_variable *variable);
/* Offset of a kernel's parameter in the parameter block, of a .shared variable in the block's shared
 * memory, of a .local variable in the function's local memory; address of a global or constant. */
uint64_t sim_decode_offset(struct sim_decoder *decoder, const struct ptx_variable *variable);

#endif

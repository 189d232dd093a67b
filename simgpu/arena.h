/* SPDX-License-Identifier: Apache-2.0 */
/* Zeroed memory that is released all at once: of what is read from PTX, of modules, and of running blocks. */
#ifndef SIMGPU_ARENA_H
#define SIMGPU_ARENA_H

#include <stddef.h>

struct sim_chunk;

/* All zero is an empty arena. */
struct sim_arena {
    struct sim_chunk *chunks;
    unsigned char *at, *end; /* what is free of the first chunk */
};

/* `bytes` zeroed bytes, aligned for any type; NULL when there is no memory. */
void *sim_arena_alloc(struct sim_arena *arena, size_t bytes);
/* The same at a multiple of 64, as the values of a warp's lanes are read and written at once. */
void *sim_arena_alloc_lanes(struct sim_arena *arena, size_t bytes);
void sim_arena_free(struct sim_arena *arena);

#endif

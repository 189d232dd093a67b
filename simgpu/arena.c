/* SPDX-License-Identifier: Apache-2.0 */
/* An arena of chunks from calloc; what is large gets a chunk of its own. */
#include "simgpu/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { ALIGNMENT = 16, LANES = 64, CHUNK_BYTES = 64 * 1024, LARGE_BYTES = CHUNK_BYTES / 4 };

struct sim_chunk {
    struct sim_chunk *next;
    /* What it holds follows. */
};

static unsigned char *align(unsigned char *at, size_t alignment)
{
    return at + (-(uintptr_t)at & (alignment - 1));
}

static void *alloc(struct sim_arena *arena, size_t bytes, size_t alignment)
{
    if (bytes > SIZE_MAX / 2) {
        return NULL;
    }
    bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (arena->chunks != NULL) {
        unsigned char *start = align(arena->at, alignment);

        if (start <= arena->end && bytes <= (size_t)(arena->end - start)) {
            arena->at = start + bytes;
            return start;
        }
    }
    /* Behind the chunk that is being filled. */
    bool behind = bytes >= LARGE_BYTES && arena->chunks != NULL;
    size_t size = sizeof(struct sim_chunk) + alignment +
                  (behind || bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES);
    /* calloc, because large pieces that are mostly zero then cost address space only. */
    struct sim_chunk *chunk = calloc(1, size);

    if (chunk == NULL) {
        return NULL;
    }
    unsigned char *start = align((unsigned char *)(chunk + 1), alignment);
    if (behind) {
        chunk->next = arena->chunks->next;
        arena->chunks->next = chunk;
        return start;
    }
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    arena->at = start + bytes;
    arena->end = (unsigned char *)chunk + size;
    return start;
}

void *sim_arena_alloc(struct sim_arena *arena, size_t bytes)
{
    return alloc(arena, bytes, ALIGNMENT);
}

void *sim_arena_alloc_lanes(struct sim_arena *arena, size_t bytes)
{
    return alloc(arena, bytes, LANES);
}

void sim_arena_free(struct sim_arena *arena)
{
    struct sim_chunk *chunk = arena->chunks;

    while (chunk != NULL) {
        struct sim_chunk *next = chunk->next;

        free(chunk);
        chunk = next;
    }
    *arena = (struct sim_arena){0};
}

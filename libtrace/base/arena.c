/* SPDX-License-Identifier: Apache-2.0 */
/* An arena of chunks from calloc; what is large gets a chunk of its own. */
#include "libtrace/base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/base/memory_short.h"

enum { ALIGNMENT = 16, CHUNK_BYTES = 64 * 1024, LARGE_BYTES = CHUNK_BYTES / 4 };

struct gmt_arena_chunk {
    struct gmt_arena_chunk *next;
    /* What it holds follows. */
};

static unsigned char *align(unsigned char *at, size_t alignment)
{
    return at + (-(uintptr_t)at & (alignment - 1));
}

void *gmt_arena_alloc_aligned(struct gmt_arena *arena, size_t bytes, size_t alignment)
{
    if (bytes > SIZE_MAX / 2) {
        arena->failed = true;
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
    size_t size = sizeof(struct gmt_arena_chunk) + alignment +
                  (behind || bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES);
    /* calloc, because large pieces that are mostly zero then cost address space only. */
    struct gmt_arena_chunk *chunk = calloc(1, size);

    if (chunk == NULL) {
        arena->failed = true;
        gmt_memory_note_short();
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

void *gmt_arena_alloc(struct gmt_arena *arena, size_t bytes)
{
    return gmt_arena_alloc_aligned(arena, bytes, ALIGNMENT);
}

void *gmt_arena_push(struct gmt_arena *arena, void **array, size_t *count, size_t element_bytes)
{
    size_t n = *count;

    /* The capacity is the power of two at or above the count, from 4 on: no field to carry. */
    if (n == 0 || (n >= 4 && (n & (n - 1)) == 0)) {
        void *grown = gmt_arena_alloc(arena, element_bytes * (n == 0 ? 4 : 2 * n));

        if (grown == NULL) {
            return NULL;
        }
        if (n > 0) {
            memcpy(grown, *array, n * element_bytes);
        }
        *array = grown;
    }
    *count = n + 1;
    return (char *)*array + n * element_bytes;
}

void gmt_arena_free(struct gmt_arena *arena)
{
    struct gmt_arena_chunk *chunk = arena->chunks;

    while (chunk != NULL) {
        struct gmt_arena_chunk *next = chunk->next;

        free(chunk);
        chunk = next;
    }
    *arena = (struct gmt_arena){0};
}

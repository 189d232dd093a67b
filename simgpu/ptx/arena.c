/* SPDX-License-Identifier: Apache-2.0 */
/* An arena of chunks from calloc; what is large gets a chunk of its own. */
#include "simgpu/ptx/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 16, CHUNK_BYTES = 64 * 1024, LARGE_BYTES = CHUNK_BYTES / 4 };

struct ptx_chunk {
    struct ptx_chunk *next;
    size_t bytes;
    _Alignas(ALIGNMENT) unsigned char data[];
};

static struct ptx_chunk *chunk_new(size_t bytes)
{
    struct ptx_chunk *chunk;

    if (bytes > SIZE_MAX / 2) {
        return NULL;
    }
    /* calloc, because large pieces that are mostly zero then cost address space only. */
    chunk = calloc(1, sizeof(*chunk) + bytes);
    if (chunk != NULL) {
        chunk->bytes = bytes;
    }
    return chunk;
}

void *ptx_arena_alloc(struct ptx_arena *arena, size_t bytes)
{
    struct ptx_chunk *chunk = arena->chunks;

    if (bytes > SIZE_MAX / 2) {
        return NULL;
    }
    bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (bytes <= arena->left && chunk != NULL) {
        arena->left -= bytes;
        return chunk->data + (chunk->bytes - arena->left - bytes);
    }
    if (bytes >= LARGE_BYTES && chunk != NULL) {
        /* Behind the chunk that is being filled. */
        struct ptx_chunk *large = chunk_new(bytes);

        if (large == NULL) {
            return NULL;
        }
        large->next = chunk->next;
        chunk->next = large;
        return large->data;
    }
    chunk = chunk_new(bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES);
    if (chunk == NULL) {
        return NULL;
    }
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    arena->left = chunk->bytes - bytes;
    return chunk->data;
}

void ptx_arena_free(struct ptx_arena *arena)
{
    struct ptx_chunk *chunk = arena->chunks;

    while (chunk != NULL) {
        struct ptx_chunk *next = chunk->next;

        free(chunk);
        chunk = next;
    }
    *arena = (struct ptx_arena){0};
}

void *ptx_array_add(struct ptx_array *array, size_t count, size_t bytes)
{
    unsigned char *added;

    if (count > SIZE_MAX / 4 / bytes - array->count) {
        return NULL;
    }
    if (array->count + count > array->capacity) {
        size_t capacity = array->capacity < 16 ? 16 : array->capacity * 2;
        void *items;

        if (capacity < array->count + count) {
            capacity = array->count + count;
        }
        items = realloc(array->items, capacity * bytes);
        if (items == NULL) {
            return NULL;
        }
        array->items = items;
        array->capacity = capacity;
    }
    added = (unsigned char *)array->items + array->count * bytes;
    memset(added, 0, count * bytes);
    array->count += count;
    return added;
}

void ptx_array_free(struct ptx_array *array)
{
    free(array->items);
    *array = (struct ptx_array){0};
}

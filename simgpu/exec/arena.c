/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a module that is released all at once. */
#include <stdlib.h>
#include <string.h>

#include "simgpu/exec/code.h"

enum { CHUNK_BYTES = 64 << 10, ALIGN = 64 };

struct sim_chunk {
    struct sim_chunk *next;
    size_t used, bytes; /* of data */
    _Alignas(ALIGN) uint8_t data[];
};

void *sim_arena_alloc(struct sim_arena *arena, size_t bytes)
{
    struct sim_chunk *chunk = arena->chunks;

    if (bytes > SIZE_MAX / 2) {
        return NULL;
    }
    bytes = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (chunk == NULL || chunk->bytes - chunk->used < bytes) {
        const size_t size = bytes > CHUNK_BYTES ? bytes : (size_t)CHUNK_BYTES;

        if (posix_memalign((void **)&chunk, ALIGN, sizeof(*chunk) + size) != 0) {
            return NULL;
        }
        memset(chunk, 0, sizeof(*chunk) + size);
        chunk->next = arena->chunks;
        chunk->bytes = size;
        arena->chunks = chunk;
    }
    uint8_t *memory = chunk->data + chunk->used;
    chunk->used += bytes;
    return memory;
}

void sim_arena_free(struct sim_arena *arena)
{
    while (arena->chunks != NULL) {
        struct sim_chunk *next = arena->chunks->next;

        free(arena->chunks);
        arena->chunks = next;
    }
}

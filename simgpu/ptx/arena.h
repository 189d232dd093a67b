/* SPDX-License-Identifier: Apache-2.0 */
/* Zeroed memory that goes all at once, and arrays that grow while a module is read. */
#ifndef SIMGPU_PTX_ARENA_H
#define SIMGPU_PTX_ARENA_H

#include <stddef.h>

struct ptx_chunk;

/* All zero is an empty arena. */
struct ptx_arena {
    struct ptx_chunk *chunks;
    size_t left; /* bytes free at the end of the first chunk */
};

/* `bytes` zeroed bytes, aligned for any type; NULL when there is no memory. */
void *ptx_arena_alloc(struct ptx_arena *arena, size_t bytes);
void ptx_arena_free(struct ptx_arena *arena);

/* All zero is an empty array. The items move when it grows. */
struct ptx_array {
    void *items;
    size_t count, capacity;
};

/* Room for `count` more zeroed items of `bytes` bytes at the end; NULL when there is no memory. */
void *ptx_array_add(struct ptx_array *array, size_t count, size_t bytes);
void ptx_array_free(struct ptx_array *array);

#endif

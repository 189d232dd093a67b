/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of one report: a list of blocks that grow and are freed together. */
#include "libtrace/base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/base/memory_limit.h"

enum { GMT_ARENA_BLOCK_BYTES = 64 * 1024 };

struct gmt_arena_block {
    struct gmt_arena_block *next;
    size_t used, capacity;
    alignas(max_align_t) unsigned char bytes[];
};

void *gmt_arena_alloc(struct gmt_arena *arena, size_t bytes)
{
    const size_t align = alignof(max_align_t);
    struct gmt_arena_block *block = arena->blocks;

    if (bytes > SIZE_MAX / 2) {
        arena->failed = true;
        return NULL;
    }
    bytes = (bytes + align - 1) / align * align;
    if (block == NULL || block->capacity - block->used < bytes) {
        size_t capacity = bytes > GMT_ARENA_BLOCK_BYTES ? bytes : GMT_ARENA_BLOCK_BYTES;

        block = calloc(1, sizeof(*block) + capacity);
        if (block == NULL) {
            arena->failed = true;
            gmt_memory_note_short();
            return NULL;
        }
        block->capacity = capacity;
        block->next = arena->blocks;
        arena->blocks = block;
    }
    void *memory = block->bytes + block->used;
    block->used += bytes;
    return memory;
}

char *gmt_arena_copy(struct gmt_arena *arena, const char *text)
{
    return text != NULL ? gmt_arena_text(arena, "%s", text) : NULL;
}

char *gmt_arena_vtext(struct gmt_arena *arena, const char *format, va_list arguments)
{
    static char empty[1];
    va_list again;
    char *text = NULL;

    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length >= 0) {
        text = gmt_arena_alloc(arena, (size_t)length + 1);
    }
    if (text == NULL) {
        return empty;
    }
    vsnprintf(text, (size_t)length + 1, format, arguments);
    return text;
}

char *gmt_arena_text(struct gmt_arena *arena, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *text = gmt_arena_vtext(arena, format, arguments);
    va_end(arguments);
    return text;
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
    struct gmt_arena_block *block = arena->blocks;

    while (block != NULL) {
        struct gmt_arena_block *next = block->next;

        free(block);
        block = next;
    }
    *arena = (struct gmt_arena){0};
}

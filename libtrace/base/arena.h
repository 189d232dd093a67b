/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is released all at once: of a report, of what is read from PTX, of modules, and of running blocks. */
#ifndef GMT_BASE_ARENA_H
#define GMT_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct gmt_arena_chunk;

/*
 * Zero-initialize it. An allocation that fails sets `failed` and gives NULL (an empty string where
 * text was asked for), so that callers may build a whole report and check once at the end.
 */
struct gmt_arena {
    struct gmt_arena_chunk *chunks;
    unsigned char *at, *end; /* what is free of the first chunk */
    bool failed;
};

/* Zeroed memory, aligned for any type. */
void *gmt_arena_alloc(struct gmt_arena *arena, size_t bytes);
/* The same at a multiple of `alignment`, a power of two from 16 on. */
void *gmt_arena_alloc_aligned(struct gmt_arena *arena, size_t bytes, size_t alignment);
char *gmt_arena_copy(struct gmt_arena *arena, const char *text); /* NULL stays NULL */
char *gmt_arena_text(struct gmt_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *gmt_arena_vtext(struct gmt_arena *arena, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
void gmt_arena_free(struct gmt_arena *arena);

/*
 * Room for one more element in an array of the arena: the new, zeroed element, or NULL. The array
 * doubles, so pointers to earlier elements become stale.
 */
void *gmt_arena_push(struct gmt_arena *arena, void **array, size_t *count, size_t element_bytes);
#define GMT_PUSH(arena, array, count) \
    gmt_arena_push((arena), (void **)&(array), &(count), sizeof *(array))

#endif

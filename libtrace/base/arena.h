/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of one report: everything allocated from an arena is freed with it, in one call. */
#ifndef GMT_BASE_ARENA_H
#define GMT_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct gmt_arena_block;

/*
 * Zero-initialize it. An allocation that fails sets `failed` and gives NULL (an empty string where
 * text was asked for), so that callers may build a whole report and check once at the end.
 */
struct gmt_arena {
    struct gmt_arena_block *blocks;
    bool failed;
};

/* Zeroed memory, aligned for any type. */
void *gmt_arena_alloc(struct gmt_arena *arena, size_t bytes);
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

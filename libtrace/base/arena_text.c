/* SPDX-License-Identifier: Apache-2.0 */
/* Texts in an arena. */
#include <stdio.h>

#include "libtrace/base/arena.h"

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

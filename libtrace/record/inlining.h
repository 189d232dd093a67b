/* SPDX-License-Identifier: Apache-2.0 */
/* Which levels of a deep inline chain are kept. */
#ifndef GMT_RECORD_INLINING_H
#define GMT_RECORD_INLINING_H

#include <stddef.h>

#define GMT_INLINE_LEVELS 16u

/*
 * Of `count` levels, innermost first, the `shown`-th of which is the line that a user is shown: which are
 * kept, in order. What is too deep loses the functions of headers that were inlined into the line, then
 * calls in the middle; the line, its next callers and the outermost one stay. Returns how many.
 */
static inline size_t gmt_inline_pick(size_t count, size_t shown, size_t kept[GMT_INLINE_LEVELS])
{
    size_t first = count <= GMT_INLINE_LEVELS          ? 0
                   : shown < count - GMT_INLINE_LEVELS ? shown
                                                       : count - GMT_INLINE_LEVELS;
    size_t number = count - first < GMT_INLINE_LEVELS ? count - first : GMT_INLINE_LEVELS;
    for (size_t i = 0; i < number; i++) {
        kept[i] = first + i;
    }
    if (number > 0) {
        kept[number - 1] = count - 1;
    }
    return number;
}

#endif

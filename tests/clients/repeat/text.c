/* SPDX-License-Identifier: Apache-2.0 */
/* The random numbers of generated programs (splitmix64), and text that grows. */
#include "repeat/repeat.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t rng_next(struct rng *rng)
{
    uint64_t z = rng->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

unsigned rng_below(struct rng *rng, unsigned limit)
{
    return (unsigned)((rng_next(rng) >> 32) * limit >> 32);
}

void rng_fill(struct rng *rng, void *bytes, size_t count)
{
    unsigned char *out = bytes;
    for (size_t i = 0; i < count; i += sizeof(uint64_t)) {
        uint64_t word = rng_next(rng);
        memcpy(out + i, &word, count - i < sizeof word ? count - i : sizeof word);
    }
}

void text_add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0) {
        exit(4);
    }
    if (text->used + (size_t)length + 1 > text->room) {
        text->room = 2 * text->room + (size_t)length + 4096;
        text->bytes = realloc(text->bytes, text->room);
        if (text->bytes == NULL) {
            exit(4);
        }
    }
    va_start(arguments, format);
    (void)vsnprintf(text->bytes + text->used, text->room - text->used, format, arguments);
    va_end(arguments);
    text->used += (size_t)length;
}

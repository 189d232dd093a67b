/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of texts, which stay nearly right: words, numbers, statements. */
#include <ctype.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

struct work {
    uint64_t *state;
    uint8_t *data;
    size_t bytes, limit;
};

static size_t below(const struct work *work, size_t limit)
{
    return gmt_fuzz_below(work->state, limit);
}

/* Put `count` bytes in the place of `removed` bytes at `at`; what does not fit is left out. */
static void replace(struct work *work, size_t at, size_t removed, const uint8_t *with, size_t count)
{
    uint8_t piece[4096];

    if (count > sizeof(piece)) {
        count = sizeof(piece);
    }
    if (work->bytes - removed + count > work->limit) {
        return;
    }
    if (count != 0) {
        memcpy(piece, with, count); /* it may lie in what is moved */
    }
    memmove(work->data + at + count, work->data + at + removed, work->bytes - at - removed);
    memcpy(work->data + at, piece, count);
    work->bytes += count - removed;
}

static bool in_word(uint8_t c)
{
    return isalnum(c) || c == '_' || c == '$' || c == '%' || c == '.';
}

/* The word at or behind a random place; false if there is none. */
static bool find_word(const struct work *work, size_t *at, size_t *length)
{
    size_t i = below(work, work->bytes);

    while (i < work->bytes && !in_word(work->data[i])) {
        i++;
    }
    while (i > 0 && i < work->bytes && in_word(work->data[i - 1])) {
        i--;
    }
    *at = i;
    while (i < work->bytes && in_word(work->data[i])) {
        i++;
    }
    *length = i - *at;
    return *length != 0;
}

/* By another word of the same input: registers, labels, keys and variables that exist. */
static void swap_words(struct work *work)
{
    size_t from, from_length, to, to_length;

    if (find_word(work, &from, &from_length) && find_word(work, &to, &to_length)) {
        replace(work, to, to_length, work->data + from, from_length);
    }
}

static void replace_number(struct work *work)
{
    static const char *const numbers[] = {"0",
                                          "1",
                                          "-1",
                                          "2",
                                          "3",
                                          "7",
                                          "8",
                                          "15",
                                          "16",
                                          "31",
                                          "32",
                                          "33",
                                          "64",
                                          "127",
                                          "255",
                                          "256",
                                          "1023",
                                          "1024",
                                          "1025",
                                          "4096",
                                          "65535",
                                          "65536",
                                          "2147483647",
                                          "-2147483648",
                                          "4294967295",
                                          "4294967296",
                                          "9223372036854775807",
                                          "-9223372036854775808",
                                          "18446744073709551615",
                                          "0f7F800000",
                                          "0fFFC00000",
                                          "0d7FF0000000000000",
                                          "0x8000000000000000",
                                          "-1e308",
                                          "1e308",
                                          "1e-320",
                                          "1e400"};
    size_t i = below(work, work->bytes), start;
    const char *number = numbers[below(work, sizeof(numbers) / sizeof(numbers[0]))];

    while (i < work->bytes && (!isdigit(work->data[i]) || (i > 0 && in_word(work->data[i - 1])))) {
        i++;
    }
    for (start = i; i < work->bytes && isalnum(work->data[i]);) {
        i++;
    }
    if (i != start) {
        replace(work, start, i - start, (const uint8_t *)number, strlen(number));
    }
}

/* A statement: from behind a newline or semicolon to the next, that included */
static void find_statement(const struct work *work, size_t *at, size_t *length)
{
    const uint8_t *data = work->data;
    size_t end = *at;

    while (*at > 0 && data[*at - 1] != '\n' && data[*at - 1] != ';') {
        --*at;
    }
    while (end < work->bytes && data[end] != '\n' && data[end] != ';') {
        end++;
    }
    *length = (end < work->bytes ? end + 1 : end) - *at;
}

static void remove_statement(struct work *work)
{
    size_t at = below(work, work->bytes), length;

    find_statement(work, &at, &length);
    replace(work, at, length, NULL, 0);
}

/* A statement again at another place */
static void repeat_statement(struct work *work)
{
    size_t from = below(work, work->bytes), at = below(work, work->bytes), length, here;

    find_statement(work, &from, &length);
    find_statement(work, &at, &here);
    replace(work, at, 0, work->data + from, length);
}

size_t gmt_fuzz_mutate_text(uint64_t *state, uint8_t *data, size_t bytes, size_t limit)
{
    struct work work = {state, data, bytes, limit};
    size_t rounds = (size_t)1 << below(&work, 1 + below(&work, 5)); /* mostly few */

    for (size_t i = 0; i < rounds && work.bytes > 0; i++) {
        switch (below(&work, 12)) {
        case 0:
        case 1:
        case 2:
        case 3: swap_words(&work); break;
        case 4:
        case 5:
        case 6: replace_number(&work); break;
        case 7:
        case 8: repeat_statement(&work); break;
        case 9:
        case 10: remove_statement(&work); break;
        default: work.bytes = gmt_fuzz_mutate_bytes(state, data, work.bytes, limit); break;
        }
    }
    return work.bytes;
}

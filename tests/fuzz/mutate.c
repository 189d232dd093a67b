/* SPDX-License-Identifier: Apache-2.0 */
/* How the fuzzer changes inputs: bytes, numbers, words, lines, and pieces of other inputs. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

struct work {
    const struct gmt_fuzz_corpus *corpus;
    uint64_t *state;
    uint8_t *data; /* GMT_FUZZ_MAX_BYTES */
    size_t bytes;
};

uint64_t gmt_fuzz_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static size_t below(const struct work *work, size_t limit)
{
    return limit != 0 ? (size_t)(gmt_fuzz_random(work->state) % limit) : 0;
}

/* Put `count` bytes in the place of `removed` bytes at `at`; what does not fit is left out. */
static void replace(struct work *work, size_t at, size_t removed, const uint8_t *with, size_t count)
{
    uint8_t piece[4096];

    if (count > sizeof(piece))
        count = sizeof(piece);
    if (work->bytes - removed + count > GMT_FUZZ_MAX_BYTES)
        return;
    if (count != 0)
        memcpy(piece, with, count); /* it may lie in what is moved */
    memmove(work->data + at + count, work->data + at + removed, work->bytes - at - removed);
    memcpy(work->data + at, piece, count);
    work->bytes += count - removed;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static void flip_bit(struct work *work)
{
    size_t at = below(work, work->bytes);

    work->data[at] = (uint8_t)(work->data[at] ^ 1U << below(work, 8));
}

static void set_byte(struct work *work)
{
    static const uint8_t bytes[] = {0, 1, 0x7f, 0x80, 0xff, '0', '{', '}', '(', ';', ',', '%', '-'};

    work->data[below(work, work->bytes)] = bytes[below(work, sizeof(bytes))];
}

/* A length or an offset of a fat binary: aligned, an extreme value */
static void set_field(struct work *work)
{
    static const uint64_t values[] = {
        0,          1,          0x10,       0x40,           0x50, 0x7fffffff,
        0x80000000, 0xffffffff, UINT64_MAX, UINT64_MAX / 2, 4096};
    size_t width = (size_t)1 << (1 + below(work, 3));
    size_t at = below(work, work->bytes) & ~(width - 1);

    if (at + width <= work->bytes)
        memcpy(work->data + at, &values[below(work, sizeof(values) / sizeof(values[0]))], width);
}

static void remove_piece(struct work *work)
{
    size_t at = below(work, work->bytes);
    size_t most = work->bytes - at < 64 ? work->bytes - at : 64;

    replace(work, at, 1 + below(work, most), NULL, 0);
}

static void repeat_piece(struct work *work)
{
    size_t from = below(work, work->bytes);
    size_t most = work->bytes - from < 256 ? work->bytes - from : 256;

    replace(work, below(work, work->bytes), 0, work->data + from, 1 + below(work, most));
}

static void cut_off(struct work *work)
{
    work->bytes = 1 + below(work, work->bytes);
}

/* ---- text ------------------------------------------------------------------------------------ */

static bool in_word(uint8_t c)
{
    return isalnum(c) || c == '_' || c == '$' || c == '%' || c == '.';
}

/* The word at or behind a random place; false if there is none. */
static bool find_word(const struct work *work, size_t *at, size_t *length)
{
    size_t i = below(work, work->bytes);

    while (i < work->bytes && !in_word(work->data[i]))
        i++;
    while (i > 0 && i < work->bytes && in_word(work->data[i - 1]))
        i--;
    *at = i;
    while (i < work->bytes && in_word(work->data[i]))
        i++;
    *length = i - *at;
    return *length != 0;
}

static void replace_word(struct work *work)
{
    const struct gmt_fuzz_corpus *corpus = work->corpus;
    size_t at, length;

    if (corpus->word_count != 0 && find_word(work, &at, &length)) {
        const struct gmt_fuzz_input *word = &corpus->words[below(work, corpus->word_count)];

        replace(work, at, length, word->data, word->bytes);
    }
}

/* By another word of the same input: registers, labels and variables that exist. */
static void swap_words(struct work *work)
{
    size_t from, from_length, to, to_length;

    if (find_word(work, &from, &from_length) && find_word(work, &to, &to_length))
        replace(work, to, to_length, work->data + from, from_length);
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
                                          "1e400"};
    size_t i = below(work, work->bytes), start;
    const char *number = numbers[below(work, sizeof(numbers) / sizeof(numbers[0]))];

    while (i < work->bytes && (!isdigit(work->data[i]) || (i > 0 && in_word(work->data[i - 1]))))
        i++;
    for (start = i; i < work->bytes && isalnum(work->data[i]);)
        i++;
    if (i != start)
        replace(work, start, i - start, (const uint8_t *)number, strlen(number));
}

/* A statement: from behind a newline or semicolon to the next, that included */
static void find_statement(const uint8_t *data, size_t bytes, size_t *at, size_t *length)
{
    size_t end = *at;

    while (*at > 0 && data[*at - 1] != '\n' && data[*at - 1] != ';')
        --*at;
    while (end < bytes && data[end] != '\n' && data[end] != ';')
        end++;
    *length = (end < bytes ? end + 1 : end) - *at;
}

static void remove_statement(struct work *work)
{
    size_t at = below(work, work->bytes), length;

    find_statement(work->data, work->bytes, &at, &length);
    replace(work, at, length, NULL, 0);
}

/* A statement of this or another input, to another place */
static void insert_statement(struct work *work)
{
    const struct gmt_fuzz_corpus *corpus = work->corpus;
    struct gmt_fuzz_input own = {work->data, work->bytes};
    const struct gmt_fuzz_input *source = below(work, 2) == 0
                                              ? &own
                                              : &corpus->inputs[below(work, corpus->count)];
    size_t from = below(work, source->bytes), length;
    size_t at = below(work, work->bytes), here;

    if (source->bytes == 0)
        return;
    find_statement(source->data, source->bytes, &from, &length);
    find_statement(work->data, work->bytes, &at, &here);
    replace(work, at, 0, source->data + from, length);
}

typedef void (*mutation)(struct work *work);
static const mutation mutations[] = {
    /* words and statements keep a text nearly right: they come more often */
    replace_word,     replace_word,     replace_word,     swap_words,       swap_words,
    swap_words,       replace_number,   replace_number,   replace_number,   insert_statement,
    insert_statement, insert_statement, remove_statement, remove_statement, flip_bit,
    set_byte,         remove_piece,     repeat_piece,     cut_off};
static const mutation binary_mutations[] = {flip_bit,  flip_bit,     set_byte, set_field,
                                            set_field, remove_piece, cut_off,  repeat_piece};

size_t gmt_fuzz_mutate(const struct gmt_fuzz_corpus *corpus, uint64_t *state, uint8_t *out)
{
    struct work work = {.corpus = corpus, .state = state, .data = out};
    const struct gmt_fuzz_input *input = &corpus->inputs[below(&work, corpus->count)];
    bool is_text = memchr(input->data, 0, input->bytes) == NULL;
    size_t rounds = (size_t)1 << below(&work, 1 + below(&work, 4)); /* mostly few */

    memcpy(out, input->data, input->bytes);
    work.bytes = input->bytes;
    for (size_t i = 0; i < rounds && work.bytes > 0; i++) {
        if (is_text)
            mutations[below(&work, sizeof(mutations) / sizeof(mutations[0]))](&work);
        else
            binary_mutations[below(&work, sizeof(binary_mutations) / sizeof(mutation))](&work);
    }
    return work.bytes;
}

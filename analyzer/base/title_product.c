/* SPDX-License-Identifier: Apache-2.0 */
/* Titles of products of matrices, and of what is made of such: convolutions, attention. Operation, tile and type. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/base/title_words.h"

enum { DEPTH_MOST = 12, LEAST_TILE = 8 };

static bool contains(const char *text, size_t length, const char *word)
{
    size_t bytes = strlen(word);

    for (size_t i = 0; i + bytes <= length; i++) {
        if (strncasecmp(text + i, word, bytes) == 0) {
            return true;
        }
    }
    return false;
}

struct word {
    const char *word, *title;
};

/* The first that the text holds; NULL: none. */
static const char *title_of_word(const struct word *words, size_t n, const char *text,
                                 size_t length)
{
    for (size_t i = 0; i < n; i++) {
        if (contains(text, length, words[i].word)) {
            return words[i].title;
        }
    }
    return NULL;
}

/*
 * NULL: not such a kernel. Attention comes first: cuDNN calls its directions as those of convolutions. fmha_cutlassF and
 * fmha_cutlassB are PyTorch's.
 */
static const char *operation_of(const char *text, size_t length)
{
    static const char *const attention[] = {"sdpa", "flash", "fmha", "attention"};
    static const struct word directions[] = {
        {"bprop", "attention bwd"},    {"bwd", "attention bwd"},
        {"backward", "attention bwd"}, {"cutlassB_", "attention bwd"},
        {"fprop", "attention fwd"},    {"fwd", "attention fwd"},
        {"forward", "attention fwd"},  {"cutlassF_", "attention fwd"}};
    static const struct word words[] = {{"fprop", "conv fprop"},
                                        {"dgrad", "conv dgrad"},
                                        {"wgrad", "conv wgrad"},
                                        {"gemm", "gemm"},
                                        {"nvjet", "gemm"}};

    for (size_t i = 0; i < sizeof(attention) / sizeof(attention[0]); i++) {
        if (contains(text, length, attention[i])) {
            const char *title = title_of_word(
                directions, sizeof(directions) / sizeof(directions[0]), text, length);

            return title != NULL ? title : "attention";
        }
    }
    return title_of_word(words, sizeof(words) / sizeof(words[0]), text, length);
}

/* ---- names in one word: "ampere_bf16_s16816gemm_bf16_128x128_ldg8_stages_32x5_tn" --------------- */

struct token {
    const char *text;
    size_t length;
};

/* "128x64", "128x64x32": how many numbers; 0: none. */
static int numbers_of(struct token token, unsigned long numbers[3])
{
    const char *at = token.text, *end = at + token.length;
    int n = 0;

    while (n < 3 && at < end && isdigit((unsigned char)*at)) {
        char *behind = NULL;

        numbers[n++] = strtoul(at, &behind, 10);
        at = behind;
        if (at == end) {
            return n;
        }
        if (*at++ != 'x') {
            return 0;
        }
    }
    return 0;
}

static size_t split(const char *text, size_t length, struct token *tokens, size_t most)
{
    size_t n = 0, begin = 0;

    for (size_t i = 0; i <= length; i++) {
        if (i == length || text[i] == '_') {
            if (n < most && i > begin) {
                tokens[n++] = (struct token){text + begin, i - begin};
            }
            begin = i + 1;
        }
    }
    return n;
}

/* *end: the token behind it. */
static const char *flat_tile(struct gmt_arena *arena, const struct token *tokens, size_t n,
                             size_t *end)
{
    static const char word[] = "tilesize";

    for (size_t i = 0; i < n; i++) {
        struct token token = tokens[i];
        unsigned long tile[3], stages[3];

        if (token.length > sizeof(word) - 1 && memcmp(token.text, word, sizeof(word) - 1) == 0) {
            token.text += sizeof(word) - 1;
            token.length -= sizeof(word) - 1;
        }
        int count = numbers_of(token, tile);
        *end = i + 1;
        if (count == 3) {
            return gmt_arena_text(arena, "%lux%lux%lu", tile[0], tile[1], tile[2]);
        }
        if (count != 2) {
            continue;
        }
        /* The depth stands before the number of stages: beside the tile, or behind "stages". */
        for (size_t k = i + 1; k < n; k++) {
            bool named = k > 0 && tokens[k - 1].length == 6 &&
                         memcmp(tokens[k - 1].text, "stages", 6) == 0;

            if ((k == i + 1 || named) && numbers_of(tokens[k], stages) == 2) {
                *end = k == i + 1 ? k + 1 : i + 1;
                return gmt_arena_text(arena, "%lux%lux%lu", tile[0], tile[1], stages[0]);
            }
        }
        return gmt_arena_text(arena, "%lux%lu", tile[0], tile[1]);
    }
    return NULL;
}

/* "bf16", "f16f16": the type, or the first of a pair. */
static const char *exact_type(struct token token)
{
    static const struct {
        const char *word, *title;
    } types[] = {{"tf32", "tf32"}, {"bf16", "bf16"}, {"fp16", "f16"},  {"f16", "f16"},
                 {"f32", "f32"},   {"f64", "f64"},   {"s8", "i8"},     {"i8", "i8"},
                 {"u8", "u8"},     {"e4m3", "e4m3"}, {"e5m2", "e5m2"}, {"i32", "i32"}};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        size_t bytes = strlen(types[i].word);

        if (token.length < bytes || memcmp(token.text, types[i].word, bytes) != 0) {
            continue;
        }
        if (token.length == bytes ||
            exact_type((struct token){token.text + bytes, token.length - bytes}) != NULL) {
            return types[i].title;
        }
    }
    return NULL;
}

static const char *type_of_letter(char letter)
{
    switch (letter) {
    case 's': return "f32";
    case 'd': return "f64";
    case 'h': return "f16";
    case 'c': return "c64";
    case 'z': return "c128";
    default: return NULL;
    }
}

static const char *flat_type(const struct token *tokens, size_t n)
{
    const char *type = NULL, *by_letter = NULL;

    for (size_t i = 0; i < n; i++) {
        const char *exact = exact_type(tokens[i]);

        /* Products of f32 with matrix units round to tf32: that is how they are computed. */
        if (exact != NULL && strcmp(exact, "tf32") == 0) {
            return exact;
        }
        type = type != NULL ? type : exact;
        bool gemm = tokens[i].length > 4 &&
                    memcmp(tokens[i].text + tokens[i].length - 4, "gemm", 4) == 0;
        if (gemm && by_letter == NULL) {
            by_letter = type_of_letter(tokens[i].text[0]);
        }
        /* nvjet_hsh_..., nvjet_sm90_tst_...: types of A, of the sum, of the result */
        bool nvjet = i > 0 && by_letter == NULL && tokens[i].length == 3 &&
                     memcmp(tokens[0].text, "nvjet", 5) == 0;
        if (nvjet) {
            by_letter = tokens[i].text[0] == 't' ? "bf16" : type_of_letter(tokens[i].text[0]);
        }
    }
    return type != NULL ? type : by_letter;
}

/* ---- templates ---------------------------------------------------------------------------------- */

/* "128" of 128, of (int)128 and of cute::C<128>; 0: neither. */
static unsigned long constant_of(const struct gmt_name_type *type)
{
    const struct gmt_name_part *last = gmt_name_last(type);

    if (gmt_name_is(last, "C") && last->argument_count == 1) {
        type = &last->arguments[0];
    }
    return type->value ? strtoul(type->text, NULL, 10) : 0;
}

static bool is_tile(const struct gmt_name_part *part)
{
    if ((!gmt_name_is(part, "GemmShape") && !gmt_name_is(part, "tuple")) ||
        part->argument_count != 3) {
        return false;
    }
    for (size_t i = 0; i < 3; i++) {
        if (constant_of(&part->arguments[i]) < LEAST_TILE) {
            return false;
        }
    }
    return true;
}

static const struct gmt_name_part *find_tile(const struct gmt_name_type *type, int depth)
{
    for (size_t p = 0; depth < DEPTH_MOST && p < type->part_count; p++) {
        const struct gmt_name_part *part = &type->parts[p], *inner = NULL;

        if (is_tile(part)) {
            return part;
        }
        for (size_t i = 0; inner == NULL && i < part->argument_count; i++) {
            inner = find_tile(&part->arguments[i], depth + 1);
        }
        if (inner != NULL) {
            return inner;
        }
    }
    return NULL;
}

const char *gmt_title_product(struct gmt_arena *arena, const struct gmt_name_type *subject,
                              bool whole)
{
    enum { TOKENS = 32 };
    const struct gmt_name_part *last = gmt_name_last(subject);
    const char *operation = last != NULL ? operation_of(last->text, last->length) : NULL;
    struct gmt_title_types types = {0};
    const char *tile = NULL, *type = NULL, *rest = "";
    int left = 0;

    if (operation == NULL) {
        return NULL;
    }
    const struct gmt_name_part *shape = find_tile(subject, 0);
    if (shape != NULL) {
        tile = gmt_arena_text(arena, "%lux%lux%lu", constant_of(&shape->arguments[0]),
                              constant_of(&shape->arguments[1]), constant_of(&shape->arguments[2]));
        gmt_title_types_within(&types, subject, 0);
        type = types.count > 0 && !types.index_only ? types.words[0] : NULL;
    } else {
        struct token tokens[TOKENS];
        size_t n = split(last->text, last->length, tokens, TOKENS), end = n;

        tile = flat_tile(arena, tokens, n, &end);
        if (whole && end < n) {
            rest = tokens[end].text;
            left = (int)(last->text + last->length - rest);
        }
        type = flat_type(tokens, n);
    }
    if (tile == NULL) {
        return NULL;
    }
    return gmt_arena_text(arena, "%s %s%s%s%s%.*s", operation, tile, type != NULL ? " " : "",
                          type != NULL ? type : "", left > 0 ? " " : "", left, rest);
}

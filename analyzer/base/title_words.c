/* SPDX-License-Identifier: Apache-2.0 */
/* Types, operations and lambdas in titles of kernels. */
#include "analyzer/base/title_words.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { DEPTH_MOST = 12 };

static const struct {
    const char *name, *title;
    bool index; /* also what indices are */
} scalars[] = {
    {"float", "f32", false},
    {"double", "f64", false},
    {"float2", "float2", false},
    {"float4", "float4", false},
    {"double2", "double2", false},
    {"__half", "f16", false},
    {"half", "f16", false},
    {"Half", "f16", false},
    {"half_t", "f16", false},
    {"__half2", "f16", false},
    {"__nv_bfloat16", "bf16", false},
    {"nv_bfloat16", "bf16", false},
    {"BFloat16", "bf16", false},
    {"bfloat16_t", "bf16", false},
    {"tfloat32_t", "tf32", false},
    {"Float8_e4m3fn", "e4m3", false},
    {"Float8_e5m2", "e5m2", false},
    {"__nv_fp8_e4m3", "e4m3", false},
    {"__nv_fp8_e5m2", "e5m2", false},
    {"float_e4m3_t", "e4m3", false},
    {"float_e5m2_t", "e5m2", false},
    {"bool", "bool", false},
    {"signed char", "i8", false},
    {"char", "i8", false},
    {"unsigned char", "u8", false},
    {"short", "i16", false},
    {"unsigned short", "u16", false},
    {"int", "i32", true},
    {"unsigned int", "u32", true},
    {"long", "i64", true},
    {"unsigned long", "u64", true},
    {"long long", "i64", true},
    {"unsigned long long", "u64", true},
};

static int scalar_of(const struct gmt_name_type *type)
{
    const struct gmt_name_part *last = gmt_name_last(type);

    if (type->value || last == NULL || last->argument_count > 0 || last->called) {
        return -1;
    }
    for (size_t i = 0; i < sizeof(scalars) / sizeof(scalars[0]); i++) {
        if (gmt_name_is(last, scalars[i].name)) {
            return (int)i;
        }
    }
    return -1;
}

const char *gmt_title_type(const struct gmt_name_type *type)
{
    const struct gmt_name_part *last = gmt_name_last(type);
    int scalar = scalar_of(type);

    if (scalar >= 0) {
        return scalars[scalar].title;
    }
    if (gmt_name_is(last, "complex") && last->argument_count == 1) {
        scalar = scalar_of(&last->arguments[0]);
        return scalar < 0                                  ? NULL
               : strcmp(scalars[scalar].title, "f64") == 0 ? "c128"
               : strcmp(scalars[scalar].title, "f32") == 0 ? "c64"
                                                           : "c32";
    }
    return NULL;
}

static void add_type(struct gmt_title_types *types, const char *word, bool index)
{
    if (index && types->count > 0 && !types->index_only) {
        return;
    }
    if (!index && types->index_only) {
        types->count = 0;
    }
    types->index_only = index;
    for (size_t i = 0; i < types->count; i++) {
        if (strcmp(types->words[i], word) == 0) {
            return;
        }
    }
    if (types->count < GMT_TITLE_TYPES && (!index || types->count == 0)) {
        types->words[types->count++] = word;
    }
}

void gmt_title_types_add(struct gmt_title_types *types, const struct gmt_name_type *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *word = list[i].pointer ? NULL : gmt_title_type(&list[i]);
        int scalar = scalar_of(&list[i]);

        /* bool is what flags are, too: it stands for elements only where it comes first. */
        if (word != NULL && (strcmp(word, "bool") != 0 || i == 0)) {
            add_type(types, word, scalar >= 0 && scalars[scalar].index);
        }
    }
}

void gmt_title_types_within(struct gmt_title_types *types, const struct gmt_name_type *type,
                            int depth)
{
    for (size_t p = 0; depth < DEPTH_MOST && p < type->part_count; p++) {
        const struct gmt_name_part *part = &type->parts[p];

        if (gmt_name_is(part, "integral_constant")) {
            continue;
        }
        gmt_title_types_add(types, part->arguments, part->argument_count);
        for (size_t i = 0; i < part->argument_count && (types->count == 0 || types->index_only);
             i++) {
            gmt_title_types_within(types, &part->arguments[i], depth + 1);
        }
    }
}

/* ---- operations --------------------------------------------------------------------------------- */

static bool ends_with_word(const char *text, size_t length, const char *word)
{
    size_t bytes = strlen(word);

    if (length <= bytes || strncasecmp(text + length - bytes, word, bytes) != 0) {
        return false;
    }
    /* "_op", or "Op" */
    return text[length - bytes - 1] == '_' || isupper((unsigned char)text[length - bytes]);
}

/* What says how it is implemented, not what it does. */
static size_t strip_end(const char *text, size_t length)
{
    static const char *const words[] = {"kernel", "cuda", "impl", "functor", "ops",    "op",
                                        "func",   "gpu",  "f",    "wrapper", "lambda", "t"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]);) {
        bool letter = strlen(words[i]) == 1;

        if (!ends_with_word(text, length, words[i]) || (letter && text[length - 2] != '_')) {
            i++;
            continue;
        }
        length -= strlen(words[i]);
        while (length > 0 && text[length - 1] == '_') {
            length--;
        }
        i = 0;
    }
    return length;
}

static size_t strip_begin(const char *text, size_t length)
{
    static const char *const words[] = {
        "CUDAFunctorOnSelf_", "CUDAFunctorOnOther_", "CUDAFunctor_", "launch_", "cuda_", "gpu_"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t bytes = strlen(words[i]);

        if (length > bytes && memcmp(text, words[i], bytes) == 0) {
            return bytes;
        }
    }
    return 0;
}

const char *gmt_title_operation(struct gmt_arena *arena, const char *text, size_t length)
{
    /* Reserved names begin with underscores. */
    while (length > 1 && text[0] == '_') {
        text++;
        length--;
    }
    size_t begin = strip_begin(text, length), used = 0;
    size_t end = begin + strip_end(text + begin, length - begin);
    char *word = gmt_arena_alloc(arena, 2 * (end - begin) + 1);

    if (word == NULL) {
        return "";
    }
    for (size_t i = begin; i < end; i++) {
        bool upper = isupper((unsigned char)text[i]) != 0;
        bool after_lower = i > begin && (islower((unsigned char)text[i - 1]) ||
                                         isdigit((unsigned char)text[i - 1]));
        bool before_lower = i > begin && i + 1 < end && isupper((unsigned char)text[i - 1]) &&
                            islower((unsigned char)text[i + 1]);

        if (upper && (after_lower || before_lower)) {
            word[used++] = '_';
        }
        word[used++] = (char)tolower((unsigned char)text[i]);
    }
    word[used] = '\0';
    return word;
}

/* ---- lambdas ------------------------------------------------------------------------------------ */

/* nvcc passes lambdas as __nv_dl_wrapper_t<__nv_dl_tag<type, &function, number>, captures>. */
static const struct gmt_name_part *owner_of_wrapped(const struct gmt_name_type *type)
{
    const struct gmt_name_part *wrapper = gmt_name_last(type);

    if (wrapper == NULL || wrapper->argument_count == 0 ||
        !(gmt_name_is(wrapper, "__nv_dl_wrapper_t") ||
          gmt_name_is(wrapper, "__nv_hdl_wrapper_t"))) {
        return NULL;
    }
    for (size_t i = 0; i < wrapper->argument_count; i++) {
        const struct gmt_name_part *tag = gmt_name_last(&wrapper->arguments[i]);

        if (gmt_name_is(tag, "__nv_dl_tag") && tag->argument_count > 1) {
            return gmt_name_last(&tag->arguments[1]);
        }
    }
    return NULL;
}

const struct gmt_name_part *gmt_title_lambda_owner(const struct gmt_name_type *type)
{
    const struct gmt_name_part *last = gmt_name_last(type);

    if (last == NULL || !last->lambda) {
        return owner_of_wrapped(type);
    }
    for (size_t i = 0; i < type->part_count; i++) {
        const struct gmt_name_part *part = &type->parts[i];

        /* "main::{lambda(int)#1}": the parameters of a function that has no second one are left out. */
        bool before = i + 1 < type->part_count && type->parts[i + 1].lambda;

        if (part->lambda || part->anonymous || (!part->called && !before)) {
            continue;
        }
        bool of_class = i > 0 && part->length >= 8 && memcmp(part->text, "operator", 8) == 0;
        return of_class ? &type->parts[i - 1] : part;
    }
    return NULL;
}

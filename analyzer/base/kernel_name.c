/* SPDX-License-Identifier: Apache-2.0 */
/* What the name of a kernel says: what to call it, and what its parameters are. */
#include "analyzer/base/kernel_name.h"

#include <stdlib.h>
#include <string.h>

#include "libtrace/store/db/names.h"

/* End of the name proper: before the template's or the function's arguments. */
static size_t name_length(const char *name)
{
    for (size_t i = 0; name[i] != '\0'; i++) {
        if (name[i] == '<' && i > 0) {
            return i;
        }
        /* "(anonymous namespace)::kernel" goes on. */
        if (name[i] == '(' && strncmp(name + i, "(anonymous", 10) != 0) {
            return i;
        }
    }
    return strlen(name);
}

const char *gmt_short_kernel_name(struct gmt_arena *arena, const char *mangled)
{
    char *name = gmt_name_demangle(mangled);
    const char *start = name != NULL ? name : mangled;

    if (strncmp(start, "void ", 5) == 0) {
        start += 5;
    }
    const char *copy = gmt_arena_text(arena, "%.*s", (int)name_length(start), start);
    free(name);
    return copy;
}

/* The parameters of a signature: what the last pair of brackets encloses. */
static const char *parameters_of(const char *signature, const char **end)
{
    size_t length = strlen(signature);
    int depth = 0;

    if (length == 0 || signature[length - 1] != ')') {
        return NULL;
    }
    *end = signature + length - 1;
    for (const char *at = *end; at >= signature; at--) {
        depth += (*at == ')') - (*at == '(');
        if (depth == 0) {
            return at + 1;
        }
    }
    return NULL;
}

static bool ends_with(const char *start, const char *end, const char *word)
{
    size_t length = strlen(word);

    return (size_t)(end - start) >= length && memcmp(end - length, word, length) == 0;
}

/* "float const*": one star, at its end, after const. A pointer to pointers says nothing. */
static bool is_pointer_to_const(const char *start, const char *end)
{
    return ends_with(start, end, " const*") &&
           memchr(start, '*', (size_t)(end - start) - 1) == NULL;
}

bool gmt_parameter_is_const(const char *signature, int index)
{
    const char *end = NULL, *start = parameters_of(signature, &end);
    int depth = 0, at_index = 0;

    for (const char *at = start; start != NULL && at <= end; at++) {
        bool closes = at == end;

        if (!closes) {
            depth += *at == '<' || *at == '(' || *at == '[';
            depth -= *at == '>' || *at == ')' || *at == ']';
        }
        if (!closes && (*at != ',' || depth != 0)) {
            continue;
        }
        if (at_index++ == index) {
            return is_pointer_to_const(start, at);
        }
        start = at + 1;
    }
    return false;
}

/* A number, or a pointer to numbers. An unsigned long long is what a handle of a texture is. */
static bool is_plain(const char *start, const char *end)
{
    static const char *const numbers[] = {
        "bool", "char",      "signed char",  "unsigned char", "short", "unsigned short", "int",
        "long", "long long", "unsigned int", "unsigned long", "float", "double"};
    static const char *const others[] = {"__half", "__nv_bfloat16"}; /* pointers to them */
    bool pointer = ends_with(start, end, "*");

    end -= pointer;
    if (pointer && ends_with(start, end, " const")) {
        end -= strlen(" const");
    }
    size_t length = (size_t)(end - start);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        /* Arrays of words as wide as a pointer may hold pointers. */
        bool wide = strstr(numbers[i], "long") != NULL;

        if (length == strlen(numbers[i]) && memcmp(start, numbers[i], length) == 0) {
            return !pointer || !wide;
        }
    }
    for (size_t i = 0; pointer && i < sizeof(others) / sizeof(others[0]); i++) {
        if (length == strlen(others[i]) && memcmp(start, others[i], length) == 0) {
            return true;
        }
    }
    return false;
}

bool gmt_parameters_are_plain(const char *signature)
{
    const char *end = NULL, *start = signature != NULL ? parameters_of(signature, &end) : NULL;

    if (start == NULL) {
        return false;
    }
    if (start == end) {
        return true;
    }
    for (const char *at = start; at <= end; at++) {
        if (at != end && *at != ',') {
            continue;
        }
        if (!is_plain(start, at)) {
            return false;
        }
        start = at + 1;
        while (start < end && *start == ' ') {
            start++;
        }
    }
    return true;
}

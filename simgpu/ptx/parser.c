/* SPDX-License-Identifier: Apache-2.0 */
/* What all parts of the parser use: its first error, and memory of the module. */
#include "simgpu/ptx/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- errors ---------------------------------------------------------------------------------- */

static void fail(struct ptx_parser *parser, uint32_t line, const char *format, va_list arguments)
{
    if (parser->failed) {
        return;
    }
    parser->failed = true;
    parser->token.kind = PTX_TOKEN_END;
    parser->error->line = line;
    vsnprintf(parser->error->text, sizeof(parser->error->text), format, arguments);
}

void ptx_fail(struct ptx_parser *parser, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fail(parser, parser->token.line, format, arguments);
    va_end(arguments);
}

void ptx_fail_at(struct ptx_parser *parser, uint32_t line, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fail(parser, line, format, arguments);
    va_end(arguments);
}

void ptx_fail_unexpected(struct ptx_parser *parser, const char *expected)
{
    const struct ptx_token *token = &parser->token;

    if (token->kind == PTX_TOKEN_END) {
        ptx_fail(parser, "unexpected end of the text, expected %s", expected);
    } else if (token->kind == PTX_TOKEN_STRING) {
        ptx_fail(parser, "unexpected string, expected %s", expected);
    } else {
        ptx_fail(parser, "unexpected '%.*s', expected %s",
                 (int)(token->end - token->at > 100 ? 100 : token->end - token->at),
                 parser->module->text + token->at, expected);
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

void *ptx_alloc(struct ptx_parser *parser, size_t count, size_t bytes)
{
    size_t all;
    void *memory = NULL;

    if (parser->failed) {
        return NULL;
    }
    if (!__builtin_mul_overflow(count, bytes, &all)) {
        memory = gmt_arena_alloc(&parser->store->arena, all);
    }
    if (memory == NULL) {
        ptx_fail(parser, "out of memory");
    }
    return memory;
}

void *ptx_add(struct ptx_parser *parser, struct ptx_array *array, size_t count, size_t bytes)
{
    void *added;

    if (parser->failed) {
        return NULL;
    }
    added = array->count < UINT32_MAX - count ? ptx_array_add(array, count, bytes) : NULL;
    if (added == NULL) {
        ptx_fail(parser, "out of memory");
    }
    return added;
}

void *ptx_settle(struct ptx_parser *parser, struct ptx_array *array, size_t bytes)
{
    void *copy = array->count != 0 ? ptx_alloc(parser, array->count, bytes) : NULL;

    if (copy != NULL) {
        memcpy(copy, array->items, array->count * bytes);
    }
    return copy;
}

struct ptx_atom *ptx_intern(struct ptx_parser *parser, const char *text, size_t length)
{
    struct ptx_atom *atom = ptx_names_add(&parser->store->names, text, length);

    if (atom == NULL) {
        ptx_fail(parser, "out of memory");
    }
    return atom;
}

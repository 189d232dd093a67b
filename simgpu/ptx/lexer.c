/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts PTX text into tokens. The text ends with a NUL, which no token contains. */
#include "simgpu/ptx/lexer.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/ptx/parser.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool in_word(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}

static void skip_comment(struct ptx_parser *parser)
{
    const char *text = parser->module->text;

    if (text[parser->cursor + 1] == '/') {
        while (text[parser->cursor] != '\n' && text[parser->cursor] != '\0') {
            parser->cursor++;
        }
        return;
    }
    parser->cursor += 2;
    while (text[parser->cursor] != '\0' &&
           (text[parser->cursor] != '*' || text[parser->cursor + 1] != '/')) {
        parser->line += text[parser->cursor++] == '\n';
    }
    if (text[parser->cursor] == '\0') {
        ptx_fail_at(parser, parser->line, "comment without end");
    } else {
        parser->cursor += 2;
    }
}

static void skip_blanks(struct ptx_parser *parser)
{
    const char *text = parser->module->text;

    while (!parser->failed) {
        char c = text[parser->cursor];

        if (c == '/' && (text[parser->cursor + 1] == '/' || text[parser->cursor + 1] == '*')) {
            skip_comment(parser);
        } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
            parser->line += c == '\n';
            parser->cursor++;
        } else {
            break;
        }
    }
}

static unsigned digit_of(char c)
{
    if (is_digit(c)) {
        return (unsigned)(c - '0');
    }
    if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) {
        return (unsigned)(c | 0x20) - 'a' + 10;
    }
    return 16;
}

/* Digits of `base` from the cursor on; returns how many. */
static unsigned read_digits(struct ptx_parser *parser, unsigned base)
{
    const char *text = parser->module->text;
    unsigned count = 0;
    uint64_t value = 0;

    for (unsigned digit; (digit = digit_of(text[parser->cursor])) < base; parser->cursor++) {
        if (__builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value)) {
            ptx_fail_at(parser, parser->line, "integer is more than 64 bits wide");
            break;
        }
        count++;
    }
    parser->token.bits = value;
    return count;
}

static void read_decimal_float(struct ptx_parser *parser)
{
    const char *text = parser->module->text + parser->token.at;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    char *end = NULL;
    double value;

    /* The program that is traced may have set a locale with a decimal comma. */
    value = plain != (locale_t)0 ? strtod_l(text, &end, plain) : strtod(text, &end);
    if (plain != (locale_t)0) {
        freelocale(plain);
    }
    memcpy(&parser->token.bits, &value, sizeof(value));
    parser->token.kind = PTX_TOKEN_FLOAT;
    parser->cursor = (uint32_t)(end - parser->module->text);
}

/* 0f3F800000 and 0d3FF0000000000000 */
static void read_exact_float(struct ptx_parser *parser, unsigned digits)
{
    parser->cursor += 2;
    if (read_digits(parser, 16) != digits) {
        ptx_fail_at(parser, parser->line, "0%c takes %u hexadecimal digits",
                    digits == 8 ? 'f' : 'd', digits);
    }
    parser->token.kind = PTX_TOKEN_FLOAT;
    parser->token.is_float32 = digits == 8;
}

static void read_based(struct ptx_parser *parser, unsigned base)
{
    parser->cursor += 2;
    if (read_digits(parser, base) == 0) {
        ptx_fail_at(parser, parser->line, "number without digits");
    }
}

static bool is_decimal_float(const char *text)
{
    while (is_digit(*text)) {
        text++;
    }
    return *text == '.' || *text == 'e' || *text == 'E';
}

static void read_number(struct ptx_parser *parser)
{
    const char *text = parser->module->text + parser->cursor;
    char second = (char)(text[0] == '0' ? text[1] | 0x20 : '\0');

    parser->token.kind = PTX_TOKEN_INTEGER;
    if (second == 'f') {
        read_exact_float(parser, 8);
    } else if (second == 'd') {
        read_exact_float(parser, 16);
    } else if (second == 'x') {
        read_based(parser, 16);
    } else if (second == 'b') {
        read_based(parser, 2);
    } else if (is_decimal_float(text)) {
        read_decimal_float(parser);
    } else {
        read_digits(parser, text[0] == '0' ? 8 : 10);
    }
    if (parser->token.kind == PTX_TOKEN_INTEGER) {
        parser->token.is_unsigned = parser->token.bits >> 63 != 0;
        if (parser->module->text[parser->cursor] == 'U') {
            parser->token.is_unsigned = true;
            parser->cursor++;
        }
    }
    if (in_word(parser->module->text[parser->cursor])) {
        ptx_fail_at(parser, parser->line, "a number does not contain '%c'",
                    parser->module->text[parser->cursor]);
    }
}

static void read_word(struct ptx_parser *parser, bool dotted)
{
    const char *text = parser->module->text;
    uint32_t start = dotted ? ++parser->cursor : parser->cursor++;

    while (in_word(text[parser->cursor]) ||
           (dotted && text[parser->cursor] == ':' && text[parser->cursor + 1] == ':' &&
            in_word(text[parser->cursor + 2]))) {
        /* .L2::cache_hint is one word */
        parser->cursor += text[parser->cursor] == ':' ? 3 : 1;
    }
    parser->token.kind = dotted ? PTX_TOKEN_DOT : PTX_TOKEN_WORD;
    parser->token.atom = ptx_intern(parser, text + start, parser->cursor - start);
}

static void read_string(struct ptx_parser *parser)
{
    const char *text = parser->module->text;
    uint32_t start = ++parser->cursor;

    while (text[parser->cursor] != '"' && text[parser->cursor] != '\n' &&
           text[parser->cursor] != '\0') {
        parser->cursor += text[parser->cursor] == '\\' && text[parser->cursor + 1] == '"' ? 2 : 1;
    }
    if (text[parser->cursor] != '"') {
        ptx_fail_at(parser, parser->line, "string without end");
        return;
    }
    parser->token.kind = PTX_TOKEN_STRING;
    parser->token.atom = ptx_intern(parser, text + start, parser->cursor - start);
    parser->cursor++;
}

static void read_mark(struct ptx_parser *parser)
{
    static const char doubles[][2] = {{'<', '<'}, {'>', '>'}, {'<', '='}, {'>', '='},
                                      {'=', '='}, {'!', '='}, {'&', '&'}, {'|', '|'}};
    const char *text = parser->module->text + parser->cursor;

    if (text[0] == '\0' || strchr("{}[]()<>,;:@!|+-*/%&^~=?", text[0]) == NULL) {
        if (text[0] > ' ' && text[0] <= '~') {
            ptx_fail_at(parser, parser->line, "unexpected character '%c'", text[0]);
        } else {
            ptx_fail_at(parser, parser->line, "unexpected byte 0x%02x", (unsigned char)text[0]);
        }
        return;
    }
    parser->token.kind = PTX_TOKEN_MARK;
    parser->token.mark = (uint32_t)text[0];
    parser->cursor++;
    for (size_t i = 0; i < sizeof(doubles) / sizeof(doubles[0]); i++) {
        if (text[0] == doubles[i][0] && text[1] == doubles[i][1]) {
            parser->token.mark = PTX_MARK2(text[0], text[1]);
            parser->cursor++;
            return;
        }
    }
}

static void read_token(struct ptx_parser *parser)
{
    const char *text = parser->module->text + parser->cursor;

    if (text[0] == '.' && is_digit(text[1]) && (parser->cursor == 0 || !in_word(text[-1]))) {
        read_decimal_float(parser);
    } else if (text[0] == '.' && in_word(text[1])) {
        read_word(parser, true);
    } else if (is_digit(text[0])) {
        read_number(parser);
    } else if (is_letter(text[0]) || text[0] == '_' ||
               ((text[0] == '$' || text[0] == '%') && in_word(text[1]))) {
        read_word(parser, false);
    } else if (text[0] == '"') {
        read_string(parser);
    } else {
        read_mark(parser);
    }
}

void ptx_next(struct ptx_parser *parser)
{
    skip_blanks(parser);
    parser->token = (struct ptx_token){.at = parser->cursor, .line = parser->line};
    if (!parser->failed && parser->cursor < parser->module->text_bytes) {
        read_token(parser);
    }
    parser->token.end = parser->cursor;
    if (parser->failed) {
        parser->token.kind = PTX_TOKEN_END;
    }
}

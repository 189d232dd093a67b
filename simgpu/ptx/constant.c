/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constant expressions: 64-bit integers, signed unless something in them is unsigned, and doubles.
 * Source: PTX ISA 9.0, "Constant expressions", with its rules for types of results.
 */
#include <string.h>

#include "simgpu/ptx/parser.h"

static struct ptx_value integer(uint64_t bits, bool is_unsigned)
{
    return (struct ptx_value){.bits = bits, .is_unsigned = is_unsigned};
}

static struct ptx_value real(double value)
{
    struct ptx_value result = {.is_float = true};

    memcpy(&result.bits, &value, sizeof(value));
    return result;
}

double ptx_value_double(const struct ptx_value *value)
{
    double wide;
    float narrow;

    if (!value->is_float) {
        return value->is_unsigned ? (double)value->bits : (double)(int64_t)value->bits;
    }
    if (value->is_float32) {
        memcpy(&narrow, &value->bits, sizeof(narrow));
        return (double)narrow;
    }
    memcpy(&wide, &value->bits, sizeof(wide));
    return wide;
}

static bool is_true(const struct ptx_value *value)
{
    return value->is_float ? ptx_value_double(value) != 0.0 : value->bits != 0;
}

/* Operators of two operands: OPERATOR(mark, precedence, takes floats) */
#define OPERATORS(OPERATOR) \
    OPERATOR(PTX_MARK2('|', '|'), 1, true) \
    OPERATOR(PTX_MARK2('&', '&'), 2, true) \
    OPERATOR('|', 3, false) \
    OPERATOR('^', 4, false) \
    OPERATOR('&', 5, false) \
    OPERATOR(PTX_MARK2('=', '='), 6, true) \
    OPERATOR(PTX_MARK2('!', '='), 6, true) \
    OPERATOR('<', 7, true) \
    OPERATOR('>', 7, true) \
    OPERATOR(PTX_MARK2('<', '='), 7, true) \
    OPERATOR(PTX_MARK2('>', '='), 7, true) \
    OPERATOR(PTX_MARK2('<', '<'), 8, false) \
    OPERATOR(PTX_MARK2('>', '>'), 8, false) \
    OPERATOR('+', 9, true) \
    OPERATOR('-', 9, true) \
    OPERATOR('*', 10, true) \
    OPERATOR('/', 10, true) \
    OPERATOR('%', 10, false)

struct operator_row {
    uint32_t mark;
    unsigned precedence;
    bool takes_floats;
};
#define OPERATOR_ROW(mark_, precedence_, floats) {mark_, precedence_, floats},
static const struct operator_row operators[] = {OPERATORS(OPERATOR_ROW)};

static const struct operator_row *operator_here(struct ptx_parser *parser)
{
    /* "7 %r" and "7 %3": where an operator is due, the lexer's word begins with one. */
    if (parser->token.kind == PTX_TOKEN_WORD && parser->token.atom->text[0] == '%') {
        parser->cursor = parser->token.at + 1;
        parser->token.kind = PTX_TOKEN_MARK;
        parser->token.mark = '%';
    }
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        if (ptx_at_mark(parser, operators[i].mark)) {
            return &operators[i];
        }
    }
    return NULL;
}

static struct ptx_value float_result(uint32_t mark, double a, double b)
{
    switch (mark) {
    case '+': return real(a + b);
    case '-': return real(a - b);
    case '*': return real(a * b);
    case '/': return real(a / b);
    case '<': return integer(a < b, false);
    case '>': return integer(a > b, false);
    case PTX_MARK2('<', '='): return integer(a <= b, false);
    case PTX_MARK2('>', '='): return integer(a >= b, false);
    case PTX_MARK2('=', '='): return integer(a == b, false);
    case PTX_MARK2('!', '='): return integer(a != b, false);
    case PTX_MARK2('&', '&'): return integer(a != 0.0 && b != 0.0, false);
    default: return integer(a != 0.0 || b != 0.0, false);
    }
}

static uint64_t divide(struct ptx_parser *parser, uint32_t mark, uint64_t a, uint64_t b,
                       bool is_unsigned)
{
    if (b == 0) {
        ptx_fail(parser, "division by zero in a constant");
        return 0;
    }
    if (is_unsigned) {
        return mark == '/' ? a / b : a % b;
    }
    if (b == UINT64_MAX) { /* by -1: INT64_MIN would trap */
        return mark == '/' ? 0 - a : 0;
    }
    return (uint64_t)(mark == '/' ? (int64_t)a / (int64_t)b : (int64_t)a % (int64_t)b);
}

static uint64_t shift(uint32_t mark, struct ptx_value a, uint64_t by)
{
    if (mark == PTX_MARK2('<', '<')) {
        return by > 63 ? 0 : a.bits << by;
    }
    if (a.is_unsigned) {
        return by > 63 ? 0 : a.bits >> by;
    }
    return (uint64_t)((int64_t)a.bits >> (by > 63 ? 63 : by));
}

static bool compare(uint32_t mark, uint64_t a, uint64_t b, bool is_unsigned)
{
    bool less = is_unsigned ? a < b : (int64_t)a < (int64_t)b;

    switch (mark) {
    case '<': return less;
    case '>': return !less && a != b;
    case PTX_MARK2('<', '='): return less || a == b;
    case PTX_MARK2('>', '='): return !less;
    case PTX_MARK2('=', '='): return a == b;
    case PTX_MARK2('!', '='): return a != b;
    case PTX_MARK2('&', '&'): return a != 0 && b != 0;
    default: return a != 0 || b != 0;
    }
}

static struct ptx_value integer_result(struct ptx_parser *parser, uint32_t mark, struct ptx_value a,
                                       struct ptx_value b)
{
    bool is_unsigned = a.is_unsigned || b.is_unsigned;

    switch (mark) {
    case '+': return integer(a.bits + b.bits, is_unsigned);
    case '-': return integer(a.bits - b.bits, is_unsigned);
    case '*': return integer(a.bits * b.bits, is_unsigned);
    case '/':
    case '%': return integer(divide(parser, mark, a.bits, b.bits, is_unsigned), is_unsigned);
    case '&': return integer(a.bits & b.bits, is_unsigned);
    case '|': return integer(a.bits | b.bits, is_unsigned);
    case '^': return integer(a.bits ^ b.bits, is_unsigned);
    case PTX_MARK2('<', '<'):
    case PTX_MARK2('>', '>'): return integer(shift(mark, a, b.bits), a.is_unsigned);
    default: return integer(compare(mark, a.bits, b.bits, is_unsigned), false);
    }
}

static struct ptx_value conditional(struct ptx_parser *parser);

static struct ptx_value literal(struct ptx_parser *parser)
{
    const struct ptx_token *token = &parser->token;
    struct ptx_value value = {.bits = token->bits};

    if (token->kind == PTX_TOKEN_INTEGER) {
        value.is_unsigned = token->is_unsigned;
    } else if (token->kind == PTX_TOKEN_FLOAT) {
        value.is_float = true;
        value.is_float32 = token->is_float32;
    } else if (token->kind == PTX_TOKEN_WORD && strcmp(token->atom->text, "WARP_SZ") == 0) {
        value.bits = 32;
    } else {
        ptx_fail_unexpected(parser, "a constant");
        return value;
    }
    ptx_next(parser);
    return value;
}

/* (.s64) and (.u64) before an operand; false if a parenthesis opens an expression. */
static bool cast(struct ptx_parser *parser, struct ptx_value *value)
{
    bool to_unsigned;

    if (parser->token.kind != PTX_TOKEN_DOT) {
        return false;
    }
    to_unsigned = parser->token.atom->type == PTX_U64;
    if (!to_unsigned && parser->token.atom->type != PTX_S64) {
        ptx_fail_unexpected(parser, ".s64 or .u64");
    }
    ptx_next(parser);
    ptx_expect(parser, ')');
    *value = ptx_constant_term(parser);
    if (value->is_float) {
        ptx_fail(parser, "a float cannot be cast to an integer");
    }
    value->is_unsigned = to_unsigned;
    return true;
}

static struct ptx_value negate(struct ptx_value value)
{
    if (value.is_float) {
        value.bits ^= value.is_float32 ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
    } else {
        value.bits = 0 - value.bits;
    }
    return value;
}

static struct ptx_value term(struct ptx_parser *parser)
{
    struct ptx_value value;

    if (ptx_accept(parser, '+')) {
        return ptx_constant_term(parser);
    }
    if (ptx_accept(parser, '-')) {
        return negate(ptx_constant_term(parser));
    }
    if (ptx_accept(parser, '!')) {
        value = ptx_constant_term(parser);
        return integer(!is_true(&value), false);
    }
    if (ptx_accept(parser, '~')) {
        value = ptx_constant_term(parser);
        if (value.is_float) {
            ptx_fail(parser, "'~' does not apply to a float");
        }
        value.bits = ~value.bits;
        return value;
    }
    if (ptx_accept(parser, '(')) {
        if (!cast(parser, &value)) {
            value = conditional(parser);
            ptx_expect(parser, ')');
        }
        return value;
    }
    return literal(parser);
}

struct ptx_value ptx_constant_term(struct ptx_parser *parser)
{
    struct ptx_value value = {0};

    if (parser->nesting == PTX_MAX_NESTING) {
        ptx_fail(parser, "constant nested more than %u deep", PTX_MAX_NESTING);
        return value;
    }
    parser->nesting++;
    value = term(parser);
    parser->nesting--;
    return value;
}

/* Operators that bind at least as tightly as `precedence`. */
static struct ptx_value binary(struct ptx_parser *parser, unsigned precedence)
{
    struct ptx_value left = ptx_constant_term(parser);
    const struct operator_row *row;

    while ((row = operator_here(parser)) != NULL && row->precedence >= precedence) {
        struct ptx_value right;

        ptx_next(parser);
        right = binary(parser, row->precedence + 1);
        if (!left.is_float && !right.is_float) {
            left = integer_result(parser, row->mark, left, right);
        } else if (row->takes_floats) {
            left = float_result(row->mark, ptx_value_double(&left), ptx_value_double(&right));
        } else {
            ptx_fail(parser, "operator does not apply to floats");
        }
    }
    return left;
}

static struct ptx_value conditional(struct ptx_parser *parser)
{
    struct ptx_value value = binary(parser, 1), chosen, other;

    if (!ptx_accept(parser, '?')) {
        return value;
    }
    if (parser->nesting == PTX_MAX_NESTING) {
        ptx_fail(parser, "constant nested more than %u deep", PTX_MAX_NESTING);
        return value;
    }
    parser->nesting++;
    chosen = conditional(parser);
    ptx_expect(parser, ':');
    other = conditional(parser);
    parser->nesting--;
    return is_true(&value) ? chosen : other;
}

struct ptx_value ptx_constant(struct ptx_parser *parser)
{
    return conditional(parser);
}

uint64_t ptx_constant_unsigned(struct ptx_parser *parser, uint64_t most, const char *what)
{
    struct ptx_value value = ptx_constant(parser);

    if (value.is_float || value.bits > most) {
        ptx_fail(parser, "%s must be an integer from 0 to %llu", what, (unsigned long long)most);
        return 0;
    }
    return value.bits;
}

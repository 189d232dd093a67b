/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations of registers: names, ranges, vectors. Registers are made when they are first used. */
#include "simgpu/ptx/parser.h"

static void declare_register(struct ptx_parser *parser, enum ptx_type type, unsigned width)
{
    struct ptx_atom *name = ptx_expect_word(parser, "a register's name");
    bool is_range = ptx_accept(parser, '<');
    struct ptx_symbol *symbol = ptx_declare(parser, name,
                                            is_range ? PTX_SYMBOL_RANGE : PTX_SYMBOL_REGISTER);
    uint32_t count = 1;

    if (is_range) {
        struct ptx_value value = ptx_constant_term(parser);

        if (value.is_float || value.bits > PTX_MAX_RANGE) {
            ptx_fail(parser, "a range has at most %u registers", PTX_MAX_RANGE);
        }
        count = (uint32_t)value.bits;
        ptx_expect(parser, '>');
    }
    if (symbol == NULL) {
        return;
    }
    symbol->reg.index = PTX_NO_REGISTER;
    symbol->reg.count = count;
    symbol->reg.type = type;
    symbol->reg.width = (uint8_t)width;
}

/* .reg .v4 .f32 a, b, %v<10>; */
void ptx_parse_registers(struct ptx_parser *parser)
{
    enum ptx_type type = PTX_NO_TYPE;
    unsigned width = 1;

    ptx_next(parser);
    while (parser->token.kind == PTX_TOKEN_DOT) {
        enum ptx_keyword keyword = ptx_keyword_here(parser);

        if (keyword == PTX_KEYWORD_align) {
            ptx_next(parser);
            ptx_constant_unsigned(parser, PTX_MAX_ALIGN, "alignment");
            continue;
        }
        if (keyword == PTX_KEYWORD_v2 || keyword == PTX_KEYWORD_v4) {
            width = keyword == PTX_KEYWORD_v2 ? 2 : 4;
        } else if (parser->token.atom->type != PTX_NO_TYPE && type == PTX_NO_TYPE) {
            type = (enum ptx_type)parser->token.atom->type;
        } else {
            ptx_fail_unexpected(parser, "a type");
            return;
        }
        ptx_next(parser);
    }
    if (type == PTX_NO_TYPE) {
        ptx_fail_unexpected(parser, "a type");
    }
    if (width > 1 && (type == PTX_PRED || ptx_types[type].bytes * width > 16)) {
        ptx_fail(parser, "a vector has at most 16 bytes and no predicates");
    }
    do {
        declare_register(parser, type, width);
    } while (ptx_accept(parser, ','));
    ptx_expect(parser, ';');
}

void ptx_declare_register_param(struct ptx_parser *parser, struct ptx_variable *variable,
                                struct ptx_atom *name)
{
    struct ptx_symbol *symbol = ptx_declare(parser, name, PTX_SYMBOL_REGISTER);

    if (symbol == NULL) {
        return;
    }
    symbol->reg.index = PTX_NO_REGISTER;
    symbol->reg.count = 1;
    symbol->reg.type = variable->type;
    symbol->reg.width = 1;
    variable->index = ptx_register_index(parser, symbol, 0);
}

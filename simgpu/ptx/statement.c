/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of functions: labels, declarations, instructions. */
#include <string.h>

#include "simgpu/ptx/parser.h"

static void parse_guard(struct ptx_parser *parser, struct ptx_instruction *instruction)
{
    struct ptx_atom *name;
    struct ptx_symbol *symbol;

    ptx_next(parser);
    instruction->guarded = true;
    instruction->guard_negated = ptx_accept(parser, '!');
    name = ptx_expect_word(parser, "a predicate");
    symbol = name != NULL ? ptx_resolve(parser, name) : NULL;
    if (parser->failed) {
        return;
    }
    if (symbol == NULL || symbol->kind != PTX_SYMBOL_REGISTER || symbol->reg.type != PTX_PRED) {
        ptx_fail(parser, "'%.100s' is not a predicate register", name->text);
        return;
    }
    instruction->guard = ptx_register_index(parser, symbol, 0);
}

static void parse_modifiers(struct ptx_parser *parser, struct ptx_instruction *instruction)
{
    parser->modifiers.count = 0;
    while (parser->token.kind == PTX_TOKEN_DOT) {
        const char **modifier = ptx_add(parser, &parser->modifiers, 1, sizeof(const char *));

        if (modifier != NULL) {
            *modifier = parser->token.atom->text;
        }
        ptx_next(parser);
    }
    instruction->modifier_count = (uint32_t)parser->modifiers.count;
    instruction->modifiers = ptx_settle(parser, &parser->modifiers, sizeof(const char *));
}

/* The rest of an instruction whose opcode was read. */
static void parse_instruction(struct ptx_parser *parser, struct ptx_instruction *instruction,
                              const struct ptx_atom *opcode)
{
    size_t first = parser->operands.count;
    struct ptx_instruction *place;

    instruction->opcode = opcode->text;
    instruction->loc = parser->loc;
    parse_modifiers(parser, instruction);
    if (strcmp(opcode->text, "call") == 0) {
        ptx_parse_call(parser);
    } else {
        ptx_parse_operands(parser, instruction);
    }
    instruction->text_bytes = parser->token.end - instruction->text_offset;
    instruction->operand_count = (uint32_t)(parser->operands.count - first);
    instruction->operands = ptx_commit_operands(parser, first);
    ptx_expect(parser, ';');
    place = ptx_add(parser, &parser->instructions, 1, sizeof(*place));
    if (place != NULL) {
        *place = *instruction;
    }
}

static void parse_guarded(struct ptx_parser *parser)
{
    struct ptx_instruction instruction = {.line = parser->token.line,
                                          .text_offset = parser->token.at};
    struct ptx_atom *opcode;

    parse_guard(parser, &instruction);
    opcode = ptx_expect_word(parser, "an instruction");
    if (opcode != NULL) {
        parse_instruction(parser, &instruction, opcode);
    }
}

/* "name:" or an instruction */
static void parse_labelled(struct ptx_parser *parser)
{
    struct ptx_instruction instruction = {.line = parser->token.line,
                                          .text_offset = parser->token.at};
    struct ptx_atom *word = parser->token.atom;
    struct ptx_symbol *symbol;

    ptx_next(parser);
    if (!ptx_accept(parser, ':')) {
        parse_instruction(parser, &instruction, word);
        return;
    }
    switch (ptx_keyword_here(parser)) {
    case PTX_KEYWORD_branchtargets:
    case PTX_KEYWORD_calltargets:
    case PTX_KEYWORD_callprototype: ptx_parse_table(parser, word); return;
    default: break;
    }
    symbol = ptx_declare(parser, word, PTX_SYMBOL_LABEL);
    if (symbol != NULL) {
        symbol->label = (uint32_t)parser->instructions.count;
    }
}

static void parse_directive(struct ptx_parser *parser)
{
    switch (ptx_keyword_here(parser)) {
    case PTX_KEYWORD_reg: ptx_parse_registers(parser); break;
    case PTX_KEYWORD_loc: ptx_parse_loc(parser); break;
    case PTX_KEYWORD_file: ptx_parse_file(parser); break;
    case PTX_KEYWORD_param:
    case PTX_KEYWORD_local:
    case PTX_KEYWORD_shared:
    case PTX_KEYWORD_global:
    case PTX_KEYWORD_const: ptx_parse_variables(parser, &(struct ptx_linkage){0}); break;
    case PTX_KEYWORD_extern:
        ptx_next(parser);
        if (ptx_keyword_here(parser) == PTX_KEYWORD_shared) {
            ptx_parse_variables(parser, &(struct ptx_linkage){.is_external = true});
        } else {
            ptx_fail_unexpected(parser, ".shared");
        }
        break;
    case PTX_KEYWORD_pragma:
        while (!parser->failed && !ptx_at_mark(parser, ';') &&
               parser->token.kind != PTX_TOKEN_END) {
            ptx_next(parser);
        }
        ptx_expect(parser, ';');
        break;
    default: ptx_fail_unexpected(parser, "a directive of function bodies");
    }
}

void ptx_parse_body(struct ptx_parser *parser)
{
    unsigned depth = 1;

    while (!parser->failed) {
        if (ptx_accept(parser, '{')) {
            ptx_scope_open(parser);
            depth++;
        } else if (ptx_at_mark(parser, '}')) {
            ptx_scope_close(parser);
            ptx_next(parser);
            if (--depth == 0) {
                return;
            }
        } else if (ptx_at_mark(parser, '@')) {
            parse_guarded(parser);
        } else if (parser->token.kind == PTX_TOKEN_WORD) {
            parse_labelled(parser);
        } else if (parser->token.kind == PTX_TOKEN_DOT) {
            parse_directive(parser);
        } else if (!ptx_accept(parser, ';')) {
            ptx_fail_unexpected(parser, "an instruction, a label or '}'");
        }
    }
}

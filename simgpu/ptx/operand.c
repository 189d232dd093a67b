/* SPDX-License-Identifier: Apache-2.0 */
/* Operands of instructions. */
#include <string.h>

#include "simgpu/ptx/parser.h"

struct ptx_operand *ptx_push_operand(struct ptx_parser *parser, enum ptx_operand_kind kind)
{
    struct ptx_operand *operand = ptx_add(parser, &parser->operands, 1, sizeof(*operand));

    if (operand != NULL) {
        operand->kind = kind;
    }
    return operand;
}

struct ptx_operand *ptx_commit_operands(struct ptx_parser *parser, size_t first)
{
    size_t count = parser->operands.count - first;
    struct ptx_operand *operands = count != 0 && !parser->failed
                                       ? ptx_alloc(parser, count, sizeof(*operands))
                                       : NULL;

    parser->operands.count = first;
    if (operands == NULL) {
        return NULL;
    }
    memcpy(operands, (struct ptx_operand *)parser->operands.items + first,
           count * sizeof(*operands));
    for (size_t i = 0; i < count; i++) {
        if (operands[i].kind == PTX_OPERAND_LABEL && operands[i].special != NULL) {
            const char *name = operands[i].special;

            ptx_pend(parser, &(struct ptx_pending){
                                 .name = ptx_names_find(&parser->store->names, name, strlen(name)),
                                 .operand = &operands[i],
                                 .line = parser->token.line});
        }
    }
    return operands;
}

/* One operand of `kind` whose items are those pushed since `first`. */
static struct ptx_operand *push_parent(struct ptx_parser *parser, size_t first,
                                       enum ptx_operand_kind kind)
{
    uint32_t count = (uint32_t)(parser->operands.count - first);
    struct ptx_operand *items = ptx_commit_operands(parser, first);
    struct ptx_operand *operand = ptx_push_operand(parser, kind);

    if (operand != NULL) {
        operand->items = items;
        operand->count = items != NULL ? count : 0;
    }
    return operand;
}

static void push_constant(struct ptx_parser *parser)
{
    struct ptx_value value = ptx_constant(parser);
    struct ptx_operand *operand = ptx_push_operand(parser, value.is_float ? PTX_OPERAND_FLOAT
                                                                          : PTX_OPERAND_INTEGER);

    if (operand != NULL) {
        operand->integer = value.bits;
        operand->is_float32 = value.is_float32;
    }
}

static void push_register(struct ptx_parser *parser, uint32_t index)
{
    struct ptx_operand *operand = ptx_push_operand(parser, PTX_OPERAND_REGISTER);

    if (operand != NULL) {
        operand->reg = index;
    }
}

/* The component a letter names, or 4. */
static unsigned component_of(const char *word)
{
    static const char letters[] = "xyzwrgba";
    const char *found = word[0] != '\0' && word[1] == '\0' ? strchr(letters, word[0]) : NULL;

    return found != NULL ? (unsigned)(found - letters) % 4 : 4;
}

/* v.x of a vector register */
static void parse_component(struct ptx_parser *parser, struct ptx_symbol *symbol)
{
    unsigned component = component_of(parser->token.atom->text);

    if (component >= symbol->reg.width) {
        ptx_fail(parser, "'%.100s' has no component '.%.20s'", symbol->atom->text,
                 parser->token.atom->text);
        return;
    }
    ptx_next(parser);
    push_register(parser, ptx_register_index(parser, symbol, component));
}

/* r.b0, r.h1: part of a register, in video instructions */
static void parse_part(struct ptx_parser *parser, struct ptx_symbol *symbol)
{
    const char *part = parser->token.atom->text;
    size_t first = parser->operands.count;
    struct ptx_operand *operand;

    if ((part[0] != 'b' && part[0] != 'h') || part[1] < '0' || part[1] > '9') {
        ptx_fail(parser, "'%.100s' has no component '.%.20s'", symbol->atom->text, part);
        return;
    }
    ptx_next(parser);
    push_register(parser, ptx_register_index(parser, symbol, 0));
    operand = push_parent(parser, first, PTX_OPERAND_PART);
    if (operand != NULL) {
        operand->special = part;
    }
}

static void parse_register(struct ptx_parser *parser, struct ptx_symbol *symbol)
{
    size_t first = parser->operands.count;

    if (parser->token.kind == PTX_TOKEN_DOT) {
        if (symbol->reg.width > 1) {
            parse_component(parser, symbol);
        } else {
            parse_part(parser, symbol);
        }
        return;
    }
    for (unsigned i = 0; i < symbol->reg.width; i++) {
        push_register(parser, ptx_register_index(parser, symbol, i));
    }
    if (symbol->reg.width > 1) {
        push_parent(parser, first, PTX_OPERAND_VECTOR);
    }
}

/* After a name in an address, or in an operand that is one: +4, -4, +-4 */
static int64_t parse_offset(struct ptx_parser *parser)
{
    struct ptx_value value = {0};

    if (ptx_at_mark(parser, '+') || ptx_at_mark(parser, '-')) {
        value = ptx_constant(parser);
        if (value.is_float) {
            ptx_fail(parser, "an offset must be an integer");
        }
    }
    return (int64_t)value.bits;
}

static void parse_variable(struct ptx_parser *parser, const struct ptx_variable *variable)
{
    struct ptx_operand *operand = ptx_push_operand(parser, PTX_OPERAND_VARIABLE);
    uint64_t offset = 0;

    if (ptx_accept(parser, '[')) { /* x[3]: the address of an element */
        uint64_t index = ptx_constant_unsigned(parser, PTX_MAX_VARIABLE_BYTES, "array index");

        offset = index * ptx_types[variable->type].bytes * variable->vector;
        ptx_expect(parser, ']');
    }
    offset += (uint64_t)parse_offset(parser);
    if (operand != NULL) {
        operand->variable = variable;
        operand->offset = (int64_t)offset;
    }
}

/* %tid.x */
static void parse_special(struct ptx_parser *parser, const struct ptx_atom *name)
{
    const char *spelling = name->text + 1;
    struct ptx_operand *operand;

    if (!ptx_is_special(spelling)) {
        ptx_fail(parser, "'%.100s' is not declared", name->text);
        return;
    }
    if (parser->token.kind == PTX_TOKEN_DOT && component_of(parser->token.atom->text) < 4) {
        char full[64];
        size_t length = name->length - 1;

        memcpy(full, spelling, length); /* special registers have short names */
        full[length] = '.';
        full[length + 1] = parser->token.atom->text[0];
        spelling = NULL;
        ptx_next(parser);
        const struct ptx_atom *atom = ptx_intern(parser, full, length + 2);
        if (atom != NULL) {
            spelling = atom->text;
        }
    }
    operand = ptx_push_operand(parser, PTX_OPERAND_SPECIAL);
    if (operand != NULL) {
        operand->special = spelling;
    }
}

/* A label, or something declared further down: looked up when the scope closes. */
static void parse_label(struct ptx_parser *parser, const struct ptx_atom *name)
{
    const struct ptx_symbol *symbol = name->symbol;
    bool is_known = symbol != NULL && symbol->scope == parser->scope;
    struct ptx_operand *operand = ptx_push_operand(parser, PTX_OPERAND_LABEL);

    if (operand == NULL) {
        return;
    }
    operand->label = is_known ? symbol->label : UINT32_MAX;
    operand->special = is_known ? NULL : name->text;
}

static void parse_name(struct ptx_parser *parser)
{
    struct ptx_atom *name = ptx_expect_word(parser, "an operand");
    struct ptx_symbol *symbol = name != NULL ? ptx_resolve(parser, name) : NULL;
    struct ptx_operand *operand;

    if (name == NULL || parser->failed) {
        return;
    }
    if (symbol == NULL && name->text[0] == '%') {
        parse_special(parser, name);
        return;
    }
    switch (symbol != NULL ? symbol->kind : PTX_SYMBOL_LABEL) {
    case PTX_SYMBOL_REGISTER: parse_register(parser, symbol); break;
    case PTX_SYMBOL_VARIABLE: parse_variable(parser, symbol->variable); break;
    case PTX_SYMBOL_FUNCTION:
        operand = ptx_push_operand(parser, PTX_OPERAND_FUNCTION);
        if (operand != NULL) {
            operand->function = symbol->function;
        }
        break;
    case PTX_SYMBOL_TABLE:
        operand = ptx_push_operand(parser, PTX_OPERAND_TABLE);
        if (operand != NULL) {
            operand->table = symbol->table;
        }
        break;
    case PTX_SYMBOL_PROTOTYPE:
        operand = ptx_push_operand(parser, PTX_OPERAND_PROTOTYPE);
        if (operand != NULL) {
            operand->prototype = symbol->prototype;
        }
        break;
    case PTX_SYMBOL_LABEL:
    case PTX_SYMBOL_RANGE: parse_label(parser, name); break;
    }
}

/* Operands up to `close`, which is consumed; they become the items of one of `kind`. */
static void parse_items(struct ptx_parser *parser, enum ptx_operand_kind kind, char close)
{
    size_t first = parser->operands.count;

    ptx_next(parser);
    while (!parser->failed && !ptx_at_mark(parser, (uint32_t)close)) {
        ptx_parse_operand(parser);
        if (!ptx_accept(parser, ',')) {
            break;
        }
    }
    ptx_expect(parser, close);
    push_parent(parser, first, kind);
}

/* The base of an address without its offset, which is returned. */
static int64_t parse_base(struct ptx_parser *parser)
{
    size_t first = parser->operands.count;
    struct ptx_operand *base;
    int64_t offset;

    ptx_parse_operand(parser);
    if (parser->failed) {
        return 0;
    }
    base = (struct ptx_operand *)parser->operands.items + first;
    switch (base->kind) {
    case PTX_OPERAND_REGISTER: return parse_offset(parser);
    case PTX_OPERAND_VARIABLE:
        offset = base->offset;
        base->offset = 0;
        return offset;
    case PTX_OPERAND_INTEGER: return 0;
    default: ptx_fail(parser, "an address is a register, a variable or an integer"); return 0;
    }
}

/* [base+offset], [tensor, {x, y}] */
static void parse_address(struct ptx_parser *parser)
{
    size_t first = parser->operands.count;
    struct ptx_operand *operand;
    int64_t offset;

    ptx_next(parser);
    offset = parse_base(parser);
    while (ptx_accept(parser, ',')) {
        ptx_parse_operand(parser);
    }
    ptx_expect(parser, ']');
    operand = push_parent(parser, first, PTX_OPERAND_ADDRESS);
    if (operand != NULL) {
        operand->offset = offset;
    }
}

static void parse_negated(struct ptx_parser *parser)
{
    struct ptx_token mark = parser->token;
    size_t first = parser->operands.count;
    struct ptx_operand *operand;

    ptx_next(parser);
    if (parser->token.kind != PTX_TOKEN_WORD) { /* !1 */
        parser->cursor = mark.at;
        parser->line = mark.line;
        ptx_next(parser);
        push_constant(parser);
        return;
    }
    parse_name(parser);
    if (parser->failed) {
        return;
    }
    operand = (struct ptx_operand *)parser->operands.items + first;
    if (operand->kind != PTX_OPERAND_REGISTER) {
        ptx_fail(parser, "'!' stands before predicates");
    }
    operand->negated = true;
}

static void parse_any(struct ptx_parser *parser)
{
    const struct ptx_token *token = &parser->token;

    if (token->kind == PTX_TOKEN_WORD && strcmp(token->atom->text, "WARP_SZ") != 0) {
        if (strcmp(token->atom->text, "_") == 0) {
            ptx_next(parser);
            ptx_push_operand(parser, PTX_OPERAND_SINK);
            return;
        }
        parse_name(parser);
    } else if (ptx_at_mark(parser, '{')) {
        parse_items(parser, PTX_OPERAND_VECTOR, '}');
    } else if (ptx_at_mark(parser, '[')) {
        parse_address(parser);
    } else if (ptx_at_mark(parser, '!')) {
        parse_negated(parser);
    } else {
        push_constant(parser);
    }
}

void ptx_parse_operand(struct ptx_parser *parser)
{
    if (parser->nesting == PTX_MAX_NESTING) {
        ptx_fail(parser, "operand nested more than %u deep", PTX_MAX_NESTING);
        return;
    }
    parser->nesting++;
    parse_any(parser);
    parser->nesting--;
}

void ptx_parse_call(struct ptx_parser *parser)
{
    if (ptx_at_mark(parser, '(')) {
        parse_items(parser, PTX_OPERAND_LIST, ')');
        ptx_expect(parser, ',');
    }
    parse_name(parser);
    if (!ptx_accept(parser, ',')) {
        return;
    }
    if (ptx_at_mark(parser, '(')) {
        parse_items(parser, PTX_OPERAND_LIST, ')');
        if (!ptx_accept(parser, ',')) {
            return;
        }
    }
    parse_name(parser);
}

void ptx_parse_operands(struct ptx_parser *parser, struct ptx_instruction *instruction)
{
    if (ptx_at_mark(parser, ';')) {
        return;
    }
    ptx_parse_operand(parser);
    if (ptx_accept(parser, '|')) { /* d|p */
        ptx_parse_operand(parser);
        instruction->pair_first = true;
    }
    while (ptx_accept(parser, ',')) {
        ptx_parse_operand(parser);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations of variables and parameters. */
#include <string.h>

#include "simgpu/ptx/parser.h"

enum { MAX_DIMENSIONS = 16 };

struct declarator {
    struct ptx_atom *name;
    uint64_t dims[MAX_DIMENSIONS + 1]; /* one more for the elements of a vector */
    unsigned dim_count;
    bool is_array;
};

static size_t parse_align(struct ptx_parser *parser)
{
    uint64_t align;

    ptx_next(parser);
    align = ptx_constant_unsigned(parser, PTX_MAX_ALIGN, "alignment");
    if (align == 0 || (align & (align - 1)) != 0) {
        ptx_fail(parser, "alignment must be a power of two");
    }
    return (size_t)align;
}

/* .attribute(.managed, .unified(1, 2)) */
void ptx_parse_attributes(struct ptx_parser *parser, struct ptx_declaration *declaration)
{
    ptx_next(parser);
    ptx_expect(parser, '(');
    do {
        if (parser->token.kind == PTX_TOKEN_DOT &&
            strcmp(parser->token.atom->text, "managed") == 0) {
            declaration->is_managed = true;
            ptx_next(parser);
        } else if (parser->token.kind == PTX_TOKEN_DOT &&
                   strcmp(parser->token.atom->text, "unified") == 0) {
            ptx_next(parser);
            ptx_expect(parser, '(');
            ptx_constant(parser);
            ptx_expect(parser, ',');
            ptx_constant(parser);
            ptx_expect(parser, ')');
        } else {
            ptx_fail_unexpected(parser, ".managed or .unified");
        }
    } while (ptx_accept(parser, ','));
    ptx_expect(parser, ')');
}

/* .ptr .global .align 16: what a parameter points to; of no interest here. */
static void parse_pointee(struct ptx_parser *parser)
{
    ptx_next(parser);
    switch (ptx_keyword_here(parser)) {
    case PTX_KEYWORD_global:
    case PTX_KEYWORD_const:
    case PTX_KEYWORD_shared:
    case PTX_KEYWORD_local: ptx_next(parser); break;
    default: break;
    }
    if (ptx_keyword_here(parser) == PTX_KEYWORD_align) {
        parse_align(parser);
    }
}

/* Everything between the space and the name. */
static void parse_specifiers(struct ptx_parser *parser, struct ptx_declaration *declaration)
{
    declaration->vector = 1;
    while (parser->token.kind == PTX_TOKEN_DOT) {
        switch (ptx_keyword_here(parser)) {
        case PTX_KEYWORD_align: declaration->align = parse_align(parser); continue;
        case PTX_KEYWORD_attribute: ptx_parse_attributes(parser, declaration); continue;
        case PTX_KEYWORD_v2: declaration->vector = 2; break;
        case PTX_KEYWORD_v4: declaration->vector = 4; break;
        case PTX_KEYWORD_ptr:
            if (declaration->space == PTX_PARAM) {
                parse_pointee(parser);
                continue;
            }
            /* fallthrough */
        default:
            if (parser->token.atom->type == PTX_NO_TYPE || declaration->type != PTX_NO_TYPE) {
                ptx_fail_unexpected(parser, "a type");
                return;
            }
            declaration->type = (enum ptx_type)parser->token.atom->type;
        }
        ptx_next(parser);
    }
    if (declaration->type == PTX_NO_TYPE) {
        ptx_fail_unexpected(parser, "a type");
    }
    if (ptx_types[declaration->type].bytes * declaration->vector > 16 && declaration->vector > 1) {
        ptx_fail(parser, "a vector has at most 16 bytes");
    }
}

static struct declarator parse_declarator(struct ptx_parser *parser)
{
    struct declarator declarator = {.name = ptx_expect_word(parser, "a name")};

    if (ptx_at_mark(parser, '<')) {
        ptx_fail(parser, "numbered names are for registers");
    }
    while (ptx_accept(parser, '[')) {
        uint64_t *dim = &declarator.dims[declarator.dim_count];

        declarator.is_array = true;
        if (declarator.dim_count == MAX_DIMENSIONS) {
            ptx_fail(parser, "more than %u dimensions", (unsigned)MAX_DIMENSIONS);
            break;
        }
        if (!ptx_at_mark(parser, ']')) {
            *dim = ptx_constant_unsigned(parser, PTX_MAX_VARIABLE_BYTES, "array size");
        }
        if (*dim == 0 && declarator.dim_count > 0) {
            ptx_fail(parser, "only the first dimension may be left out or 0");
        }
        declarator.dim_count++;
        ptx_expect(parser, ']');
    }
    return declarator;
}

static void set_size(struct ptx_parser *parser, struct ptx_variable *variable,
                     const struct declarator *declarator)
{
    uint64_t bytes = (uint64_t)ptx_types[variable->type].bytes * variable->vector;

    for (unsigned i = 0; i < declarator->dim_count; i++) {
        bool is_open = i == 0 && declarator->dims[0] == 0;

        if (__builtin_mul_overflow(bytes, is_open ? 1 : declarator->dims[i], &bytes)) {
            bytes = UINT64_MAX;
        }
    }
    variable->bytes = declarator->is_array && declarator->dims[0] == 0 ? 0 : (size_t)bytes;
    if (bytes > (variable->space == PTX_PARAM ? PTX_MAX_PARAM_BYTES : PTX_MAX_VARIABLE_BYTES)) {
        ptx_fail(parser, "'%.100s' is too large", variable->name);
    }
}

static void describe(struct ptx_parser *parser, struct ptx_variable *variable,
                     const struct ptx_declaration *declaration, const struct declarator *declarator)
{
    size_t natural = (size_t)ptx_types[declaration->type].bytes * declaration->vector;

    variable->name = declarator->name != NULL ? declarator->name->text : "";
    variable->space = declaration->space;
    variable->type = declaration->type;
    variable->vector = declaration->vector;
    variable->align = declaration->align != 0 ? declaration->align : natural != 0 ? natural : 1;
    variable->is_managed = declaration->is_managed;
    variable->is_visible = declaration->linkage.is_visible;
    variable->is_external = declaration->linkage.is_external;
    set_size(parser, variable, declarator);
    if (declaration->type == PTX_PRED && declaration->space != PTX_REG) {
        ptx_fail(parser, "a variable cannot be .pred");
    }
}

/* The variable a name already stands for, if one of both declarations is `extern`. */
static struct ptx_variable *find_before(struct ptx_parser *parser,
                                        const struct ptx_variable *variable,
                                        const struct ptx_atom *name)
{
    struct ptx_symbol *symbol = name->symbol;

    if (symbol == NULL || symbol->scope != parser->scope || symbol->kind != PTX_SYMBOL_VARIABLE ||
        !(variable->is_external || symbol->variable->is_external)) {
        return NULL;
    }
    if (variable->space != symbol->variable->space || variable->type != symbol->variable->type) {
        ptx_fail(parser, "'%.100s' is declared differently elsewhere", name->text);
        return NULL;
    }
    return symbol->variable;
}

/* Enter a variable in the list it belongs to. */
static void list_variable(struct ptx_parser *parser, struct ptx_variable *variable)
{
    bool is_local = parser->function != NULL && variable->space != PTX_GLOBAL &&
                    variable->space != PTX_CONST;
    struct ptx_array *list = is_local ? &parser->locals : &parser->variables;
    struct ptx_variable **place = ptx_add(parser, list, 1, sizeof(struct ptx_variable *));

    if (place == NULL) {
        return;
    }
    *place = variable;
    variable->index = (uint32_t)(list->count - 1);
    variable->function = is_local ? parser->function : NULL;
}

static void declare_variable(struct ptx_parser *parser, const struct ptx_declaration *declaration)
{
    struct declarator declarator = parse_declarator(parser);
    struct ptx_variable described = {0}, *variable;

    describe(parser, &described, declaration, &declarator);
    if (parser->failed) {
        return;
    }
    variable = find_before(parser, &described, declarator.name);
    if (variable != NULL && described.is_external) {
        return;
    }
    if (variable != NULL) {
        described.index = variable->index;
        *variable = described;
    } else {
        struct ptx_symbol *symbol = ptx_declare(parser, declarator.name, PTX_SYMBOL_VARIABLE);

        variable = ptx_alloc(parser, 1, sizeof(*variable));
        if (symbol == NULL || variable == NULL) {
            return;
        }
        *variable = described;
        symbol->variable = variable;
        list_variable(parser, variable);
    }
    if (ptx_accept(parser, '=')) {
        if (variable->vector > 1) {
            declarator.dims[declarator.dim_count++] = variable->vector;
        }
        ptx_parse_initial(parser, variable, declarator.dims, declarator.dim_count);
    } else if (declarator.is_array && declarator.dims[0] == 0 && !variable->is_external) {
        ptx_fail(parser, "'%.100s' has no size", variable->name);
    }
}

static enum ptx_space space_of(enum ptx_keyword keyword)
{
    switch (keyword) {
    case PTX_KEYWORD_const: return PTX_CONST;
    case PTX_KEYWORD_global: return PTX_GLOBAL;
    case PTX_KEYWORD_shared: return PTX_SHARED;
    case PTX_KEYWORD_local: return PTX_LOCAL;
    case PTX_KEYWORD_param: return PTX_PARAM;
    case PTX_KEYWORD_reg: return PTX_REG;
    default: return PTX_GENERIC;
    }
}

void ptx_parse_variables(struct ptx_parser *parser, const struct ptx_linkage *linkage)
{
    struct ptx_declaration declaration = {.space = space_of(ptx_keyword_here(parser)),
                                          .linkage = *linkage};

    ptx_next(parser);
    if (declaration.space == PTX_CONST && ptx_accept(parser, '[')) { /* banks of old versions */
        if (ptx_constant_unsigned(parser, 10, "constant bank") != 0) {
            ptx_fail(parser, "constant banks other than 0 are not supported");
        }
        ptx_expect(parser, ']');
    }
    parse_specifiers(parser, &declaration);
    do {
        declare_variable(parser, &declaration);
    } while (ptx_accept(parser, ','));
    ptx_expect(parser, ';');
}

static void parse_param(struct ptx_parser *parser, struct ptx_variable *variable)
{
    struct ptx_declaration declaration = {.space = space_of(ptx_keyword_here(parser))};
    struct declarator declarator;

    if (declaration.space != PTX_PARAM && declaration.space != PTX_REG) {
        ptx_fail_unexpected(parser, ".param or .reg");
        return;
    }
    ptx_next(parser);
    parse_specifiers(parser, &declaration);
    declarator = parse_declarator(parser);
    describe(parser, variable, &declaration, &declarator);
    if (declaration.space == PTX_REG && (declarator.is_array || declaration.vector > 1)) {
        ptx_fail(parser, "a register parameter is neither array nor vector");
    }
}

static void bind_param(struct ptx_parser *parser, struct ptx_variable *variable)
{
    struct ptx_atom *name = ptx_intern(parser, variable->name, strlen(variable->name));
    struct ptx_symbol *symbol;

    if (name == NULL || strcmp(name->text, "_") == 0) {
        return;
    }
    if (variable->space == PTX_REG) {
        ptx_declare_register_param(parser, variable, name);
        return;
    }
    symbol = ptx_declare(parser, name, PTX_SYMBOL_VARIABLE);
    if (symbol != NULL) {
        symbol->variable = variable;
    }
}

struct ptx_variable *ptx_parse_params(struct ptx_parser *parser, bool bind, uint32_t *count)
{
    struct ptx_array list = {0};
    struct ptx_variable *params;

    ptx_expect(parser, '(');
    while (!parser->failed && !ptx_at_mark(parser, ')')) {
        struct ptx_variable *param = ptx_add(parser, &list, 1, sizeof(*param));

        if (param == NULL) {
            break;
        }
        param->index = (uint32_t)(list.count - 1);
        param->function = bind ? parser->function : NULL;
        parse_param(parser, param);
        if (!ptx_accept(parser, ',')) {
            break;
        }
    }
    ptx_expect(parser, ')');
    *count = (uint32_t)list.count;
    params = ptx_settle(parser, &list, sizeof(*params));
    ptx_array_free(&list);
    for (uint32_t i = 0; bind && params != NULL && i < *count; i++) {
        bind_param(parser, &params[i]);
    }
    return params;
}

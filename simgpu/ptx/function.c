/* SPDX-License-Identifier: Apache-2.0 */
/* Functions: what stands around their bodies. */
#include <string.h>

#include "simgpu/ptx/parser.h"

/* One to three numbers. */
static void parse_extents(struct ptx_parser *parser, uint32_t extents[3])
{
    for (unsigned i = 0; i < 3; i++) {
        extents[i] = 1;
    }
    for (unsigned i = 0; i < 3; i++) {
        extents[i] = (uint32_t)ptx_constant_unsigned(parser, UINT32_MAX, "extent");
        if (i == 2 || !ptx_accept(parser, ',')) {
            break;
        }
    }
}

static uint32_t parse_number(struct ptx_parser *parser)
{
    return (uint32_t)ptx_constant_unsigned(parser, UINT32_MAX, "number");
}

static void skip_strings(struct ptx_parser *parser)
{
    do {
        if (parser->token.kind != PTX_TOKEN_STRING) {
            ptx_fail_unexpected(parser, "a string");
        }
        ptx_next(parser);
    } while (ptx_accept(parser, ','));
    ptx_accept(parser, ';');
}

/* A directive between a function's head and its body; false if there is none. */
static bool parse_header(struct ptx_parser *parser, struct ptx_function *function)
{
    enum ptx_keyword keyword = ptx_keyword_here(parser);
    struct ptx_declaration unused = {0};
    uint32_t extents[3];

    if (keyword == PTX_KEYWORD_attribute) {
        ptx_parse_attributes(parser, &unused);
        return true;
    }
    if (parser->token.kind != PTX_TOKEN_DOT) {
        return false;
    }
    ptx_next(parser);
    switch (keyword) {
    case PTX_KEYWORD_maxntid: parse_extents(parser, function->max_threads); break;
    case PTX_KEYWORD_reqntid: parse_extents(parser, function->required_threads); break;
    case PTX_KEYWORD_minnctapersm: function->min_blocks = parse_number(parser); break;
    case PTX_KEYWORD_maxnreg: function->max_registers = parse_number(parser); break;
    case PTX_KEYWORD_reqnctapercluster:
        parse_extents(parser, extents);
        if (extents[0] != 1 || extents[1] != 1 || extents[2] != 1) {
            function->needs_cluster = true;
        }
        break;
    case PTX_KEYWORD_explicitcluster:
    case PTX_KEYWORD_blocksareclusters: function->needs_cluster = true; break;
    case PTX_KEYWORD_maxnctapersm:
    case PTX_KEYWORD_maxclusterrank:
    case PTX_KEYWORD_abi_preserve:
    case PTX_KEYWORD_abi_preserve_control: parse_number(parser); break;
    case PTX_KEYWORD_noreturn: break;
    case PTX_KEYWORD_pragma: skip_strings(parser); break;
    default: ptx_fail(parser, "this directive does not stand in a function's head");
    }
    return true;
}

/* Everything up to the body or the semicolon. */
static struct ptx_atom *parse_head(struct ptx_parser *parser, struct ptx_function *function)
{
    struct ptx_atom *name;

    while (parse_header(parser, function) && !parser->failed) {
    }
    if (!function->is_entry && ptx_at_mark(parser, '(')) {
        function->returns = ptx_parse_params(parser, true, &function->return_count);
    }
    name = ptx_expect_word(parser, "a function's name");
    if (ptx_at_mark(parser, '(')) {
        function->params = ptx_parse_params(parser, true, &function->param_count);
    }
    while (parse_header(parser, function) && !parser->failed) {
    }
    return name;
}

static bool same_shape(const struct ptx_variable *a, const struct ptx_variable *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (a[i].bytes != b[i].bytes || a[i].space != b[i].space) {
            return false;
        }
    }
    return true;
}

static struct ptx_function *add_function(struct ptx_parser *parser, struct ptx_atom *name)
{
    struct ptx_symbol *symbol = ptx_declare(parser, name, PTX_SYMBOL_FUNCTION);
    struct ptx_function **place = ptx_add(parser, &parser->functions, 1,
                                          sizeof(struct ptx_function *));
    struct ptx_function *function = ptx_alloc(parser, 1, sizeof(*function));

    if (symbol == NULL || place == NULL || function == NULL) {
        return NULL;
    }
    *place = function;
    function->name = name->text;
    function->index = (uint32_t)(parser->functions.count - 1);
    symbol->function = function;
    return function;
}

/* The function a head belongs to: declared before, or new. */
static struct ptx_function *enter_function(struct ptx_parser *parser, struct ptx_atom *name,
                                           const struct ptx_function *head)
{
    const struct ptx_symbol *symbol = name->symbol;
    struct ptx_function *function, before;

    while (symbol != NULL && symbol->scope->depth > 0) { /* a parameter of the same name */
        symbol = symbol->outer;
    }
    if (symbol == NULL || symbol->kind != PTX_SYMBOL_FUNCTION) {
        struct ptx_scope *scope = parser->scope;

        parser->scope = scope->parent;
        function = add_function(parser, name);
        parser->scope = scope;
        if (function == NULL) {
            return NULL;
        }
    } else {
        function = symbol->function;
        if (function->is_entry != head->is_entry || function->param_count != head->param_count ||
            function->return_count != head->return_count ||
            !same_shape(function->params, head->params, head->param_count) ||
            !same_shape(function->returns, head->returns, head->return_count)) {
            ptx_fail(parser, "'%.100s' is declared differently elsewhere", name->text);
            return NULL;
        }
    }
    before = *function;
    if (!before.is_defined) {
        *function = *head;
    }
    function->name = before.name;
    function->index = before.index;
    function->is_visible = before.is_visible || head->is_visible;
    function->is_weak = before.is_weak || head->is_weak;
    return function;
}

static void own_params(struct ptx_function *function)
{
    for (uint32_t i = 0; i < function->param_count; i++) {
        function->params[i].function = function;
    }
    for (uint32_t i = 0; i < function->return_count; i++) {
        function->returns[i].function = function;
    }
}

static void define_function(struct ptx_parser *parser, struct ptx_function *function)
{
    if (function->is_defined) {
        ptx_fail(parser, "'%.100s' is defined twice", function->name);
        return;
    }
    function->is_defined = true;
    parser->function = function;
    ptx_next(parser);
    ptx_scope_open(parser);
    ptx_parse_body(parser);
    function->instruction_count = (uint32_t)parser->instructions.count;
    function->instructions = ptx_settle(parser, &parser->instructions,
                                        sizeof(struct ptx_instruction));
    function->register_count = (uint32_t)parser->registers.count;
    function->registers = ptx_settle(parser, &parser->registers, sizeof(struct ptx_register));
    function->local_count = (uint32_t)parser->locals.count;
    function->locals = ptx_settle(parser, &parser->locals, sizeof(struct ptx_variable *));
}

void ptx_parse_function(struct ptx_parser *parser, bool is_entry, const struct ptx_linkage *linkage)
{
    struct ptx_function head = {.is_entry = is_entry,
                                .line = parser->token.line,
                                .is_visible = linkage->is_visible,
                                .is_weak = linkage->is_weak};
    struct ptx_function *function = NULL;
    struct ptx_atom *name;

    ptx_next(parser);
    parser->scope_count = 0;
    parser->registers.count = parser->instructions.count = parser->locals.count = 0;
    ptx_forget_locs(parser);
    ptx_scope_open(parser);
    name = parse_head(parser, &head);
    if (!parser->failed) {
        function = enter_function(parser, name, &head);
    }
    if (function != NULL) {
        own_params(function);
    }
    if (ptx_at_mark(parser, '{') && function != NULL) {
        define_function(parser, function);
    } else {
        ptx_expect(parser, ';');
    }
    parser->function = NULL;
    if (!parser->failed) {
        ptx_scope_close(parser);
    }
}

/* ---- .alias ---------------------------------------------------------------------------------- */

struct alias {
    struct ptx_function *name, *target;
};

static struct ptx_symbol *expect_function(struct ptx_parser *parser)
{
    const struct ptx_atom *word = ptx_expect_word(parser, "a function's name");

    if (word == NULL) {
        return NULL;
    }
    if (word->symbol == NULL || word->symbol->kind != PTX_SYMBOL_FUNCTION) {
        ptx_fail(parser, "'%.100s' is not a function", word->text);
        return NULL;
    }
    return word->symbol;
}

/* .alias name, target; */
void ptx_parse_alias(struct ptx_parser *parser)
{
    struct ptx_symbol *name, *target;
    struct alias *alias;

    ptx_next(parser);
    name = expect_function(parser);
    ptx_expect(parser, ',');
    target = expect_function(parser);
    ptx_expect(parser, ';');
    alias = ptx_add(parser, &parser->aliases, 1, sizeof(*alias));
    if (name == NULL || target == NULL || alias == NULL || parser->failed) {
        return;
    }
    if (name->function->is_defined || name->function == target->function ||
        name->function->is_entry || target->function->is_entry) {
        ptx_fail(parser, "'%.100s' cannot be an alias of '%.100s'", name->atom->text,
                 target->atom->text);
        return;
    }
    *alias = (struct alias){name->function, target->function};
    name->function = target->function; /* for those who come later */
}

static const struct ptx_function *real_function(const struct ptx_function *const *real,
                                                const struct ptx_function *function)
{
    return function != NULL && real[function->index] != NULL ? real[function->index] : function;
}

static void replace_in_operands(const struct ptx_function *const *real,
                                struct ptx_operand *operands, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        operands[i].function = real_function(real, operands[i].function);
        if (operands[i].items != NULL) { /* at most PTX_MAX_NESTING deep */
            replace_in_operands(real, operands[i].items, operands[i].count);
        }
    }
}

/* Uses of an alias that came before its directive. */
void ptx_apply_aliases(struct ptx_parser *parser)
{
    const struct alias *aliases = parser->aliases.items;
    struct ptx_function *const *functions = parser->functions.items;
    const struct ptx_function **real;

    if (parser->aliases.count == 0 || parser->failed) {
        return;
    }
    real = ptx_alloc(parser, parser->functions.count, sizeof(struct ptx_function *));
    if (real == NULL) {
        return;
    }
    for (size_t i = parser->aliases.count; i-- > 0;) {
        const struct ptx_function *target = aliases[i].target;

        if (!target->is_defined) {
            ptx_fail(parser, "'%.100s' has an alias but no body", target->name);
        }
        real[aliases[i].name->index] = real_function(real, target);
    }
    for (size_t i = 0; i < parser->functions.count; i++) {
        for (uint32_t j = 0; j < functions[i]->instruction_count; j++) {
            replace_in_operands(real, functions[i]->instructions[j].operands,
                                functions[i]->instructions[j].operand_count);
        }
    }
}

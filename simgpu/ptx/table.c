/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of targets of indirect branches and calls, and prototypes of indirect calls. */
#include "simgpu/ptx/parser.h"

/* Names up to the semicolon. */
static struct ptx_array parse_names(struct ptx_parser *parser)
{
    struct ptx_array names = {0};

    ptx_next(parser);
    do {
        struct ptx_atom *name = ptx_expect_word(parser, "a name");
        struct ptx_atom **place = ptx_add(parser, &names, 1, sizeof(struct ptx_atom *));

        if (place != NULL) {
            *place = name;
        }
    } while (ptx_accept(parser, ',') && !parser->failed);
    return names;
}

static void set_labels(struct ptx_parser *parser, struct ptx_table *table,
                       struct ptx_atom *const *names)
{
    uint32_t *labels = ptx_alloc(parser, table->count, sizeof(*labels));

    table->labels = labels;
    for (uint32_t i = 0; labels != NULL && i < table->count && !parser->failed; i++) {
        labels[i] = UINT32_MAX;
        ptx_pend(parser, &(struct ptx_pending){
                             .name = names[i], .slot = &labels[i], .line = parser->token.line});
    }
}

static void set_functions(struct ptx_parser *parser, struct ptx_table *table,
                          struct ptx_atom *const *names)
{
    const struct ptx_function **functions = ptx_alloc(parser, table->count,
                                                      sizeof(struct ptx_function *));

    table->functions = functions;
    for (uint32_t i = 0; functions != NULL && i < table->count && !parser->failed; i++) {
        const struct ptx_symbol *symbol = names[i]->symbol;

        if (symbol != NULL && symbol->kind == PTX_SYMBOL_FUNCTION) {
            functions[i] = symbol->function;
        } else {
            ptx_fail(parser, "'%.100s' is not a function", names[i]->text);
        }
    }
}

static void parse_targets(struct ptx_parser *parser, struct ptx_atom *name, bool are_labels)
{
    struct ptx_array names = parse_names(parser);
    struct ptx_table *table = ptx_alloc(parser, 1, sizeof(*table));
    struct ptx_symbol *symbol = ptx_declare(parser, name, PTX_SYMBOL_TABLE);

    if (table != NULL && symbol != NULL) {
        table->name = name->text;
        table->count = (uint32_t)names.count;
        symbol->table = table;
        (are_labels ? set_labels : set_functions)(parser, table, names.items);
    }
    ptx_array_free(&names);
}

/* name: .callprototype (returns) _ (params) .noreturn */
static void parse_prototype(struct ptx_parser *parser, struct ptx_atom *name)
{
    struct ptx_prototype *prototype = ptx_alloc(parser, 1, sizeof(*prototype));
    struct ptx_symbol *symbol = ptx_declare(parser, name, PTX_SYMBOL_PROTOTYPE);

    if (prototype == NULL || symbol == NULL) {
        return;
    }
    prototype->name = name->text;
    symbol->prototype = prototype;
    ptx_next(parser);
    if (ptx_at_mark(parser, '(')) {
        prototype->returns = ptx_parse_params(parser, false, &prototype->return_count);
    }
    ptx_expect_word(parser, "'_'");
    if (ptx_at_mark(parser, '(')) {
        prototype->params = ptx_parse_params(parser, false, &prototype->param_count);
    }
    while (parser->token.kind == PTX_TOKEN_DOT) {
        bool has_number = ptx_keyword_here(parser) != PTX_KEYWORD_noreturn;

        ptx_next(parser);
        if (has_number) { /* .abi_preserve */
            ptx_constant_unsigned(parser, UINT32_MAX, "number");
        }
    }
}

void ptx_parse_table(struct ptx_parser *parser, struct ptx_atom *name)
{
    enum ptx_keyword keyword = ptx_keyword_here(parser);

    if (keyword == PTX_KEYWORD_callprototype) {
        parse_prototype(parser, name);
    } else {
        parse_targets(parser, name, keyword == PTX_KEYWORD_branchtargets);
    }
    ptx_expect(parser, ';');
}

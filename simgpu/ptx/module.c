/* SPDX-License-Identifier: Apache-2.0 */
/* Modules: what stands outside functions, and the life of a module. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/ptx/parser.h"

/* ---- directives ------------------------------------------------------------------------------ */

/* "9.0": the parts of the number as it is written */
static void parse_version(struct ptx_parser *parser)
{
    struct ptx_module *module = parser->module;
    char *end;

    ptx_next(parser);
    module->version_major = (unsigned)strtoul(module->text + parser->token.at, &end, 10);
    if (parser->token.kind != PTX_TOKEN_FLOAT || *end != '.') {
        ptx_fail_unexpected(parser, "a version");
    } else {
        module->version_minor = (unsigned)strtoul(end + 1, NULL, 10);
    }
    ptx_next(parser);
}

/* .target sm_90a, debug */
static void parse_target(struct ptx_parser *parser)
{
    struct ptx_module *module = parser->module;

    do {
        const struct ptx_atom *word;

        ptx_next(parser);
        word = parser->token.atom;
        if (parser->token.kind != PTX_TOKEN_WORD) {
            ptx_fail_unexpected(parser, "a target");
            return;
        }
        if (sscanf(word->text, "sm_%5u", &module->target_sm) == 1 ||
            sscanf(word->text, "compute_%5u", &module->target_sm) == 1) {
            snprintf(module->target, sizeof(module->target), "%s", word->text);
        }
        ptx_next(parser);
    } while (ptx_at_mark(parser, ','));
}

static void parse_linked(struct ptx_parser *parser)
{
    struct ptx_linkage linkage = {0};

    for (;;) {
        switch (ptx_keyword_here(parser)) {
        case PTX_KEYWORD_visible:
        case PTX_KEYWORD_common: linkage.is_visible = true; break;
        case PTX_KEYWORD_weak: linkage.is_visible = linkage.is_weak = true; break;
        case PTX_KEYWORD_extern: linkage.is_external = true; break;
        case PTX_KEYWORD_entry: ptx_parse_function(parser, true, &linkage); return;
        case PTX_KEYWORD_func: ptx_parse_function(parser, false, &linkage); return;
        case PTX_KEYWORD_const:
        case PTX_KEYWORD_global:
        case PTX_KEYWORD_shared:
        case PTX_KEYWORD_local: ptx_parse_variables(parser, &linkage); return;
        default: ptx_fail_unexpected(parser, "a directive of modules"); return;
        }
        ptx_next(parser);
    }
}

static void parse_pragma(struct ptx_parser *parser)
{
    while (!ptx_at_mark(parser, ';') && parser->token.kind != PTX_TOKEN_END) {
        ptx_next(parser);
    }
    ptx_expect(parser, ';');
}

/* @@DWARF: debug information of PTX before 2.0, a line each */
static void skip_dwarf_line(struct ptx_parser *parser)
{
    const char *text = parser->module->text;

    ptx_next(parser);
    if (!ptx_at_mark(parser, '@')) {
        ptx_fail_unexpected(parser, "a directive of modules");
        return;
    }
    while (text[parser->cursor] != '\n' && text[parser->cursor] != '\0') {
        parser->cursor++;
    }
    ptx_next(parser);
}

static void parse_directive(struct ptx_parser *parser)
{
    switch (ptx_keyword_here(parser)) {
    case PTX_KEYWORD_version: parse_version(parser); break;
    case PTX_KEYWORD_target: parse_target(parser); break;
    case PTX_KEYWORD_address_size:
        ptx_next(parser);
        parser->module->address_bytes =
            (unsigned)ptx_constant_unsigned(parser, 64, "address size") / 8;
        if (parser->module->address_bytes != 4 && parser->module->address_bytes != 8) {
            ptx_fail(parser, "the address size is 32 or 64");
        }
        break;
    case PTX_KEYWORD_section: ptx_parse_section(parser); break;
    case PTX_KEYWORD_file: ptx_parse_file(parser); break;
    case PTX_KEYWORD_loc: ptx_parse_loc(parser); break;
    case PTX_KEYWORD_alias: ptx_parse_alias(parser); break;
    case PTX_KEYWORD_pragma: parse_pragma(parser); break;
    default: parse_linked(parser);
    }
}

static void parse_module(struct ptx_parser *parser)
{
    ptx_scope_open(parser);
    ptx_add(parser, &parser->locs, 1, sizeof(struct ptx_loc)); /* 0 = unknown */
    ptx_next(parser);
    if (ptx_keyword_here(parser) != PTX_KEYWORD_version) {
        ptx_fail_unexpected(parser, ".version: this is not PTX");
    }
    while (!parser->failed && parser->token.kind != PTX_TOKEN_END) {
        if (ptx_at_mark(parser, '@')) {
            skip_dwarf_line(parser);
        } else if (!ptx_accept(parser, ';')) {
            parse_directive(parser);
        }
    }
    ptx_resolve_relocations(parser);
    ptx_apply_aliases(parser);
    ptx_resolve_locs(parser);
}

/* ---- modules --------------------------------------------------------------------------------- */

static void add_words(struct ptx_parser *parser)
{
    static const char *const keywords[] = {
#define PTX_KEYWORD(word, place) [PTX_KEYWORD_##word] = #word,
#include "simgpu/ptx/keywords.def"
#undef PTX_KEYWORD
    };

    for (unsigned i = 1; i < PTX_KEYWORDS; i++) {
        struct ptx_atom *atom = ptx_intern(parser, keywords[i], strlen(keywords[i]));

        if (atom != NULL) {
            atom->keyword = (uint16_t)i;
        }
    }
    for (unsigned i = PTX_NO_TYPE + 1; i < PTX_TYPES; i++) {
        const char *word = ptx_types[i].spelling;
        struct ptx_atom *atom = ptx_intern(parser, word, strlen(word));

        if (atom != NULL) {
            atom->type = (uint16_t)i;
        }
    }
}

static void settle_module(struct ptx_parser *parser)
{
    struct ptx_module *module = parser->module;

    module->files = ptx_settle(parser, &parser->files, sizeof(struct ptx_file));
    module->file_count = (uint32_t)parser->files.count;
    module->locs = ptx_settle(parser, &parser->locs, sizeof(struct ptx_loc));
    module->loc_count = (uint32_t)parser->locs.count;
    module->variables = ptx_settle(parser, &parser->variables, sizeof(struct ptx_variable *));
    module->variable_count = (uint32_t)parser->variables.count;
    module->functions = ptx_settle(parser, &parser->functions, sizeof(struct ptx_function *));
    module->function_count = (uint32_t)parser->functions.count;
}

static void free_arrays(struct ptx_parser *parser)
{
    struct ptx_array *const arrays[] = {
        &parser->files,     &parser->locs,      &parser->variables,    &parser->functions,
        &parser->fixups,    &parser->aliases,   &parser->loc_names,    &parser->debug_text,
        &parser->registers, &parser->locals,    &parser->instructions, &parser->pending,
        &parser->operands,  &parser->modifiers, &parser->loc_index};

    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        ptx_array_free(arrays[i]);
    }
}

static struct ptx_module *module_new(const char *text, size_t bytes)
{
    struct ptx_module *module = calloc(1, sizeof(*module));
    struct ptx_store *store = calloc(1, sizeof(*store));
    char *copy = malloc(bytes + 1);

    if (module == NULL || store == NULL || copy == NULL ||
        ptx_names_init(&store->names, &store->arena) != 0) {
        free(module);
        free(store);
        free(copy);
        return NULL;
    }
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    module->text = copy;
    module->text_bytes = bytes;
    module->address_bytes = 4; /* without .address_size */
    module->arena = store;
    return module;
}

struct ptx_module *ptx_parse(const char *text, size_t bytes, struct ptx_error *error)
{
    struct ptx_parser parser = {.error = error, .line = 1};

    *error = (struct ptx_error){0};
    while (bytes > 0 && text[bytes - 1] == '\0') {
        bytes--;
    }
    /* Offsets in the text have 32 bits. */
    parser.module = bytes < UINT32_MAX - 1 ? module_new(text, bytes) : NULL;
    if (parser.module == NULL) {
        snprintf(error->text, sizeof(error->text), "out of memory");
        return NULL;
    }
    parser.store = parser.module->arena;
    add_words(&parser);
    parse_module(&parser);
    if (!parser.failed) {
        settle_module(&parser);
    }
    if (!parser.failed) {
        ptx_resolve_places(parser.module);
    }
    free_arrays(&parser);
    if (parser.failed) {
        ptx_free(parser.module);
        return NULL;
    }
    return parser.module;
}

void ptx_free(struct ptx_module *module)
{
    struct ptx_store *store;

    if (module == NULL) {
        return;
    }
    store = module->arena;
    ptx_names_free(&store->names);
    gmt_arena_free(&store->arena);
    free(store);
    free(module->text);
    free(module);
}

static const struct ptx_symbol *find_symbol(const struct ptx_module *module, const char *name)
{
    const struct ptx_store *store = module->arena;
    const struct ptx_atom *atom = ptx_names_find(&store->names, name, strlen(name));

    return atom != NULL ? atom->symbol : NULL;
}

const struct ptx_function *ptx_find_function(const struct ptx_module *module, const char *name)
{
    const struct ptx_symbol *symbol = find_symbol(module, name);

    return symbol != NULL && symbol->kind == PTX_SYMBOL_FUNCTION ? symbol->function : NULL;
}

const struct ptx_variable *ptx_find_variable(const struct ptx_module *module, const char *name)
{
    const struct ptx_symbol *symbol = find_symbol(module, name);

    return symbol != NULL && symbol->kind == PTX_SYMBOL_VARIABLE ? symbol->variable : NULL;
}

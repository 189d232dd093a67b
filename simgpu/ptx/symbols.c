/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes, and what names mean in them. */
#include <stdio.h>
#include <string.h>

#include "simgpu/ptx/parser.h"

void ptx_scope_open(struct ptx_parser *parser)
{
    struct ptx_scope *parent = parser->scope;
    struct ptx_scope *scope;

    if (parent != NULL && parent->depth == PTX_MAX_SCOPES) {
        ptx_fail(parser, "more than %u braces in one another", PTX_MAX_SCOPES);
        return;
    }
    scope = ptx_alloc(parser, 1, sizeof(*scope));
    if (scope == NULL) {
        return;
    }
    scope->parent = parent;
    scope->first_pending = parser->pending.count;
    if (parent != NULL) {
        scope->depth = parent->depth + 1;
        scope->ranges = parent->ranges;
    }
    /* The module, a function's parameters and its body share names in messages: number 0. */
    if (scope->depth > 2) {
        scope->number = ++parser->scope_count;
    }
    parser->scope = scope;
}

/* Fill in what was waiting for `symbol`; false if the name still waits. */
static bool settle_pending(struct ptx_parser *parser, const struct ptx_pending *pending,
                           const struct ptx_scope *scope)
{
    const struct ptx_symbol *symbol = pending->name->symbol;

    if (symbol == NULL || symbol->scope != scope) {
        return false;
    }
    if (symbol->kind == PTX_SYMBOL_LABEL) {
        if (pending->slot != NULL) {
            *pending->slot = symbol->label;
        } else {
            pending->operand->special = NULL;
            pending->operand->label = symbol->label;
        }
    } else if (symbol->kind == PTX_SYMBOL_TABLE && pending->operand != NULL) {
        pending->operand->special = NULL;
        pending->operand->kind = PTX_OPERAND_TABLE;
        pending->operand->table = symbol->table;
    } else if (symbol->kind == PTX_SYMBOL_PROTOTYPE && pending->operand != NULL) {
        pending->operand->special = NULL;
        pending->operand->kind = PTX_OPERAND_PROTOTYPE;
        pending->operand->prototype = symbol->prototype;
    } else {
        ptx_fail_at(parser, pending->line, "'%.100s' is used before it is declared",
                    pending->name->text);
    }
    return true;
}

void ptx_scope_close(struct ptx_parser *parser)
{
    struct ptx_scope *scope = parser->scope;
    struct ptx_pending *pending = parser->pending.items;
    size_t kept = scope->first_pending;

    for (size_t i = scope->first_pending; i < parser->pending.count && !parser->failed; i++) {
        if (settle_pending(parser, &pending[i], scope)) {
            continue;
        }
        if (scope->depth <= 2) { /* the body of a function */
            ptx_fail_at(parser, pending[i].line, "'%.100s' is not declared", pending[i].name->text);
        }
        pending[kept++] = pending[i];
    }
    parser->pending.count = kept;
    for (struct ptx_symbol *symbol = scope->symbols; symbol != NULL; symbol = symbol->next) {
        if (symbol->kind == PTX_SYMBOL_RANGE) {
            symbol->atom->range = symbol->outer;
        } else {
            symbol->atom->symbol = symbol->outer;
        }
    }
    parser->scope = scope->parent;
}

static struct ptx_symbol *bind(struct ptx_parser *parser, struct ptx_scope *scope,
                               struct ptx_atom *atom, enum ptx_symbol_kind kind)
{
    struct ptx_symbol **place = kind == PTX_SYMBOL_RANGE ? &atom->range : &atom->symbol;
    struct ptx_symbol *symbol = ptx_alloc(parser, 1, sizeof(*symbol));

    if (symbol == NULL) {
        return NULL;
    }
    symbol->kind = kind;
    symbol->atom = atom;
    symbol->scope = scope;
    symbol->outer = *place;
    symbol->next = scope->symbols;
    scope->symbols = symbol;
    *place = symbol;
    return symbol;
}

struct ptx_symbol *ptx_declare(struct ptx_parser *parser, struct ptx_atom *atom,
                               enum ptx_symbol_kind kind)
{
    const struct ptx_symbol *before;

    if (atom == NULL || parser->failed) {
        return NULL;
    }
    before = kind == PTX_SYMBOL_RANGE ? atom->range : atom->symbol;
    if (before != NULL && before->scope == parser->scope) {
        ptx_fail(parser, "'%.100s' is declared twice", atom->text);
        return NULL;
    }
    if (kind == PTX_SYMBOL_RANGE) {
        parser->scope->ranges++;
    }
    return bind(parser, parser->scope, atom, kind);
}

/* The innermost range that `name` is a register of: %r12 of %r<100>. */
static struct ptx_symbol *find_range(struct ptx_parser *parser, const struct ptx_atom *name)
{
    struct ptx_symbol *found = NULL;
    uint32_t index = 0, unit = 1;

    /* %r1<9> and %r<99> both contain %r15: the longer prefix is tried first. */
    for (uint32_t end = name->length; end > 1 && name->length - end < 8; unit *= 10) {
        const struct ptx_atom *prefix;
        struct ptx_symbol *range;
        char digit = name->text[--end];

        if (digit < '0' || digit > '9') {
            break;
        }
        index += unit * (uint32_t)(digit - '0');
        if (digit == '0' && name->length - end > 1) {
            continue; /* the number would begin with a zero */
        }
        prefix = ptx_names_find(&parser->store->names, name->text, end);
        range = prefix != NULL ? prefix->range : NULL;
        while (range != NULL && index >= range->reg.count) { /* %r<5> does not hide %r7 of %r<9> */
            range = range->outer;
        }
        if (range != NULL && (found == NULL || range->scope->depth > found->scope->depth)) {
            found = range;
        }
    }
    return found;
}

struct ptx_symbol *ptx_resolve(struct ptx_parser *parser, struct ptx_atom *atom)
{
    struct ptx_symbol *symbol = atom->symbol;
    const struct ptx_symbol *range;

    /* A range in a scope further in hides the name; mostly there is none. */
    if (symbol != NULL && symbol->scope->ranges == parser->scope->ranges) {
        return symbol;
    }
    range = find_range(parser, atom);
    if (range == NULL || (symbol != NULL && symbol->scope->depth >= range->scope->depth)) {
        return symbol;
    }
    symbol = bind(parser, range->scope, atom, PTX_SYMBOL_REGISTER);
    if (symbol != NULL) {
        symbol->reg = range->reg;
        symbol->reg.count = 1;
        symbol->reg.index = PTX_NO_REGISTER;
    }
    return symbol;
}

/* Names in inner scopes get the scope's number, so that they stay unique: "p#3", "v.x". */
static const char *register_name(struct ptx_parser *parser, const struct ptx_symbol *symbol,
                                 unsigned component)
{
    char suffix[16] = "";
    const char *component_name = symbol->reg.width > 1
                                     ? (const char *[]){".x", ".y", ".z", ".w"}[component]
                                     : "";
    size_t length = symbol->atom->length, extra;
    char *name;

    if (symbol->scope->number != 0) {
        snprintf(suffix, sizeof(suffix), "#%u", symbol->scope->number);
    }
    if (symbol->scope->number == 0 && symbol->reg.width == 1) {
        return symbol->atom->text;
    }
    extra = strlen(component_name) + strlen(suffix) + 1;
    name = ptx_alloc(parser, 1, length + extra);
    if (name != NULL) {
        memcpy(name, symbol->atom->text, length);
        snprintf(name + length, extra, "%s%s", component_name, suffix);
    }
    return name;
}

uint32_t ptx_register_index(struct ptx_parser *parser, struct ptx_symbol *symbol,
                            unsigned component)
{
    if (symbol->reg.index == PTX_NO_REGISTER) {
        size_t first = parser->registers.count;
        struct ptx_register *made = ptx_add(parser, &parser->registers, symbol->reg.width,
                                            sizeof(*made));

        if (made == NULL) {
            return 0;
        }
        for (unsigned i = 0; i < symbol->reg.width; i++) {
            made[i].name = register_name(parser, symbol, i);
            made[i].type = symbol->reg.type;
        }
        symbol->reg.index = (uint32_t)first;
    }
    return symbol->reg.index + component;
}

void ptx_pend(struct ptx_parser *parser, const struct ptx_pending *pending)
{
    struct ptx_pending *added = ptx_add(parser, &parser->pending, 1, sizeof(*added));

    if (added != NULL) {
        *added = *pending;
    }
}

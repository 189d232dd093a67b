/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source positions: .file, .loc with inlining, and the names of inlined functions in .debug_str.
 * Source: PTX ISA 9.0, "Debugging directives".
 */
#include <string.h>

#include "simgpu/ptx/parser.h"

/* A name in .debug_str that a .loc refers to. */
struct ptx_loc_name {
    uint32_t loc;
    const struct ptx_atom *label;
    uint64_t offset;
    uint32_t line;
};

/* The latest .loc of a function with a position, found by hash. */
struct loc_line {
    uint32_t loc; /* 0 = free */
    uint32_t file, line, column;
};

void ptx_parse_file(struct ptx_parser *parser)
{
    struct ptx_file *file = ptx_add(parser, &parser->files, 1, sizeof(*file));

    ptx_next(parser);
    if (file == NULL) {
        return;
    }
    file->order = (uint32_t)parser->files.count;
    file->key = (uint32_t)ptx_constant_unsigned(parser, UINT32_MAX, "file number");
    if (parser->token.kind != PTX_TOKEN_STRING) {
        ptx_fail_unexpected(parser, "a path");
        return;
    }
    file->path = parser->token.atom->text;
    ptx_next(parser);
    for (unsigned i = 0; i < 2 && ptx_accept(parser, ','); i++) { /* time and size */
        ptx_constant_unsigned(parser, UINT64_MAX, "number");
    }
}

/* ---- positions of a function ----------------------------------------------------------------- */

void ptx_forget_locs(struct ptx_parser *parser)
{
    parser->loc = 0;
    ptx_array_free(&parser->loc_index);
    parser->loc_index_used = 0;
}

static struct loc_line *find_position(const struct ptx_array *index, const struct ptx_loc *loc)
{
    uint64_t hash = (((uint64_t)loc->file << 32 | loc->line) * UINT64_C(0x9e3779b97f4a7c15)) ^
                    loc->column * UINT64_C(0xff51afd7ed558ccd);
    struct loc_line *positions = index->items;
    size_t mask = index->count - 1, at = (size_t)(hash ^ hash >> 32) & mask;

    while (positions[at].loc != 0 &&
           (positions[at].file != loc->file || positions[at].line != loc->line ||
            positions[at].column != loc->column)) {
        at = (at + 1) & mask;
    }
    return &positions[at];
}

/* Room for one more position: a table of a power of two, half full at most. */
static bool make_room(struct ptx_parser *parser)
{
    struct ptx_array old = parser->loc_index, larger = {0};
    const struct loc_line *positions = old.items;

    if (parser->loc_index_used * 2 < old.count) {
        return true;
    }
    if (ptx_add(parser, &larger, old.count != 0 ? old.count * 2 : 64, sizeof(*positions)) == NULL) {
        return false;
    }
    for (size_t i = 0; i < old.count; i++) {
        const struct loc_line *from = &positions[i];
        struct ptx_loc loc = {.file = from->file, .line = from->line, .column = from->column};

        if (from->loc != 0) {
            *find_position(&larger, &loc) = *from;
        }
    }
    ptx_array_free(&old);
    parser->loc_index = larger;
    return true;
}

static uint32_t add_loc(struct ptx_parser *parser, const struct ptx_loc *loc)
{
    struct ptx_loc *added = ptx_add(parser, &parser->locs, 1, sizeof(*added));
    struct loc_line *position;

    if (added == NULL || !make_room(parser)) {
        return 0;
    }
    *added = *loc;
    position = find_position(&parser->loc_index, loc);
    parser->loc_index_used += position->loc == 0;
    *position = (struct loc_line){(uint32_t)(parser->locs.count - 1), loc->file, loc->line,
                                  loc->column};
    return position->loc;
}

/* ---- .loc ------------------------------------------------------------------------------------ */

static uint32_t parse_number(struct ptx_parser *parser)
{
    struct ptx_value value = ptx_constant_term(parser);

    if (value.is_float || value.bits > UINT32_MAX) {
        ptx_fail(parser, "a position is made of integers below 2^32");
    }
    return (uint32_t)value.bits;
}

static void parse_position(struct ptx_parser *parser, struct ptx_loc *loc)
{
    loc->file = parse_number(parser);
    loc->line = parse_number(parser);
    loc->column = parse_number(parser);
}

static bool accept_word(struct ptx_parser *parser, const char *word)
{
    if (parser->token.kind != PTX_TOKEN_WORD || strcmp(parser->token.atom->text, word) != 0) {
        return false;
    }
    ptx_next(parser);
    return true;
}

/* function_name label+offset: kept until .debug_str is read, which comes later */
static struct ptx_loc_name parse_function_name(struct ptx_parser *parser)
{
    struct ptx_loc_name name = {.line = parser->token.line};

    if (parser->token.kind ==
        PTX_TOKEN_DOT) { /* .debug_str+offset: the whole section is the label */
        ptx_next(parser);
    } else {
        name.label = ptx_expect_word(parser, "a label in .debug_str");
    }
    if (ptx_accept(parser, '+')) {
        name.offset = ptx_constant_unsigned(parser, UINT32_MAX, "offset");
    }
    return name;
}

/*
 * The call site is the position of an earlier .loc, if that function was inlined too: the chain goes
 * on there.
 */
static uint32_t find_call_site(struct ptx_parser *parser, const struct ptx_loc *site)
{
    const struct loc_line *position;

    if (!make_room(parser)) {
        return 0;
    }
    position = find_position(&parser->loc_index, site);
    return position->loc != 0 ? position->loc : add_loc(parser, site);
}

void ptx_parse_loc(struct ptx_parser *parser)
{
    struct ptx_loc loc = {0}, site = {0};
    struct ptx_loc_name name = {0}, *place;
    bool is_inlined = false, is_named = false;

    ptx_next(parser);
    parse_position(parser, &loc);
    while (!parser->failed && ptx_accept(parser, ',')) {
        if (accept_word(parser, "function_name")) {
            name = parse_function_name(parser);
            is_named = true;
        } else if (accept_word(parser, "inlined_at")) {
            parse_position(parser, &site);
            is_inlined = true;
        } else {
            ptx_fail_unexpected(parser, "function_name or inlined_at");
        }
    }
    if (is_inlined && !parser->failed) {
        loc.inlined_at = find_call_site(parser, &site);
    }
    if (!parser->failed) {
        parser->loc = add_loc(parser, &loc);
    }
    if (is_named && !parser->failed) {
        place = ptx_add(parser, &parser->loc_names, 1, sizeof(*place));
        name.loc = parser->loc;
        if (place != NULL) {
            *place = name;
        }
    }
}

void ptx_resolve_locs(struct ptx_parser *parser)
{
    const struct ptx_loc_name *names = parser->loc_names.items;
    struct ptx_loc *locs = parser->locs.items;
    size_t bytes = parser->debug_text.count;
    const char *text;

    if (ptx_add(parser, &parser->debug_text, 1, 1) == NULL) { /* a NUL behind the last name */
        return;
    }
    text = ptx_settle(parser, &parser->debug_text, 1);
    for (size_t i = 0; i < parser->loc_names.count && !parser->failed; i++) {
        const struct ptx_symbol *symbol = names[i].label != NULL ? names[i].label->symbol : NULL;
        uint64_t at = names[i].offset;

        if (names[i].label != NULL && (symbol == NULL || symbol->kind != PTX_SYMBOL_LABEL)) {
            ptx_fail_at(parser, names[i].line, "'%.100s' is not a label of .debug_str",
                        names[i].label->text);
            return;
        }
        at += symbol != NULL ? symbol->label : 0;
        if (at < bytes) {
            locs[names[i].loc].inlined_function = text + at;
        }
    }
}

/* ---- .section -------------------------------------------------------------------------------- */

/* .b8 95, 90, 78 */
static void parse_debug_data(struct ptx_parser *parser)
{
    unsigned bytes = ptx_types[parser->token.atom->type].bytes;

    if (bytes == 0 || bytes > 8) {
        ptx_fail_unexpected(parser, "data");
        return;
    }
    ptx_next(parser);
    do {
        struct ptx_value value = ptx_constant_term(parser);
        uint8_t *data = ptx_add(parser, &parser->debug_text, bytes, 1);

        if (data != NULL) {
            memcpy(data, &value.bits, bytes); /* little endian */
        }
    } while (ptx_accept(parser, ','));
}

static void parse_debug_text(struct ptx_parser *parser)
{
    while (!parser->failed && !ptx_at_mark(parser, '}')) {
        if (parser->token.kind == PTX_TOKEN_DOT) {
            parse_debug_data(parser);
        } else {
            struct ptx_atom *label = ptx_expect_word(parser, "data or a label");
            struct ptx_symbol *symbol = ptx_declare(parser, label, PTX_SYMBOL_LABEL);

            ptx_expect(parser, ':');
            if (symbol != NULL) {
                symbol->label = (uint32_t)parser->debug_text.count;
            }
        }
    }
}

/* Sections hold debug information; only the names of inlined functions are of interest. */
void ptx_parse_section(struct ptx_parser *parser)
{
    unsigned depth = 1;

    ptx_next(parser);
    bool is_text = parser->token.kind == PTX_TOKEN_DOT &&
                   strcmp(parser->token.atom->text, "debug_str") == 0;
    if (parser->token.kind != PTX_TOKEN_DOT && parser->token.kind != PTX_TOKEN_WORD) {
        ptx_fail_unexpected(parser, "a section's name");
    }
    ptx_next(parser);
    ptx_expect(parser, '{');
    if (is_text) {
        parse_debug_text(parser);
    }
    while (!parser->failed && depth > 0) {
        if (parser->token.kind == PTX_TOKEN_END) {
            ptx_fail_unexpected(parser, "'}'");
        } else if (ptx_at_mark(parser, '{')) {
            depth++;
        } else if (ptx_at_mark(parser, '}')) {
            depth--;
        }
        if (depth > 0) {
            ptx_next(parser);
        }
    }
    ptx_expect(parser, '}');
}

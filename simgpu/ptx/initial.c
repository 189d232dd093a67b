/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Initial values: numbers, addresses of variables and functions, lists of them.
 *
 * Values are collected first and stored once the size is known, so that `x[1000000000] = {1}` costs
 * address space, not memory.
 * Source: PTX ISA 9.0, "Initializers".
 */
#include <string.h>

#include "simgpu/ptx/parser.h"

/* A relocation whose symbol is looked up when all are declared. */
struct ptx_fixup {
    struct ptx_relocation *relocation;
    const struct ptx_atom *name;
    uint32_t line;
};

struct initial_piece {
    uint64_t at; /* byte */
    uint64_t bits;
};

struct address {
    struct ptx_relocation relocation;
    const struct ptx_atom *name;
    uint32_t line;
};

struct initial {
    struct ptx_parser *parser;
    enum ptx_type type;
    const uint64_t *dims;
    unsigned dim_count;
    uint64_t position; /* element */
    struct ptx_array pieces;
    struct ptx_array addresses;
};

/* Elements of one item at `level`: 1 where all dimensions are fixed. */
static uint64_t item_elements(const struct initial *initial, unsigned level)
{
    uint64_t elements = 1;

    for (unsigned i = level; i < initial->dim_count; i++) {
        elements *= initial->dims[i]; /* cannot overflow: the variable's size is known to fit */
    }
    return elements;
}

static uint64_t element_bits(struct ptx_parser *parser, enum ptx_type type,
                             const struct ptx_value *value)
{
    double wide = ptx_value_double(value);
    float narrow = (float)wide;
    uint64_t bits = 0;

    if (type == PTX_F64 || (type == PTX_B64 && value->is_float && !value->is_float32)) {
        memcpy(&bits, &wide, sizeof(wide));
    } else if (value->is_float && value->is_float32 && (type == PTX_F32 || type == PTX_B32)) {
        bits = value->bits; /* as written: NaNs keep their payload */
    } else if (type == PTX_F32) {
        memcpy(&bits, &narrow, sizeof(narrow));
    } else {
        if (value->is_float || ptx_types[type].kind == PTX_KIND_FLOAT) {
            ptx_fail(parser, "this number cannot initialize a .%s", ptx_types[type].spelling);
        }
        bits = value->bits;
    }
    return bits;
}

static void store_number(struct initial *initial, const struct ptx_value *value)
{
    unsigned bytes = ptx_types[initial->type].bytes;
    uint64_t bits = element_bits(initial->parser, initial->type, value);
    struct initial_piece *piece = ptx_add(initial->parser, &initial->pieces, 1, sizeof(*piece));

    if (piece == NULL) {
        return;
    }
    *piece = (struct initial_piece){.at = initial->position * bytes, .bits = bits};
    if (bytes == 16 && !value->is_unsigned && (int64_t)bits < 0) {
        piece = ptx_add(initial->parser, &initial->pieces, 1, sizeof(*piece));
        if (piece != NULL) {
            *piece = (struct initial_piece){.at = initial->position * bytes + 8,
                                            .bits = UINT64_MAX};
        }
    }
}

/* name, name+4, generic(name), generic(name)+4, generic(name+4) */
static void parse_symbol(struct ptx_parser *parser, struct address *address)
{
    bool is_generic = false, is_open = false;

    address->line = parser->token.line;
    address->name = ptx_expect_word(parser, "a constant or a name");
    if (address->name != NULL && strcmp(address->name->text, "generic") == 0 &&
        ptx_accept(parser, '(')) {
        is_generic = is_open = true;
        address->name = ptx_expect_word(parser, "a name");
    }
    while (!parser->failed) {
        if (ptx_at_mark(parser, '+') || ptx_at_mark(parser, '-')) {
            struct ptx_value offset = ptx_constant(parser);

            if (offset.is_float) {
                ptx_fail(parser, "an offset must be an integer");
            }
            address->relocation.addend = (int64_t)((uint64_t)address->relocation.addend +
                                                   offset.bits);
        } else if (is_open && ptx_accept(parser, ')')) {
            is_open = false;
        } else {
            break;
        }
    }
    if (is_open) {
        ptx_expect(parser, ')');
    }
    address->relocation.generic = is_generic;
}

/* 0xFF00(name) stores the second byte of the address. */
static void set_mask(struct ptx_parser *parser, struct address *address, uint64_t mask)
{
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if (mask == UINT64_C(0xFF) << shift) {
            address->relocation.bytes = 1;
            address->relocation.shift = shift;
            return;
        }
    }
    ptx_fail(parser, "a mask selects one byte: 0xFF, 0xFF00, ...");
}

static void store_address(struct initial *initial, const struct ptx_value *mask)
{
    struct ptx_parser *parser = initial->parser;
    unsigned bytes = ptx_types[initial->type].bytes;
    struct address *address = ptx_add(parser, &initial->addresses, 1, sizeof(*address));

    if (address == NULL) {
        return;
    }
    parse_symbol(parser, address);
    address->relocation.at = (size_t)(initial->position * bytes);
    address->relocation.bytes = bytes;
    if (mask != NULL) {
        set_mask(parser, address, mask->bits);
    } else if (bytes != 8 && bytes != 4) {
        ptx_fail(parser, "an address does not fit a .%s", ptx_types[initial->type].spelling);
    }
}

static void parse_scalar(struct initial *initial)
{
    struct ptx_parser *parser = initial->parser;

    if (parser->token.kind == PTX_TOKEN_WORD && strcmp(parser->token.atom->text, "WARP_SZ") != 0) {
        store_address(initial, NULL);
    } else {
        struct ptx_value value = ptx_constant(parser);

        if (!value.is_float && ptx_accept(parser, '(')) {
            store_address(initial, &value);
            ptx_expect(parser, ')');
        } else {
            store_number(initial, &value);
        }
    }
    initial->position++;
}

/* A list in braces; it fills items of `level` from the present position on, at most to `limit`. */
static void parse_list(struct initial *initial, unsigned level, uint64_t limit)
{
    struct ptx_parser *parser = initial->parser;
    uint64_t start = initial->position;
    uint64_t step = item_elements(initial, level + 1);

    ptx_expect(parser, '{');
    while (!parser->failed && !ptx_at_mark(parser, '}')) {
        bool is_list = ptx_at_mark(parser, '{');
        uint64_t used = initial->position - start;

        if (is_list && level + 1 >= initial->dim_count) {
            ptx_fail(parser, "more braces than dimensions");
            return;
        }
        if (is_list && step != 0) {
            initial->position = start + (used + step - 1) / step * step;
        }
        if (initial->position >= limit) {
            ptx_fail(parser, "more initial values than elements");
            return;
        }
        if (is_list) {
            uint64_t next = initial->position + step;

            parse_list(initial, level + 1, next);
            initial->position = next;
        } else {
            parse_scalar(initial);
        }
        if (!ptx_accept(parser, ',')) {
            break;
        }
    }
    ptx_expect(parser, '}');
}

/* `[]` gets the items that the list has. */
static void complete_size(struct initial *initial, struct ptx_variable *variable)
{
    uint64_t step = item_elements(initial, 1);
    uint64_t rows = step != 0 ? (initial->position + step - 1) / step : 0;
    uint64_t bytes;

    if (__builtin_mul_overflow(rows * step, ptx_types[initial->type].bytes, &bytes) ||
        bytes > PTX_MAX_VARIABLE_BYTES) {
        ptx_fail(initial->parser, "'%.100s' is too large", variable->name);
    } else {
        variable->bytes = (size_t)bytes;
    }
}

static void keep_numbers(struct initial *initial, struct ptx_variable *variable)
{
    struct ptx_parser *parser = initial->parser;
    const struct initial_piece *pieces = initial->pieces.items;
    unsigned bytes = ptx_types[initial->type].bytes;
    uint8_t *init;

    parser->initial_bytes += variable->bytes;
    if (parser->initial_bytes > PTX_MAX_INITIAL_BYTES) {
        ptx_fail(parser, "initialized variables of more than %llu bytes",
                 (unsigned long long)PTX_MAX_INITIAL_BYTES);
        return;
    }
    init = ptx_alloc(parser, 1, variable->bytes);
    if (init == NULL) {
        return;
    }
    for (size_t i = 0; i < initial->pieces.count; i++) {
        memcpy(init + pieces[i].at, &pieces[i].bits, bytes < 8 ? bytes : 8); /* little endian */
    }
    variable->init = init;
}

static void keep_addresses(struct initial *initial, struct ptx_variable *variable)
{
    struct ptx_parser *parser = initial->parser;
    const struct address *addresses = initial->addresses.items;
    size_t count = initial->addresses.count;
    struct ptx_relocation *relocations = count != 0 ? ptx_alloc(parser, count, sizeof(*relocations))
                                                    : NULL;
    struct ptx_fixup *fixups = count != 0 ? ptx_add(parser, &parser->fixups, count, sizeof(*fixups))
                                          : NULL;

    if (relocations == NULL || fixups == NULL) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        relocations[i] = addresses[i].relocation;
        fixups[i] = (struct ptx_fixup){&relocations[i], addresses[i].name, addresses[i].line};
    }
    variable->relocations = relocations;
    variable->relocation_count = count;
}

/* { addr_mode_0 = wrap, ... }: properties of textures, which are not supported. */
static void skip_properties(struct ptx_parser *parser)
{
    while (!parser->failed && !ptx_at_mark(parser, '}') && parser->token.kind != PTX_TOKEN_END) {
        ptx_next(parser);
    }
    ptx_expect(parser, '}');
}

void ptx_parse_initial(struct ptx_parser *parser, struct ptx_variable *variable, uint64_t *dims,
                       unsigned dim_count)
{
    struct initial initial = {
        .parser = parser, .type = variable->type, .dims = dims, .dim_count = dim_count};
    bool is_open = dim_count > 0 && dims[0] == 0;

    if (variable->space != PTX_GLOBAL && variable->space != PTX_CONST) {
        ptx_fail(parser, "only .global and .const variables have an initial value");
        return;
    }
    if (ptx_types[variable->type].kind == PTX_KIND_OPAQUE) {
        skip_properties(parser);
        return;
    }
    if (ptx_at_mark(parser, '{')) {
        parse_list(&initial, 0, is_open ? PTX_MAX_VARIABLE_BYTES : item_elements(&initial, 0));
    } else if (dim_count > 0) {
        ptx_fail_unexpected(parser, "'{'");
    } else {
        parse_scalar(&initial);
    }
    if (is_open) {
        complete_size(&initial, variable);
    }
    if (!parser->failed) {
        keep_numbers(&initial, variable);
    }
    if (!parser->failed) {
        keep_addresses(&initial, variable);
    }
    ptx_array_free(&initial.pieces);
    ptx_array_free(&initial.addresses);
}

void ptx_resolve_relocations(struct ptx_parser *parser)
{
    const struct ptx_fixup *fixups = parser->fixups.items;

    for (size_t i = 0; i < parser->fixups.count && !parser->failed; i++) {
        const struct ptx_symbol *symbol = fixups[i].name->symbol;

        if (symbol != NULL && symbol->kind == PTX_SYMBOL_VARIABLE) {
            fixups[i].relocation->variable = symbol->variable;
        } else if (symbol != NULL && symbol->kind == PTX_SYMBOL_FUNCTION) {
            fixups[i].relocation->function = symbol->function;
        } else {
            ptx_fail_at(parser, fixups[i].line, "'%.100s' is not declared", fixups[i].name->text);
        }
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser's inside: what its files share.
 *
 * The first error is kept and every later token is PTX_TOKEN_END, so that functions need not
 * hand errors up: loops end at the end of the text, and what is made after an error is thrown away.
 * Functions that return a pointer return NULL after an error.
 */
#ifndef SIMGPU_PTX_PARSER_H
#define SIMGPU_PTX_PARSER_H

#include "libtrace/base/arena.h"
#include "simgpu/ptx/array.h"
#include "simgpu/ptx/lexer.h"
#include "simgpu/ptx/names.h"
#include "simgpu/ptx/ptx.h"

/* Limits that no real program meets; a text that goes beyond them is refused. */
#define PTX_MAX_SCOPES 100u      /* of { } in one another */
#define PTX_MAX_NESTING 100u     /* of parentheses and braces in constants */
#define PTX_MAX_RANGE (1u << 24) /* registers of a range */
#define PTX_MAX_VARIABLE_BYTES ((uint64_t)1 << 40)
#define PTX_MAX_PARAM_BYTES ((uint64_t)1 << 20)
#define PTX_MAX_INITIAL_BYTES ((uint64_t)1 << 30) /* of all initialized variables together */
#define PTX_MAX_ALIGN 65536u

/* Owner of a module's memory: ptx_module.arena. */
struct ptx_store {
    struct gmt_arena arena;
    struct ptx_names names;
};

struct ptx_scope {
    struct ptx_scope *parent;
    struct ptx_symbol *symbols;
    uint32_t number; /* in the function, 0 = its body and what is outside */
    uint32_t depth;
    uint32_t ranges;      /* register ranges declared here and in outer scopes */
    size_t first_pending; /* of the scope's, in ptx_parser.pending */
};

/* A name used before it is declared: a label, or a table of them. */
struct ptx_pending {
    struct ptx_atom *name;
    struct ptx_operand *operand; /* one of these two is filled in */
    uint32_t *slot;
    uint32_t line;
};

/* Directives before .global, .func, ...: */
struct ptx_linkage {
    bool is_visible, is_weak, is_external;
};

struct ptx_parser {
    struct ptx_module *module;
    struct ptx_store *store;
    struct ptx_error *error;
    bool failed;

    uint32_t cursor, line; /* of the lexer */
    struct ptx_token token;

    struct ptx_scope *scope;
    unsigned nesting;
    uint64_t initial_bytes;

    /* Of the module; copied to the arena at its end. */
    struct ptx_array files, locs, variables, functions;
    struct ptx_array fixups;     /* struct ptx_fixup, initial.c */
    struct ptx_array aliases;    /* struct ptx_function *, by index: NULL or what it stands for */
    struct ptx_array loc_names;  /* struct ptx_loc_name, locs.c */
    struct ptx_array debug_text; /* .debug_str */

    /* Of the function being read; copied to the arena at its end. */
    struct ptx_function *function;
    struct ptx_array registers, locals, instructions, pending;
    struct ptx_array operands; /* of unfinished instructions: a stack */
    struct ptx_array modifiers;
    struct ptx_array loc_index; /* hash table of the function's positions, locs.c */
    size_t loc_index_used;
    uint32_t loc, scope_count;
};

/* ---- errors and memory: parser.c; tokens: expect.c ------------------------------------------ */

void ptx_fail(struct ptx_parser *parser, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void ptx_fail_at(struct ptx_parser *parser, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "unexpected X, expected `expected`" */
void ptx_fail_unexpected(struct ptx_parser *parser, const char *expected);

static inline bool ptx_at_mark(const struct ptx_parser *parser, uint32_t mark)
{
    return parser->token.kind == PTX_TOKEN_MARK && parser->token.mark == mark;
}

static inline bool ptx_accept(struct ptx_parser *parser, uint32_t mark)
{
    if (!ptx_at_mark(parser, mark)) {
        return false;
    }
    ptx_next(parser);
    return true;
}

void ptx_expect(struct ptx_parser *parser, char mark);
/* The directive at hand; PTX_KEYWORD_NONE if there is none. */
enum ptx_keyword ptx_keyword_here(const struct ptx_parser *parser);
/* Consume a word; NULL after an error. */
struct ptx_atom *ptx_expect_word(struct ptx_parser *parser, const char *what);

void *ptx_alloc(struct ptx_parser *parser, size_t count, size_t bytes);
void *ptx_add(struct ptx_parser *parser, struct ptx_array *array, size_t count, size_t bytes);
/* Copy an array to the arena; NULL also if it is empty. */
void *ptx_settle(struct ptx_parser *parser, struct ptx_array *array, size_t bytes);
struct ptx_atom *ptx_intern(struct ptx_parser *parser, const char *text, size_t length);

/* ---- names: symbols.c ----------------------------------------------------------------------- */

void ptx_scope_open(struct ptx_parser *parser);
void ptx_scope_close(struct ptx_parser *parser);
/* Declare in the innermost scope; NULL after an error (declared twice, no memory). */
struct ptx_symbol *ptx_declare(struct ptx_parser *parser, struct ptx_atom *atom,
                               enum ptx_symbol_kind kind);
/* What a name means here, registers of ranges included; NULL if it is not declared (no error). */
struct ptx_symbol *ptx_resolve(struct ptx_parser *parser, struct ptx_atom *atom);
/* Index of a register's component; makes the register when it is first used. */
uint32_t ptx_register_index(struct ptx_parser *parser, struct ptx_symbol *symbol,
                            unsigned component);
void ptx_pend(struct ptx_parser *parser, const struct ptx_pending *pending);

/* ---- constants: constant.c ------------------------------------------------------------------ */

struct ptx_value {
    bool is_float, is_float32, is_unsigned;
    uint64_t bits; /* of an integer, a double, or a float if is_float32 */
};

/* A constant expression. */
struct ptx_value ptx_constant(struct ptx_parser *parser);
/* One operand of an expression with its unary operators: what may stand before a '>'. */
struct ptx_value ptx_constant_term(struct ptx_parser *parser);
double ptx_value_double(const struct ptx_value *value);
/* A constant expression that is an integer from 0 to `most`. */
uint64_t ptx_constant_unsigned(struct ptx_parser *parser, uint64_t most, const char *what);

/* ---- declarations: variable.c, initial.c, register.c ---------------------------------------- */

/* What a declaration says before the name. */
struct ptx_declaration {
    enum ptx_space space;
    enum ptx_type type;
    unsigned vector;
    size_t align; /* 0 = natural */
    bool is_managed;
    struct ptx_linkage linkage;
};

/* Names declared by one .global, .shared, ... up to and including the semicolon. */
void ptx_parse_variables(struct ptx_parser *parser, const struct ptx_linkage *linkage);
/* A parameter list "( ... )": parameters of a function, return values, or of a prototype. */
struct ptx_variable *ptx_parse_params(struct ptx_parser *parser, bool bind, uint32_t *count);
void ptx_parse_attributes(struct ptx_parser *parser, struct ptx_declaration *declaration);
void ptx_parse_registers(struct ptx_parser *parser);
void ptx_declare_register_param(struct ptx_parser *parser, struct ptx_variable *variable,
                                struct ptx_atom *name);
/* The initial value of a variable; completes `[]` dimensions. dims[0] may be 0. */
void ptx_parse_initial(struct ptx_parser *parser, struct ptx_variable *variable, uint64_t *dims,
                       unsigned dim_count);
/* Give relocations their symbols, once everything is declared. */
void ptx_resolve_relocations(struct ptx_parser *parser);

/* ---- functions: function.c, statement.c, operand.c ------------------------------------------ */

void ptx_parse_function(struct ptx_parser *parser, bool is_entry,
                        const struct ptx_linkage *linkage);
void ptx_parse_alias(struct ptx_parser *parser);
void ptx_apply_aliases(struct ptx_parser *parser);
/* Statements up to the brace that closes the body. */
void ptx_parse_body(struct ptx_parser *parser);
/* .branchtargets and the like, after "name:". */
void ptx_parse_table(struct ptx_parser *parser, struct ptx_atom *name);
/* Push operands up to the semicolon. */
void ptx_parse_operands(struct ptx_parser *parser, struct ptx_instruction *instruction);
void ptx_parse_call(struct ptx_parser *parser);
/* An operand is pushed on ptx_parser.operands. */
void ptx_parse_operand(struct ptx_parser *parser);
/* Move operands from `first` on to the arena; names not yet known become pending. */
struct ptx_operand *ptx_commit_operands(struct ptx_parser *parser, size_t first);
struct ptx_operand *ptx_push_operand(struct ptx_parser *parser, enum ptx_operand_kind kind);
bool ptx_is_special(const char *name);

/* ---- source positions: locs.c --------------------------------------------------------------- */

void ptx_parse_file(struct ptx_parser *parser);
void ptx_parse_loc(struct ptx_parser *parser);
void ptx_parse_section(struct ptx_parser *parser);
void ptx_forget_locs(struct ptx_parser *parser); /* at the start of a function */
void ptx_resolve_locs(struct ptx_parser *parser);
void ptx_resolve_places(struct ptx_module *module); /* user_line.c; when all files are known */

#endif

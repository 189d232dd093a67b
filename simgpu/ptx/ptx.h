/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PTX module as text says it: declarations, functions, instructions with resolved names.
 *
 * The parser knows PTX's grammar, not what instructions mean: an opcode is a word and its modifiers
 * are words, in the order written. It resolves every register, variable, label and function name to
 * an object or an index, so that nobody after it looks a name up. Everything belongs to the module
 * and goes with it; the input text is copied.
 *
 * Input is hostile: any bytes give a module or an error with a line, never a crash, a hang or more
 * than a few hundred bytes of memory per byte of input.
 * Source: PTX ISA 9.0 (CUDA 13.0).
 */
#ifndef SIMGPU_PTX_PTX_H
#define SIMGPU_PTX_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ptx_type {
    PTX_NO_TYPE = 0,
#define PTX_TYPE(name, spelling, bytes, kind) PTX_##name,
#include "simgpu/ptx/types.def"
#undef PTX_TYPE
    PTX_TYPES
};

enum ptx_type_kind {
    PTX_KIND_NONE,
    PTX_KIND_UNTYPED,
    PTX_KIND_UNSIGNED,
    PTX_KIND_SIGNED,
    PTX_KIND_FLOAT,
    PTX_KIND_PACKED,
    PTX_KIND_PREDICATE,
    PTX_KIND_OPAQUE,
};

struct ptx_type_info {
    const char *spelling; /* without the dot */
    unsigned bytes;
    enum ptx_type_kind kind;
};
extern const struct ptx_type_info ptx_types[PTX_TYPES];

/* The type spelled `word` (no dot), PTX_NO_TYPE if it is none. */
enum ptx_type ptx_type_of(const char *word);

enum ptx_space {
    PTX_GENERIC = 0, /* no state space given */
    PTX_CONST,
    PTX_GLOBAL,
    PTX_LOCAL,
    PTX_PARAM,
    PTX_SHARED,
    PTX_REG,
};

/* Where in the source an instruction comes from (.loc). Entry 0 of ptx_module.locs is "unknown". */
struct ptx_loc {
    uint32_t file; /* key of a .file directive */
    uint32_t line, column;
    uint32_t inlined_at;          /* index of the call site's ptx_loc, 0 = not inlined */
    const char *inlined_function; /* mangled name of the function that was inlined, or NULL */
    uint32_t shown;  /* index of the location that a user is shown for this one: ptx_place_of */
    uint32_t caller; /* index of the outermost call that this was inlined at; its own if at none */
    bool is_library; /* in a header of a library: ptx_path_is_library */
};

struct ptx_file {
    uint32_t key;
    uint32_t order; /* among the .file directives: the first with a key counts */
    const char *path;
    bool is_library; /* ptx_path_is_library(path) */
};

/* A place in a variable's initial value that holds an address, known when memory is laid out. */
struct ptx_relocation {
    size_t at;      /* byte in `init` */
    unsigned bytes; /* how many of the address are stored there: 8, or 1 with a mask */
    unsigned shift; /* right shift before storing (mask operator: 0xFF00(sym) = 8) */
    bool generic;   /* generic(sym): the generic address */
    const struct ptx_variable *variable; /* one of these two */
    const struct ptx_function *function;
    int64_t addend;
};

/* A variable in .const, .global, .shared, .local or .param space. */
struct ptx_variable {
    const char *name;
    enum ptx_space space;
    enum ptx_type type; /* element type */
    unsigned vector;    /* elements per vector: 1, 2, 4 */
    size_t bytes;       /* whole variable; 0 for `extern .shared x[]` */
    size_t align;       /* power of two */
    bool is_external;   /* declared, defined elsewhere: `extern .shared` = dynamic shared memory */
    bool is_visible;
    bool is_managed; /* .attribute(.managed) */
    uint32_t index;  /* module scope: in ptx_module.variables; function scope: in its own list
                        (params, returns or locals); a function's PTX_REG: of its register */
    const struct ptx_function *function; /* scope it is declared in, NULL = module */
    const uint8_t *init;                 /* `bytes` bytes, or NULL = zero */
    const struct ptx_relocation *relocations;
    size_t relocation_count;
};

enum ptx_operand_kind {
    PTX_OPERAND_NONE = 0,
    PTX_OPERAND_REGISTER,  /* reg; negated for !%p */
    PTX_OPERAND_INTEGER,   /* integer (sign-extended to 64 bits when written with a minus) */
    PTX_OPERAND_FLOAT,     /* bits of a double (0d...), or of a float when is_float32 (0f...) */
    PTX_OPERAND_SPECIAL,   /* special register: name without '%', with component: "tid.x" */
    PTX_OPERAND_VARIABLE,  /* variable + offset: its address */
    PTX_OPERAND_FUNCTION,  /* function: its address, or a call's target */
    PTX_OPERAND_LABEL,     /* label: index of the instruction it stands before */
    PTX_OPERAND_ADDRESS,   /* [base + offset]: base in `items[0]` (register, variable, integer) */
    PTX_OPERAND_VECTOR,    /* {a, b, ...}: items, count */
    PTX_OPERAND_LIST,      /* (a, b): arguments or return values of a call: items, count */
    PTX_OPERAND_TABLE,     /* .branchtargets / .calltargets: table */
    PTX_OPERAND_PROTOTYPE, /* .callprototype: prototype */
    PTX_OPERAND_SINK,      /* _ */
    PTX_OPERAND_PART,      /* r.b0, r.h1 (video instructions): special = "b0", items[0] = r */
};

struct ptx_operand {
    enum ptx_operand_kind kind;
    bool negated;
    bool is_float32;
    uint32_t reg;   /* index in ptx_function.registers */
    uint32_t label; /* instruction index; may equal instruction_count (end of the function) */
    uint32_t count;
    int64_t offset;
    uint64_t integer; /* value, or bits of the float */
    const char *special;
    const struct ptx_variable *variable;
    const struct ptx_function *function;
    const struct ptx_table *table;
    const struct ptx_prototype *prototype;
    struct ptx_operand *items;
};

/* Targets of brx.idx (labels as instruction indexes) or of an indirect call (functions). */
struct ptx_table {
    const char *name;
    const uint32_t *labels;
    const struct ptx_function *const *functions;
    uint32_t count;
};

/* Shape of an indirectly called function: sizes as in struct ptx_variable. */
struct ptx_prototype {
    const char *name;
    struct ptx_variable *returns, *params;
    uint32_t return_count, param_count;
};

/* Written `@!%p opcode.modifier.modifier d|p, a, b;`. `d|p` gives two operands and pair_first. */
struct ptx_instruction {
    const char *opcode; /* interned in the module */
    const char *const *modifiers;
    uint32_t modifier_count;
    struct ptx_operand *operands;
    uint32_t operand_count;
    bool pair_first; /* operands[0] and [1] were written d|p */
    bool guarded;    /* @guard or @!guard */
    bool guard_negated;
    uint32_t guard;       /* register index */
    uint32_t line;        /* in the PTX text, from 1 */
    uint32_t loc;         /* index in ptx_module.locs */
    uint32_t text_offset; /* in ptx_module.text, for messages */
    uint32_t text_bytes;
};

struct ptx_register {
    const char *name; /* "%r12"; unique in the function, scopes included */
    enum ptx_type type;
};

struct ptx_function {
    const char *name;
    bool is_entry;   /* .entry: a kernel */
    bool is_defined; /* has a body */
    bool is_visible, is_weak;
    uint32_t index; /* in ptx_module.functions */
    uint32_t line;
    struct ptx_variable *params, *returns; /* space PTX_PARAM (PTX_REG in old ABI-less code) */
    uint32_t param_count, return_count;
    struct ptx_register *registers;
    uint32_t register_count;
    struct ptx_variable **locals; /* .local, .shared and .param variables declared in the body */
    uint32_t local_count;
    struct ptx_instruction *instructions;
    uint32_t instruction_count;
    uint32_t max_threads[3];      /* .maxntid, 0 = not given */
    uint32_t required_threads[3]; /* .reqntid */
    uint32_t min_blocks, max_registers;
    bool needs_cluster; /* .reqnctapercluster (but 1,1,1), .explicitcluster, .blocksareclusters */
};

struct ptx_module {
    char *text; /* NUL-terminated copy of the input */
    size_t text_bytes;
    unsigned version_major, version_minor;
    char target[32]; /* "sm_90" */
    unsigned target_sm;
    unsigned address_bytes;
    struct ptx_file *files; /* sorted by key */
    uint32_t file_count;
    struct ptx_loc *locs;
    uint32_t loc_count;
    struct ptx_variable **variables; /* module scope */
    uint32_t variable_count;
    struct ptx_function **functions;
    uint32_t function_count;
    void *arena; /* owner of everything above */
};

struct ptx_error {
    uint32_t line;
    char text[240]; /* one line, no newline */
};

/* Parse `bytes` bytes (a trailing NUL is accepted). Returns NULL and fills `error` if it is not PTX. */
struct ptx_module *ptx_parse(const char *text, size_t bytes, struct ptx_error *error);
void ptx_free(struct ptx_module *module);

const struct ptx_function *ptx_find_function(const struct ptx_module *module, const char *name);
const struct ptx_variable *ptx_find_variable(const struct ptx_module *module, const char *name);
const char *ptx_file_path(const struct ptx_module *module, uint32_t key); /* NULL if unknown */

/* The source line to name for an instruction. */
struct ptx_place {
    const char *file; /* NULL = unknown */
    uint32_t line, column;
    const char
        *caller_file; /* where that line was inlined: the outermost call; NULL = not inlined */
    uint32_t caller_line;
};

/*
 * Of the lines that an instruction stands for, those inlined into each other: the innermost that is
 * not a library's (ptx_path_is_library), the innermost of all where every one is. So atomicAdd() is
 * named by the line that calls it, and a function of the user's own by its line and its caller's.
 */
struct ptx_place ptx_place_of(const struct ptx_module *module,
                              const struct ptx_instruction *instruction);

#define PTX_MOST_LEVELS 64u

/* One of those lines. */
struct ptx_level {
    const char
        *function;    /* mangled, of the inlined function; NULL = none was inlined, or unknown */
    const char *file; /* NULL = unknown */
    uint32_t line;
    int32_t
        level; /* 0: the line of ptx_place_of; its callers 1, 2, ...; what it calls -1, -2, ... */
};

/* All of them, innermost first, of more than PTX_MOST_LEVELS the innermost and the outermost one. Returns
 * how many were written: 0 = the line is not known. */
size_t ptx_levels_of(const struct ptx_module *module, const struct ptx_instruction *instruction,
                     struct ptx_level levels[PTX_MOST_LEVELS]);

/*
 * Is this a header of the CUDA toolkit or of the C++ library, by its path? The one place where
 * that is decided; the rules are a table, user_line.c.
 */
bool ptx_path_is_library(const char *path);

/*
 * For each instruction: the index of the instruction where threads that diverge at it reconverge
 * (first instruction of the immediate post-dominator of its block), or PTX_NO_RECONVERGENCE where
 * they meet only when the function returns. Only entries of instructions that can branch are set.
 * `out` has instruction_count entries. Returns 0 or -ENOMEM.
 * Paths on which threads end (exit, trap) do not keep the others from meeting: see flow.c.
 * Source: W. Fung et al., "Dynamic Warp Formation", MICRO 2007 (immediate post-dominator
 * reconvergence).
 */
#define PTX_NO_RECONVERGENCE UINT32_MAX
int ptx_reconvergence(const struct ptx_function *function, uint32_t *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Words, each kept once, and what they are bound to in the scopes that are open. */
#ifndef SIMGPU_PTX_NAMES_H
#define SIMGPU_PTX_NAMES_H

#include <stdint.h>

#include "libtrace/base/arena.h"
#include "simgpu/ptx/ptx.h"

enum ptx_symbol_kind {
    PTX_SYMBOL_REGISTER,
    PTX_SYMBOL_RANGE, /* %r<100>: registers are made when they are first named */
    PTX_SYMBOL_VARIABLE,
    PTX_SYMBOL_FUNCTION,
    PTX_SYMBOL_LABEL,
    PTX_SYMBOL_TABLE,
    PTX_SYMBOL_PROTOTYPE,
};

#define PTX_NO_REGISTER UINT32_MAX

struct ptx_symbol {
    enum ptx_symbol_kind kind;
    struct ptx_atom *atom;
    struct ptx_scope *scope;
    struct ptx_symbol *outer; /* what the word meant before */
    struct ptx_symbol *next;  /* in the same scope */
    union {
        struct {
            uint32_t index; /* of the first component; PTX_NO_REGISTER until it is used */
            uint32_t count; /* of a range */
            enum ptx_type type;
            uint8_t width; /* components: 1, or 2 and 4 for vectors */
        } reg;
        struct ptx_variable *variable;
        struct ptx_function *function;
        uint32_t label;
        struct ptx_table *table;
        struct ptx_prototype *prototype;
    };
};

/* A word. Ranges live beside other symbols: `%r<4>` and `%r` are different things. */
struct ptx_atom {
    struct ptx_atom *next;
    struct ptx_symbol *symbol, *range;
    uint32_t hash, length;
    uint16_t keyword; /* enum ptx_keyword */
    uint16_t type;    /* enum ptx_type: a word that names a type */
    char text[];
};

struct ptx_names {
    struct gmt_arena *arena;
    struct ptx_atom **buckets;
    size_t bucket_count, count;
    uint64_t seed; /* of the hash */
};

int ptx_names_init(struct ptx_names *names, struct gmt_arena *arena);
void ptx_names_free(struct ptx_names *names); /* the buckets; atoms are the arena's */
/* The word of `length` characters; NULL when there is no memory. */
struct ptx_atom *ptx_names_add(struct ptx_names *names, const char *text, size_t length);
/* The same if it is known, else NULL. */
struct ptx_atom *ptx_names_find(const struct ptx_names *names, const char *text, size_t length);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Cubins for tests: those of tests/data/cubin, and small ones that are made of a list of symbols. */
#ifndef GMT_TESTS_CUBIN_FIXTURE_H
#define GMT_TESTS_CUBIN_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>

/* Sections of those that are made. */
enum {
    CUBIN_NAMES = 1, /* of sections */
    CUBIN_STRINGS,
    CUBIN_SYMBOLS,
    CUBIN_INDEXES,
    CUBIN_TEXT,
    CUBIN_GLOBAL,   /* .nv.global */
    CUBIN_CONSTANT, /* of the program */
    CUBIN_ARGUMENTS,
    CUBIN_SHARED,
    CUBIN_OTHER, /* of a name that nobody knows */
    CUBIN_SECTIONS
};

struct cubin_symbol {
    const char *name;
    unsigned type, section;
};

struct cubin_image {
    unsigned char *bytes; /* the caller frees them */
    size_t size;
};

/* How the next ones are made. */
extern size_t cubin_global_bytes; /* size of .nv.global */
extern bool cubin_large_numbers;  /* numbers of sections as where they do not fit into 16 bits */

struct cubin_image cubin_make(const struct cubin_symbol *symbols, size_t count);
/* A file of tests/data/cubin. */
struct cubin_image cubin_read(const char *name);

#endif

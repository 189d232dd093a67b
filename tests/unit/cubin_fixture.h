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
    CUBIN_TEXT2, /* of the kernel `other` */
    CUBIN_TEXT3, /* of the function `part` */
    CUBIN_CALLS, /* .nv.callgraph */
    CUBIN_CALLS2,
    CUBIN_INFO,    /* .nv.info.kernel, of CUBIN_TEXT */
    CUBIN_SECTIONS /* and from here on so many sections of code as are asked for */
};

enum { CUBIN_KERNEL = 2 | 0x1000 }; /* as a type: STT_FUNC that is an entry */

struct cubin_symbol {
    const char *name;
    unsigned type, section;
};

struct cubin_image {
    unsigned char *bytes; /* the caller frees them */
    size_t size;
};

struct cubin_part {
    const void *bytes;
    size_t size; /* 0: there is no such section */
};

/* How the next ones are made. */
extern struct cubin_part cubin_calls, cubin_calls2,
    cubin_info;                    /* CUBIN_CALLS, CUBIN_CALLS2 and CUBIN_INFO */
extern unsigned cubin_calls_link;  /* what CUBIN_CALLS is about */
extern unsigned cubin_info_of;     /* and CUBIN_INFO */
extern size_t cubin_more_sections; /* of code */
extern size_t cubin_global_bytes;  /* size of .nv.global */
extern bool cubin_large_numbers;   /* numbers of sections as where they do not fit into 16 bits */

struct cubin_image cubin_make(const struct cubin_symbol *symbols, size_t count);
/* A file of tests/data/cubin. */
struct cubin_image cubin_read(const char *name);

#endif

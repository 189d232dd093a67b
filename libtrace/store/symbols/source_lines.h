/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions and lines that an address of a module stands for, by its debug information.
 *
 * Units are found by .debug_aranges and, where a compiler leaves that out (clang does), by the ranges
 * of the units themselves. What is found of a unit is kept, so that asking for many addresses of one
 * module costs each of its units one walk.
 */
#ifndef GMT_STORE_SYMBOLS_SOURCE_LINES_H
#define GMT_STORE_SYMBOLS_SOURCE_LINES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>

/* More levels of inlining than any compiler makes; further ones are left out at the inner end. */
#define GMT_SOURCE_DEPTH 64u

struct gmt_source_frame {
    const char
        *function;    /* linkage name, else the source's; NULL: unknown. The module's memory.   */
    const char *file; /* NULL: unknown                                                         */
    int line;
    bool from_library; /* defined by a header of the toolkit, of Thrust, or of the C++ library */
};

struct gmt_source;

/* `module` must outlive it. NULL: no memory. */
struct gmt_source *gmt_source_open(Dwfl_Module *module);
void gmt_source_close(struct gmt_source *source);

/* Frames of the code at `address`, innermost first; the last is the function that the code lies in,
 * those before it were inlined, each into the next. Returns how many, at least 1. */
size_t gmt_source_frames(struct gmt_source *source, GElf_Addr address,
                         struct gmt_source_frame frames[static GMT_SOURCE_DEPTH]);

/* Units whose functions lie in files of their own (-gsplit-dwarf) that could not be read. */
size_t gmt_source_units_without_split(const struct gmt_source *source);

#endif

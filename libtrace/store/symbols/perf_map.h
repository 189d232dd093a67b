/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of code that was made at run time, from the map that its maker writes for perf.
 *
 * /tmp/perf-<pid>.map has a line "START SIZE name" (hexadecimal) per function. CPython writes it with
 * its perf trampoline, and so do Node, Julia, .NET and others where they are asked to. Code can be
 * thrown away and its place used again: the last line of an address holds.
 */
#ifndef GMT_STORE_SYMBOLS_PERF_MAP_H
#define GMT_STORE_SYMBOLS_PERF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* An address in such code, and what is known of it. */
struct gmt_made_frame {
    int64_t id;
    uint64_t address;
    char *function, *file; /* malloc'ed; NULL: unknown */
    bool is_python;        /* one of CPython's trampolines */
    bool has_lines; /* all stacks that it is in have lines of Python, read from the interpreter */
};

/* Fill in the names of `frames`, sorted by address, that lie in the map `path`; those that have one
 * keep it. Returns how many got one, or negative errno: -ENOENT for no map, -EPERM for one that
 * another user owns, -EFBIG for one that is too long to be read. */
ssize_t gmt_perf_map_name(const char *path, struct gmt_made_frame *frames, size_t count);

/* Split what a map calls a function into its name and its file, both malloc'ed; *file is NULL where
 * the map does not name one. 0 or -ENOMEM. */
int gmt_perf_map_split(const char *text, char **function, char **file);

#endif

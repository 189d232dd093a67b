/* SPDX-License-Identifier: Apache-2.0 */
/* What a person would call a kernel: "reduce<mean, f32>" for what fills six lines when it is demangled. */
#ifndef GMT_ANALYZER_BASE_KERNEL_TITLE_H
#define GMT_ANALYZER_BASE_KERNEL_TITLE_H

#include <stdbool.h>

#include "libtrace/base/arena.h"

enum gmt_title_detail {
    GMT_TITLE_SHORT,
    /* What distinguishes kernels of one short title. Of a library's: what stands around its operation, or behind its tile. */
    GMT_TITLE_VARIANT,
    /* Template arguments: of a library's operation those that are numbers, else all; of the user's with namespaces. */
    GMT_TITLE_ARGUMENTS,
};

/*
 * The title of a mangled or demangled name. Of a library's kernel: what it computes, on which type, matrix products
 * with their tile. Of the user's: its name as in the source, with its template arguments.
 */
const char *gmt_kernel_title(struct gmt_arena *arena, const char *name, bool library,
                             enum gmt_title_detail detail);

#endif

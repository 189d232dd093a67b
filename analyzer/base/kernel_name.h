/* SPDX-License-Identifier: Apache-2.0 */
/* What the name of a kernel says: what to call it, and what its parameters are. */
#ifndef GMT_ANALYZER_BASE_KERNEL_NAME_H
#define GMT_ANALYZER_BASE_KERNEL_NAME_H

#include <stdbool.h>

#include "libtrace/base/arena.h"

/* Demangled, without return type, template arguments and parameters. */
const char *gmt_short_kernel_name(struct gmt_arena *arena, const char *mangled);

/* Is parameter `index` of a demangled signature a plain pointer to const? */
bool gmt_parameter_is_const(const char *signature, int index);

/* Are all of them numbers, or pointers to numbers? Any other may hold a handle of a texture, a tensor map, or a
 * pointer in memory, which nothing shows. */
bool gmt_parameters_are_plain(const char *signature);

#endif

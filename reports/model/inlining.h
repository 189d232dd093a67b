/* SPDX-License-Identifier: Apache-2.0 */
/* Inline chains in words. */
#ifndef GMT_REPORTS_MODEL_INLINING_H
#define GMT_REPORTS_MODEL_INLINING_H

#include <stdbool.h>

#include "reports/model/report.h"

/* A demangled name without its return type, template arguments and parameters. */
const char *gmt_function_short(struct gmt_arena *arena, const char *name);

/* "inlined at two (b.cu:9), at b.cu:17", the innermost call first; "" where there is none. Files are named
 * by their last part, or whole. */
const char *gmt_chain_words(struct gmt_arena *arena, const struct gmt_inline_chain *chain,
                            bool whole);

#endif

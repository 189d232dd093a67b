/* SPDX-License-Identifier: Apache-2.0 */
/* Inline chains in words and in JSON. */
#ifndef GMT_REPORTS_INLINING_H
#define GMT_REPORTS_INLINING_H

#include <jansson.h>
#include <stdbool.h>

#include "reports/report.h"

/* A demangled name without its return type, template arguments and parameters. */
const char *gmt_function_short(struct gmt_arena *arena, const char *name);

/* "inlined at two (b.cu:9), at b.cu:17", the innermost call first; "" where there is none. Files are told
 * by their last part, or whole. */
const char *gmt_chain_words(struct gmt_arena *arena, const struct gmt_inline_chain *chain,
                            bool whole);

/* An array of the calls. */
json_t *gmt_chain_json(const struct gmt_inline_chain *chain);

#endif

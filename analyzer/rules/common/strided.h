/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses whose lanes are far apart, and which so touch more sectors than they need. */
#ifndef GMT_ANALYZER_RULES_COMMON_STRIDED_H
#define GMT_ANALYZER_RULES_COMMON_STRIDED_H

#include "analyzer/findings/rule.h"
#include "analyzer/price/pattern.h"

/*
 * A finding for each kernel class of that pattern: GMT_PATTERN_STRIDED (loads, with the stores where they are strided, too) or
 * GMT_PATTERN_SCATTERED (stores alone). Look-ups in what the caches hold are left to GM309.
 */
enum gmt_outcome gmt_strided_run(struct gmt_analysis *analysis, enum gmt_pattern_kind kind);

#endif

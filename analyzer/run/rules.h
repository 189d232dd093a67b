/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of rules. */
#ifndef GMT_ANALYZER_RUN_RULES_H
#define GMT_ANALYZER_RUN_RULES_H

#include <stddef.h>

#include "analyzer/findings/rule.h"

extern const struct gmt_rule *const gmt_rules[];
extern const size_t gmt_rule_count;

const struct gmt_rule *gmt_rule_find(const char *id_or_slug);
/* The slug that a mistyped one was most likely meant to be; NULL: none. */
const char *gmt_rule_nearest(const char *slug);

#endif

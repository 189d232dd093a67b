/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of rules. */
#ifndef GMT_ANALYZER_RUN_RULES_H
#define GMT_ANALYZER_RUN_RULES_H

#include <stddef.h>

#include "analyzer/findings/rule.h"

extern const struct gmt_rule *const gmt_rules[];
extern const size_t gmt_rule_count;

const struct gmt_rule *gmt_rule_find(const char *id_or_slug);
/* The slugs that a word was most likely meant to be: the one that it is a mistyped form of, else those that it is
 * a part of. How many, at most `most` (at least 1). */
size_t gmt_rules_near(const char *word, const char **near, size_t most);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of the rules: docs/rules/ID-SLUG.md, built into the program. */
#ifndef GMT_ANALYZER_RUN_RULE_PAGES_H
#define GMT_ANALYZER_RUN_RULE_PAGES_H

struct gmt_rule_page_text {
    const char *id, *text;
};
/* All pages, in a table that the build makes; the last row has no id. */
extern const struct gmt_rule_page_text gmt_rule_page_texts[];

/* The page of a rule ("GM102") in markdown, lines of at most 100 columns; static. "" if it has none. */
const char *gmt_rule_page(const char *id);

#endif

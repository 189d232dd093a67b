/* SPDX-License-Identifier: Apache-2.0 */
/* The rules, listed for the user: --list-rules and --explain. */
#ifndef GMT_ANALYZER_COMMANDS_RULE_LIST_H
#define GMT_ANALYZER_COMMANDS_RULE_LIST_H

#include <stdbool.h>

/* All of them, a line each, or as a JSON array. Returns the exit code. */
int gmt_rule_list(bool json);

/* One that exists. Returns the exit code. */
int gmt_rule_explain(const char *name);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What reports call places and kernels, for queries about steps. */
#ifndef GMT_ANALYZER_COMMANDS_STEPS_NAMES_H
#define GMT_ANALYZER_COMMANDS_STEPS_NAMES_H

#include <sqlite3.h>

/*
 * Gives this connection functions: gmt_place(stack_id), "train.py:31" or "stack 7"; gmt_function(stack_id), NULL if it is not
 * known; gmt_title(name, detail) of a kernel, where detail is 0 for the short title, 1 for one that says more, 2 for the name,
 * demangled. Call it once. 0 or -EIO.
 */
int gmt_steps_name_places(sqlite3 *db);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a trace, for people. */
#ifndef GMT_ANALYZER_COMMANDS_STEPS_SHOW_H
#define GMT_ANALYZER_COMMANDS_STEPS_SHOW_H

#include <sqlite3.h>

/* Print tables of what its steps were made of; a trace without steps has none. An exit code. */
int gmt_steps_show(sqlite3 *db);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands: what main dispatches by. */
#ifndef GMT_ANALYZER_COMMANDS_COMMAND_TABLE_H
#define GMT_ANALYZER_COMMANDS_COMMAND_TABLE_H

#include "analyzer/commands/commands.h"

/* Takes the arguments from the command's own name on; returns the exit code. */
typedef int gmt_command_function(int argc, char **argv);

extern gmt_command_function *const gmt_commands[GMT_COMMANDS];

gmt_command_function *gmt_command_find(const char *name); /* or NULL */

/* The command that `name` was most likely meant to be, where it is no file; NULL: none. */
const char *gmt_command_nearest(const char *name);

/* The place of a command's name that stands behind options, where no file has that name; 0: there is none. */
int gmt_command_late(int argc, char **argv);

#endif

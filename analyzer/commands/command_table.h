/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands: what main dispatches by. */
#ifndef GMT_ANALYZER_COMMANDS_COMMAND_TABLE_H
#define GMT_ANALYZER_COMMANDS_COMMAND_TABLE_H

#include "analyzer/commands/commands.h"

struct gmt_command {
    const char *name, *arguments, *summary;
    /* Takes the arguments from the command's own name on; returns the exit code. */
    int (*run)(int argc, char **argv);
};

extern const struct gmt_command gmt_commands[GMT_COMMANDS];

const struct gmt_command *gmt_command_find(const char *name); /* or NULL */

/* The command that `name` was most likely meant to be, where it is no file; NULL: none. */
const char *gmt_command_nearest(const char *name);

#endif

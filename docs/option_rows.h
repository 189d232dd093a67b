/* SPDX-License-Identifier: Apache-2.0 */
/* The option tables of all programs as rows of one shape, for what is made of them at build time. */
#ifndef GMT_DOCS_OPTION_ROWS_H
#define GMT_DOCS_OPTION_ROWS_H

#include "reports/model/formats.h"

enum program { GMTRACE, GMANALYZE };

/* The columns of analyzer/commands/options.def, as analyzer/commands/commands.h has them. */
enum command_index {
#define GMT_COMMAND(NAME, name, arguments, summary) COMMAND_##NAME,
#include "analyzer/commands/commands.def"
#undef GMT_COMMAND
    COMMANDS
};
enum command_mask {
#define GMT_COMMAND(NAME, name, arguments, summary) GMT_FOR_##NAME = 1 << COMMAND_##NAME,
#include "analyzer/commands/commands.def"
#undef GMT_COMMAND
};

struct command_row {
    const char *name, *arguments, *summary;
};

static const struct command_row commands[COMMANDS] = {
#define GMT_COMMAND(NAME, name, arguments, summary) {#name, arguments, summary},
#include "analyzer/commands/commands.def"
#undef GMT_COMMAND
};

struct option_row {
    enum program program;
    unsigned commands; /* gmanalyze: of enum command_mask */
    /* No metavar: takes no value. No variable: only on the command line. */
    const char *flag, *variable, *metavar, *standard, *help;
    int letter; /* 0: none */
};

static const struct option_row options[] = {
#define GMT_OPTION(field, flag, letter, variable, metavar, standard, help) \
    {GMTRACE, 1, flag, variable, metavar, standard, help, letter},
#include "libtrace/record/options.def"
#undef GMT_OPTION
#define GMT_OPTION(field, flag, letter, commands, metavar, standard, help) \
    {GMANALYZE, commands, flag, 0, metavar, standard, help, letter},
#include "analyzer/commands/options.def"
#undef GMT_OPTION
};
enum { OPTIONS = sizeof(options) / sizeof(options[0]) };

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of gmanalyze, and what they share. A new one is a row in commands.def, a file
 * beside this one, and its options' rows in options.def. */
#ifndef GMT_ANALYZER_COMMANDS_COMMANDS_H
#define GMT_ANALYZER_COMMANDS_COMMANDS_H

#include <argp.h>
#include <sqlite3.h>
#include <stdbool.h>

#include "analyzer/base/exit_codes.h"
#include "reports/model/formats.h"

enum gmt_command_index {
#define GMT_COMMAND(NAME, name, arguments, summary) GMT_COMMAND_##NAME,
#include "analyzer/commands/commands.def"
#undef GMT_COMMAND
    GMT_COMMANDS
};

/* What commands.def says of each, by index. */
extern const struct gmt_command_words {
    const char *name, *arguments, *summary;
} gmt_command_words[GMT_COMMANDS];

/* The columns of options.def. */
enum gmt_command_mask {
#define GMT_COMMAND(NAME, name, arguments, summary) GMT_FOR_##NAME = 1 << GMT_COMMAND_##NAME,
#include "analyzer/commands/commands.def"
#undef GMT_COMMAND
};

/* Keys of options that have no letter. */
enum gmt_option_key {
    GMT_KEY_FIRST = 0x100,
#define GMT_OPTION(field, flag, letter, commands, metavar, standard, help) GMT_KEY_##field,
#include "analyzer/commands/options.def"
#undef GMT_OPTION
};

/*
 * Parses a command's line with the rows of options.def that it takes. `doc` is what --help says
 * behind the options, or NULL. Ends the process with GMT_EXIT_USAGE on a wrong line, with 0 after
 * --help.
 */
void gmt_command_parse(enum gmt_command_index index, argp_parser_t parser, const char *doc,
                       int argc, char **argv, void *input);

/* Index of word among the words of the metavar of the row with that key; refuses any other word. */
int gmt_command_choice(struct argp_state *state, int key, const char *word);

/* Is it among the words that the metavar of some row lists? */
bool gmt_command_offers(const char *word);

/* Does this word of a command line, an option of some command ("-o", "--top"), take the next word for its value? */
bool gmt_command_takes_next(const char *word);

/* argp_error for what names something of the command line: an argument may hold what a terminal would obey.
 * Does not return unless ARGP_NO_EXIT is set. */
void gmt_command_wrong(struct argp_state *state, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Takes the one trace of a command that reads one; refuses a second. */
void gmt_command_take(struct argp_state *state, const char **trace, char *argument);

/* Opens a trace and makes of views what it lacks. Complains and returns GMT_EXIT_UNREADABLE where that
 * fails, else GMT_EXIT_OK and *db, the caller's (sqlite3_close). */
int gmt_command_open(const char *trace, sqlite3 **db);

/* The words for a negative errno. */
const char *gmt_command_reason(int error);

/* An allocation failed somewhere: what there is may lack something, and nothing may be written of it. Says so
 * of the subject. */
bool gmt_command_memory_short(const char *subject);

/* What a command that prints to standard output ends with: `status`, or GMT_EXIT_UNREADABLE, which is said, where not all
 * of it could be written. */
int gmt_command_printed(int status);

int gmt_command_analyze(int argc, char **argv);
int gmt_command_fixes(int argc, char **argv);
int gmt_command_diff(int argc, char **argv);
int gmt_command_fleet(int argc, char **argv);
int gmt_command_trend(int argc, char **argv);
int gmt_command_export(int argc, char **argv);
int gmt_command_sql(int argc, char **argv);
int gmt_command_lines(int argc, char **argv);
int gmt_command_steps(int argc, char **argv);
int gmt_command_symbolize(int argc, char **argv);
int gmt_command_recover(int argc, char **argv);
int gmt_command_validate(int argc, char **argv);
int gmt_command_help(int argc, char **argv);

#endif

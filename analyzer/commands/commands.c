/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of commands and options, and how a command's line is parsed. */
#include "analyzer/commands/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/commands/views.h"
#include "analyzer/open.h"

/* The C library looks it up by name, past this build's hidden visibility. */
__attribute__((visibility("default"))) const char *argp_program_version = "gmanalyze " GMT_VERSION;

const struct gmt_command gmt_commands[GMT_COMMANDS] = {
#define GMT_COMMAND(NAME, name, arguments, summary) {#name, arguments, summary, gmt_command_##name},
#include "analyzer/commands.def"
#undef GMT_COMMAND
};

/* " (standard)" where a row has one. */
#define GMT_STANDARD(standard) (sizeof(standard) > 1 ? " (" standard ")" : "")

struct option_row {
    unsigned commands;
    int key;
    const char *flag, *metavar, *help, *standard;
};

static const struct option_row rows[] = {
#define GMT_OPTION(field, flag, letter, commands, metavar, standard, help) \
    {commands, (letter) != 0 ? (letter) : GMT_KEY_##field, \
     flag,     metavar, \
     help,     GMT_STANDARD(standard)},
#include "analyzer/options.def"
#undef GMT_OPTION
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

const struct gmt_command *gmt_command_find(const char *name)
{
    for (size_t i = 0; i < GMT_COMMANDS; i++) {
        if (strcmp(gmt_commands[i].name, name) == 0)
            return &gmt_commands[i];
    }
    return NULL;
}

/* argp keeps pointers to what it is given until it has printed: one line is parsed per process. */
static void fill(struct argp_option *table, unsigned command)
{
    static char help[ROWS][512];
    size_t n = 0;

    for (size_t i = 0; i < ROWS; i++) {
        if ((rows[i].commands & command) == 0)
            continue;
        snprintf(help[i], sizeof(help[i]), "%s%s", rows[i].help, rows[i].standard);
        table[n++] = (struct argp_option){
            .name = rows[i].flag, .key = rows[i].key, .arg = rows[i].metavar, .doc = help[i]};
    }
    table[n] = (struct argp_option){0};
}

void gmt_command_parse(enum gmt_command_index index, argp_parser_t parser, const char *doc,
                       int argc, char **argv, void *input)
{
    static struct argp_option table[ROWS + 1];
    static char text[2048], name[64];
    const struct gmt_command *command = &gmt_commands[index];
    struct argp argp = {
        .options = table, .parser = parser, .args_doc = command->arguments, .doc = text};

    fill(table, 1u << index);
    snprintf(text, sizeof(text), "%s\v%s", command->summary, doc != NULL ? doc : "");
    if (index != GMT_COMMAND_ANALYZE) {
        snprintf(name, sizeof(name), "gmanalyze %s", command->name);
        argv[0] = name;
    }
    argp_err_exit_status = GMT_EXIT_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, input);
}

int gmt_command_choice(struct argp_state *state, int key, const char *word)
{
    const struct option_row *row = rows;
    size_t length = strlen(word);
    int index = 0;

    while (row->key != key)
        row++;
    for (const char *at = row->metavar; at != NULL; at = strchr(at, '|'), index++) {
        at += *at == '|';
        if (strcspn(at, "|") == length && strncmp(at, word, length) == 0)
            return index;
    }
    argp_error(state, "--%s: '%s' is none of %s", row->flag, word, row->metavar);
    return -1;
}

void gmt_command_take(struct argp_state *state, const char **trace, char *argument)
{
    if (*trace != NULL)
        argp_error(state, "one trace at a time: '%s'", argument);
    *trace = argument;
}

int gmt_command_open(const char *trace, sqlite3 **db)
{
    char message[512] = "";

    if (gmt_open_trace(trace, db, message, sizeof(message)) != 0) {
        fprintf(stderr, "gmanalyze: %s\n", message);
        return GMT_EXIT_UNREADABLE;
    }
    gmt_views_add(*db);
    return GMT_EXIT_OK;
}

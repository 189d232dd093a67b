/* SPDX-License-Identifier: Apache-2.0 */
/* How the line of a command is parsed, and what commands share. */
#include "analyzer/commands/commands.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/trace/open.h"
#include "libtrace/base/format.h"
#include "libtrace/base/memory_short.h"
#include "libtrace/base/option_check.h"
#include "libtrace/base/printable.h"
#include "libtrace/base/standard_output.h"
#include "libtrace/store/db/guard.h"

/* The C library looks it up by name, past this build's hidden visibility. */
__attribute__((visibility("default"))) const char *argp_program_version = "gmanalyze " GMT_VERSION;

const struct gmt_command_words gmt_command_words[GMT_COMMANDS] = {
#define GMT_COMMAND(NAME, name, arguments, summary) {#name, arguments, summary},
#include "analyzer/commands/commands.def"
#undef GMT_COMMAND
};

/* " (standard)" where a row has one. */
#define GMT_STANDARD(standard) (sizeof(standard) > 1 ? " (" standard ")" : "")

struct command_option {
    unsigned commands;
    int key;
    const char *flag, *metavar, *help, *standard;
};

/* A row without a flag is the title of those behind it. */
static const struct command_option rows[] = {
#define GMT_OPTION_GROUP(title) {0, 0, NULL, NULL, title, ""},
#define GMT_OPTION(field, flag, letter, commands, metavar, standard, help) \
    {commands, (letter) != 0 ? (letter) : GMT_KEY_##field, \
     flag,     metavar, \
     help,     GMT_STANDARD(standard)},
#include "analyzer/commands/options.def"
#undef GMT_OPTION
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* So many need no titles: they have one or two options each. */
enum { FEW_GROUPS = 2 };

static size_t count_groups(unsigned command)
{
    const struct command_option *title = NULL, *counted = NULL;
    size_t n = 0;

    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].flag == NULL) {
            title = &rows[i];
        } else if ((rows[i].commands & command) != 0 && title != counted) {
            counted = title;
            n++;
        }
    }
    return n;
}

/* argp keeps pointers to what it is given until it has printed: one line is parsed per process. */
static void fill(struct argp_option *table, unsigned command)
{
    static char help[ROWS][512];
    const char *title = NULL;
    bool is_grouped = count_groups(command) > FEW_GROUPS;
    size_t n = 0;

    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].flag == NULL) {
            title = rows[i].help;
        }
        if ((rows[i].commands & command) == 0) {
            continue;
        }
        if (is_grouped && title != NULL) {
            table[n++] = (struct argp_option){.doc = title};
            title = NULL;
        }
        snprintf(help[i], sizeof(help[i]), "%s%s", rows[i].help, rows[i].standard);
        table[n++] = (struct argp_option){
            .name = rows[i].flag, .key = rows[i].key, .arg = rows[i].metavar, .doc = help[i]};
    }
    table[n++] = (struct argp_option){.key = 'h', .flags = OPTION_HIDDEN, .doc = ""};
    table[n] = (struct argp_option){0};
}

static argp_parser_t command_parser;

/* What every command has, then its own. */
static error_t parse_common(int key, char *argument, struct argp_state *state)
{
    if (key != 'h') {
        return command_parser(key, argument, state);
    }
    argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
    return 0;
}

void gmt_command_parse(enum gmt_command_index index, argp_parser_t parser, const char *doc,
                       int argc, char **argv, void *input)
{
    static struct argp_option table[ROWS + 2];
    static char text[4096], name[64] = "gmanalyze";
    struct argp argp = {.options = table,
                        .parser = parse_common,
                        .args_doc = gmt_command_words[index].arguments,
                        .doc = text};

    command_parser = parser;
    fill(table, 1u << index);
    snprintf(text, sizeof(text), "%s\v%s", gmt_command_words[index].summary,
             doc != NULL ? doc : "");
    if (index != GMT_COMMAND_ANALYZE) {
        snprintf(name, sizeof(name), "gmanalyze %s", gmt_command_words[index].name);
        argv[0] = name;
    }
    argp_err_exit_status = GMT_EXIT_USAGE;
    if (gmt_option_check(name, table, false, argc, argv)) {
        exit(GMT_EXIT_USAGE);
    }
    argp_parse(&argp, argc, argv, 0, NULL, input);
}

void gmt_command_wrong(struct argp_state *state, const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    char *clean = gmt_clean_copy(text);
    argp_error(state, "%s", clean != NULL ? clean : "");
    free(clean);
}

/* Its place among the words of "a|b"; -1: it is none of them. */
static int index_of(const char *words, const char *word)
{
    size_t length = strlen(word);
    int index = 0;

    for (const char *at = words; at != NULL; at = strchr(at, '|'), index++) {
        at += *at == '|';
        if (strcspn(at, "|") == length && strncmp(at, word, length) == 0) {
            return index;
        }
    }
    return -1;
}

int gmt_command_choice(struct argp_state *state, int key, const char *word)
{
    const struct command_option *row = rows;

    while (row->key != key) {
        row++;
    }
    int index = index_of(row->metavar, word);
    if (index < 0) {
        gmt_command_wrong(state, "--%s: '%s' is none of %s", row->flag, word, row->metavar);
    }
    return index;
}

bool gmt_command_offers(const char *word)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].metavar != NULL && strchr(rows[i].metavar, '|') != NULL &&
            index_of(rows[i].metavar, word) >= 0) {
            return true;
        }
    }
    return false;
}

bool gmt_command_takes_next(const char *word)
{
    bool is_long = word[0] == '-' && word[1] == '-';
    size_t length = strlen(word);

    if (word[0] != '-' || strchr(word, '=') != NULL || (!is_long && length != 2)) {
        return false;
    }
    for (size_t i = 0; i < ROWS; i++) {
        bool is_it = rows[i].flag != NULL &&
                     (is_long ? strncmp(rows[i].flag, word + 2, length - 2) == 0
                              : rows[i].key == word[1]);

        if (is_it && rows[i].metavar != NULL) {
            return true;
        }
    }
    return false;
}

void gmt_command_take(struct argp_state *state, const char **trace, char *argument)
{
    if (*trace != NULL) {
        gmt_command_wrong(state, "one trace at a time: '%s'", argument);
    }
    *trace = argument;
}

int gmt_command_open(const char *trace, sqlite3 **db)
{
    char message[512] = "";

    if (gmt_open_trace(trace, db, message, sizeof(message)) != 0) {
        gmt_say(stderr, "gmanalyze: %s\n", message);
        return GMT_EXIT_UNREADABLE;
    }
    return GMT_EXIT_OK;
}

const char *gmt_command_reason(int error)
{
    switch (error) {
    case -ENOMEM: return gmt_guard_memory_reason();
    case -EEXIST: return "is a trace, and is not replaced; name another file";
    default: return strerror(-error);
    }
}

int gmt_command_printed(int status)
{
    return gmt_standard_output_written("gmanalyze") ? status : GMT_EXIT_UNREADABLE;
}

bool gmt_command_memory_short(const char *subject)
{
    if (!gmt_memory_short()) {
        return false;
    }
    gmt_say(stderr, "gmanalyze: %s: %s\n", subject, gmt_guard_memory_reason());
    return true;
}

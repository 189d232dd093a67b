/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands; and gmanalyze help, which lists it or asks one of them how it is used. */
#include "analyzer/commands/command_table.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/base/nearest.h"

gmt_command_function *const gmt_commands[GMT_COMMANDS] = {
#define GMT_COMMAND(NAME, name, arguments, summary) gmt_command_##name,
#include "analyzer/commands/commands.def"
#undef GMT_COMMAND
};

gmt_command_function *gmt_command_find(const char *name)
{
    for (size_t i = 0; i < GMT_COMMANDS; i++) {
        if (strcmp(gmt_command_words[i].name, name) == 0) {
            return gmt_commands[i];
        }
    }
    return NULL;
}

/* The one command that begins so; NULL: none, or several. */
static const char *begun(const char *name)
{
    enum { SHORTEST = 3 };
    const char *found = NULL;
    size_t length = strlen(name), count = 0;

    for (size_t i = 0; i < GMT_COMMANDS && length >= SHORTEST; i++) {
        if (strncmp(gmt_command_words[i].name, name, length) == 0) {
            found = gmt_command_words[i].name;
            count++;
        }
    }
    return count == 1 ? found : NULL;
}

const char *gmt_command_nearest(const char *name)
{
    const char *names[GMT_COMMANDS], *near;

    if (name[0] == '-' || access(name, F_OK) == 0) {
        return NULL;
    }
    for (size_t i = 0; i < GMT_COMMANDS; i++) {
        names[i] = gmt_command_words[i].name;
    }
    near = gmt_nearest(name, names, GMT_COMMANDS);
    return near != NULL ? near : begun(name);
}

int gmt_command_late(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (argv[i][0] != '-') {
            bool is_command = i > 1 && gmt_command_find(argv[i]) != NULL;

            return is_command && access(argv[i], F_OK) != 0 ? i : 0;
        }
        i += gmt_command_takes_next(argv[i]);
    }
    return 0;
}

/* ---- help ------------------------------------------------------------------------------------- */

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    gmt_command_function **command = state->input;

    if (key != ARGP_KEY_ARG) {
        return ARGP_ERR_UNKNOWN;
    }
    *command = gmt_command_find(argument);
    if (*command == NULL) {
        const char *meant = gmt_command_nearest(argument);

        gmt_command_wrong(state, "no command '%s'%s%s%s", argument,
                          meant != NULL ? "; did you mean '" : "", meant != NULL ? meant : "",
                          meant != NULL ? "'?" : "");
    }
    return 0;
}

int gmt_command_help(int argc, char **argv)
{
    gmt_command_function *command = NULL;
    char name[] = "gmanalyze", option[] = "--help";
    char *line[] = {name, option, NULL};

    gmt_command_parse(GMT_COMMAND_HELP, parse_option, NULL, argc, argv, &command);
    if (command != NULL) {
        return command(2, line);
    }
    for (size_t i = 0; i < GMT_COMMANDS; i++) {
        /* The first needs no name. */
        const struct gmt_command_words *words = &gmt_command_words[i];
        const char *word = i == GMT_COMMAND_ANALYZE ? "" : words->name;

        printf("gmanalyze %s%s[OPTION...] %s\n    %s\n", word, *word != '\0' ? " " : "",
               words->arguments, words->summary);
    }
    printf("\nOptions of a command: gmanalyze help COMMAND. Details: gmanalyze(1).\n");
    return gmt_command_printed(GMT_EXIT_OK);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* gmanalyze help: the commands, or how one of them is used. */
#include <stdio.h>

#include "analyzer/commands/commands.h"

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    const struct gmt_command **command = state->input;

    if (key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    *command = gmt_command_find(argument);
    if (*command == NULL)
        gmt_command_wrong(state, "no command '%s'", argument);
    return 0;
}

int gmt_command_help(int argc, char **argv)
{
    const struct gmt_command *command = NULL;
    char name[] = "gmanalyze", option[] = "--help";
    char *line[] = {name, option, NULL};

    gmt_command_parse(GMT_COMMAND_HELP, parse_option, NULL, argc, argv, &command);
    if (command != NULL)
        return command->run(2, line);
    for (size_t i = 0; i < GMT_COMMANDS; i++) {
        /* The first needs no name. */
        const char *word = i == GMT_COMMAND_ANALYZE ? "" : gmt_commands[i].name;

        printf("gmanalyze %s%s[OPTION...] %s\n    %s\n", word, *word != '\0' ? " " : "",
               gmt_commands[i].arguments, gmt_commands[i].summary);
    }
    printf("\nOptions of a command: gmanalyze help COMMAND. All there is to know: gmanalyze(1).\n");
    return GMT_EXIT_OK;
}

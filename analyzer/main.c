/* SPDX-License-Identifier: Apache-2.0 */
/* gmanalyze: hands its command line to the command that it names, else to the analysis. */
#include <stddef.h>

#include "analyzer/commands/commands.h"

int main(int argc, char **argv)
{
    /* A trace of that name is reached as ./sql. */
    const struct gmt_command *command = argc > 1 ? gmt_command_find(argv[1]) : NULL;

    if (command == NULL)
        return gmt_commands[GMT_COMMAND_ANALYZE].run(argc, argv);
    return command->run(argc - 1, argv + 1);
}

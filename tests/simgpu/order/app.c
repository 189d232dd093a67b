/* SPDX-License-Identifier: Apache-2.0 */
/* order_app PROGRAM: one of programs.c, as a program of its own. Exit status 3: its results are wrong. */
#include <string.h>

#include "programs.h"

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < program_count; i++) {
        if (strcmp(programs[i].name, argv[1]) == 0) {
            return program_run(&programs[i]) ? 0 : 3;
        }
    }
    return 2;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* plainclient SCENARIO [N]: a program without CUDA whose output shows whether something disturbs it. */
#include "plain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(long n);
    const char *help;
} scenarios[] = {
#define SCENARIO(name, function, help) {#name, function, help},
#include "plain.def"
#undef SCENARIO
};

int plain_arguments;

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : getenv("PLAIN_SCENARIO");
    plain_arguments = argc;
    for (size_t i = 0; name != NULL && i < sizeof scenarios / sizeof scenarios[0]; i++) {
        if (strcmp(scenarios[i].name, name) == 0) {
            return scenarios[i].run(argc > 2 ? strtol(argv[2], NULL, 10) : 0);
        }
    }
    if (argc == 0) {
        puts("no arguments at all");
        return 0;
    }
    fputs("usage: plainclient SCENARIO [N]\n", stderr);
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        fprintf(stderr, "  %-18s %s\n", scenarios[i].name, scenarios[i].help);
    }
    return 2;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutants SEEDS: programs that are right, and the same with one thing left out that they need (SIMGPU_SKIP). Under every seed
 * the first show nothing wrong and nothing is reported; each of the others is caught under some seed, by its results or by a
 * report.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "programs.h"

static const struct mutant {
    const char *program, *skip;
} mutants[] = {
#include "mutants.def"
};

static char report[] = "/tmp/order_report.XXXXXX";

struct outcome {
    unsigned wrong, reported, failed;
};

static void run(const struct program *program, const char *skip, unsigned seed)
{
    char text[16];
    (void)snprintf(text, sizeof text, "%u", seed);
    setenv("SIMGPU_ORDER", text, 1);
    setenv("SIMGPU_ORDER_REPORT", report, 1);
    if (skip != NULL) {
        setenv("SIMGPU_SKIP", skip, 1);
    }
    alarm(20);
    _exit(program_run(program) ? 0 : 3);
}

static struct outcome try_all(const struct program *program, const char *skip, unsigned seeds)
{
    struct outcome outcome = {0};
    for (unsigned seed = 1; seed <= seeds; seed++) {
        int status = 0;
        unlink(report);
        pid_t child = fork();
        if (child == 0) {
            run(program, skip, seed);
        }
        if (waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
            (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 3)) {
            outcome.failed++;
        } else {
            outcome.wrong += WEXITSTATUS(status) == 3;
        }
        outcome.reported += access(report, F_OK) == 0;
    }
    return outcome;
}

static const struct program *find(const char *name)
{
    for (size_t i = 0; i < program_count; i++) {
        if (strcmp(programs[i].name, name) == 0) {
            return &programs[i];
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    unsigned seeds = argc > 1 ? (unsigned)atoi(argv[1]) : 10, bad = 0, caught = 0;
    size_t count = sizeof mutants / sizeof mutants[0];
    int file = mkstemp(report);
    if (file < 0) {
        return 1;
    }
    close(file);
    for (size_t i = 0; i < program_count; i++) {
        struct outcome outcome = try_all(&programs[i], NULL, seeds);
        if (outcome.wrong + outcome.reported + outcome.failed != 0) {
            printf("FAIL: %s is right: %u wrong, %u reported, %u failed\n", programs[i].name,
                   outcome.wrong, outcome.reported, outcome.failed);
            bad++;
        }
    }
    for (size_t i = 0; i < count; i++) {
        const struct program *program = find(mutants[i].program);
        struct outcome outcome = {0};
        if (program != NULL) {
            outcome = try_all(program, mutants[i].skip, seeds);
        }
        bool is_caught = outcome.wrong + outcome.reported != 0 && outcome.failed == 0;
        printf("%s %-22s without %-26s %2u of %u wrong, %2u reported\n",
               is_caught ? "    " : "FAIL", mutants[i].program, mutants[i].skip, outcome.wrong,
               seeds, outcome.reported);
        caught += is_caught;
    }
    unlink(report);
    printf("%zu programs, %zu mutants, %u caught\n", program_count, count, caught);
    return bad == 0 && caught == count && count >= 20 ? 0 : 1;
}

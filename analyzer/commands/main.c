/* SPDX-License-Identifier: Apache-2.0 */
/* gmanalyze: hands its command line to the command that it names, else to the analysis. */
#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/commands/command_table.h"
#include "libtrace/base/memory_short.h"
#include "libtrace/base/printable.h"
#include "libtrace/base/standard_output.h"

/*
 * The linker sends allocations of this program's own code here (--wrap). What fails for want of memory is
 * often survived, by a report without a model or a rule: such a report must not be taken for the whole.
 */
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);

static void *noted(void *memory, size_t bytes)
{
    if (memory == NULL && bytes > 0) {
        gmt_memory_note_short();
    }
    return memory;
}

void *__wrap_malloc(size_t bytes)
{
    return noted(__real_malloc(bytes), bytes);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
    return noted(__real_calloc(n, bytes), bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    return noted(__real_realloc(memory, bytes), bytes);
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

/* The line as it was meant. late: the place of the command. */
static void explain_late(int argc, char **argv, int late)
{
    char *line = NULL;
    size_t bytes;
    FILE *text = open_memstream(&line, &bytes);

    for (int i = 1; text != NULL && i < argc; i++) {
        bool plain = argv[i][strcspn(argv[i], " \t\n'\"\\$&|;<>()*?[]#~!`")] == '\0';

        if (i != late) {
            (void)fprintf(text, plain || strchr(argv[i], '\'') != NULL ? " %s" : " '%s'", argv[i]);
        }
    }
    if (text != NULL) {
        (void)fclose(text);
    }
    gmt_say(stderr, "gmanalyze: '%s' is a command and comes first: gmanalyze %s%s\n", argv[late],
            argv[late], line != NULL ? line : "");
    free(line);
}

int main(int argc, char **argv)
{
    /* A file that would exceed the limit (ulimit -f) is a failure to be explained, not an end. */
    (void)signal(SIGXFSZ, SIG_IGN);
    /* One thread uses a connection, which need not lock for each row; two connections meet in what SQLite counts of memory. */
    (void)sqlite3_config(SQLITE_CONFIG_MULTITHREAD);

    gmt_standard_output_watch("gmanalyze", GMT_EXIT_UNREADABLE);

    /* A trace of that name needs its folder: ./sql. */
    gmt_command_function *command = argc > 1 ? gmt_command_find(argv[1]) : NULL;
    const char *meant = argc > 1 && command == NULL ? gmt_command_nearest(argv[1]) : NULL;

    if (meant != NULL) {
        gmt_say(stderr, "gmanalyze: '%s' is no command and no file; did you mean 'gmanalyze %s'?\n",
                argv[1], meant);
        return GMT_EXIT_USAGE;
    }

    int late = command == NULL ? gmt_command_late(argc, argv) : 0;
    if (late != 0) {
        explain_late(argc, argv, late);
        return GMT_EXIT_USAGE;
    }

    int status = command != NULL ? command(argc - 1, argv + 1)
                                 : gmt_commands[GMT_COMMAND_ANALYZE](argc, argv);
    /* With 2 and 3 a command has printed its error. Another may have gone on after memory ran short. */
    bool is_reported = status == GMT_EXIT_USAGE || status == GMT_EXIT_UNREADABLE;
    if (!is_reported && gmt_command_memory_short("not all of it could be done")) {
        status = GMT_EXIT_UNREADABLE;
    }
    return status;
}

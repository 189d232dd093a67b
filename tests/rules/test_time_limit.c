/* SPDX-License-Identifier: Apache-2.0 */
/* What asks nobody whether it may go on is ended, with the reason and the status of a file that cannot be read. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/base/time_limit.h"

TestSuite(time_limit, .timeout = 60);

static volatile unsigned long turns;

static _Noreturn void never_end(void)
{
    for (;;) {
        turns = turns + 1;
    }
}

/* What it says before it ends; *status as of wait. */
static void output_of(void (*function)(void), char *text, size_t bytes, int *status)
{
    int ends[2];

    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        function();
        _exit(0);
    }
    close(ends[1]);
    size_t used = 0;
    ssize_t got;
    while ((got = read(ends[0], text + used, bytes - 1 - used)) > 0) {
        used += (size_t)got;
    }
    text[used] = '\0';
    close(ends[0]);
    cr_assert_eq(waitpid(child, status, 0), child);
}

static void loop_under_limit(void)
{
    gmt_time_limit_process("odd\x1b[31m.spool", 20000000);
    never_end();
}

static void end_in_time(void)
{
    gmt_time_limit_process("a.spool", 20000000);
    gmt_time_limit_process_end();
    for (turns = 0; turns < 100000000; turns++) {
    }
}

Test(time_limit, ends_a_process_that_does_not)
{
    char text[512];
    int status;

    output_of(loop_under_limit, text, sizeof(text), &status);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 3, "%d", status);
    cr_expect_eq(strncmp(text, "gmanalyze: odd", 14), 0, "%s", text);
    cr_expect_null(strchr(text, '\x1b'));
    cr_expect_not_null(strstr(text, "processor time"), "%s", text);
    cr_expect_eq(strchr(text, '\n'), text + strlen(text) - 1, "one line: %s", text);
}

Test(time_limit, leaves_alone_what_has_ended)
{
    char text[512];
    int status;

    output_of(end_in_time, text, sizeof(text), &status);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d", status);
    cr_expect_str_eq(text, "");
}

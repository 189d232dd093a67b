/* SPDX-License-Identifier: Apache-2.0 */
/* A process that measures for another one: what is heard of it, and that none is waited for in vain. */
#include <criterion/criterion.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "kernels/fit/child.h"

#define ENOUGH_S 600 /* never waited for */

struct heard {
    double units;
    unsigned times;
    char what[32];
};

static void hear(void *context, double units, const char *what)
{
    struct heard *heard = context;

    heard->units += units;
    heard->times++;
    snprintf(heard->what, sizeof(heard->what), "%s", what);
}

/* A child that is a script of the shell. */
static int run(const char *script, unsigned timeout_s, struct heard *heard, json_t **result,
               char *message, size_t bytes)
{
    char name[] = "sh", option[] = "-c", text[512];
    char *arguments[] = {name, option, text, NULL};
    const struct gmt_child child = {
        .program = "/bin/sh",
        .arguments = arguments,
        .timeout_s = timeout_s,
        .heard = heard != NULL ? hear : NULL,
        .context = heard,
    };

    snprintf(text, sizeof(text), "%s", script);
    int rc = gmt_child_run(&child, result, message, bytes);
    cr_assert(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "a process is left");
    return rc;
}

static void fails(const char *script, unsigned timeout_s, int expected, const char *why)
{
    char message[256] = "";
    json_t *result;

    cr_assert_eq(run(script, timeout_s, NULL, &result, message, sizeof(message)), expected,
                 "%s: %s", script, message);
    cr_assert_null(result);
    cr_assert_str_eq(message, why);
}

Test(child, reports_its_progress_and_its_result)
{
    struct heard heard = {.units = 0};
    char message[256];
    json_t *result;

    cr_assert_eq(run("echo '{\"units\": 1.5, \"what\": \"costs\"}' >&3;"
                     "echo a library speaks >&3;"
                     "printf '{\"units\": 2, ' >&3; echo '\"what\": \"transfers\"}' >&3;"
                     "echo '{\"result\": {\"passes\": [1, 2]}}' >&3",
                     ENOUGH_S, &heard, &result, message, sizeof(message)),
                 0);
    cr_assert_float_eq(heard.units, 3.5, 1e-9);
    cr_assert_eq(heard.times, 2);
    cr_assert_str_eq(heard.what, "transfers");
    cr_assert_eq(json_array_size(json_object_get(result, "passes")), 2);
    json_decref(result);
}

Test(child, may_send_more_than_a_pipe_holds)
{
    char message[256];
    json_t *result;

    cr_assert_eq(run("{ printf '{\"result\": \"'; head -c 3000000 /dev/zero | tr '\\0' x;"
                     "echo '\"}'; } >&3",
                     ENOUGH_S, NULL, &result, message, sizeof(message)),
                 0);
    cr_assert_eq(json_string_length(result), 3000000);
    json_decref(result);
}

Test(child, that_ends_without_a_result_is_missing)
{
    fails("exit 7", ENOUGH_S, -ECHILD, "ended with status 7 and no result");
    fails("kill -SEGV $$", ENOUGH_S, -ECHILD, "was killed by signal 11");
    fails("printf '{\"result\": {\"passes\": [1' >&3; kill -KILL $$", ENOUGH_S, -ECHILD,
          "was killed by signal 9");
    fails("echo '{\"error\": \"cudaMalloc: out of memory\"}' >&3; exit 1", ENOUGH_S, -ECHILD,
          "failed: cudaMalloc: out of memory");
}

Test(child, that_hangs_is_ended)
{
    fails("echo '{\"units\": 1, \"what\": \"costs\"}' >&3; exec sleep 100000", 1, -ETIME,
          "gave no output for 1 s and was stopped");
    fails("exec 3>&-; exec sleep 100000", 1, -ETIME, "gave no output for 1 s and was stopped");
}

Test(child, that_hangs_behind_its_result_has_given_it)
{
    char message[256];
    json_t *result;

    /* Its shell may begin late on a machine that does other things. */
    cr_assert_eq(run("echo '{\"result\": {}}' >&3; exec 3>&-; exec sleep 100000", 10, NULL, &result,
                     message, sizeof(message)),
                 0);
    json_decref(result);
}

Test(child, that_cannot_be_started_is_missing)
{
    if (getenv("GMT_EMULATED") != NULL) {
        cr_skip_test("qemu does not emulate vfork, by which posix_spawn learns of errors");
    }
    char message[256] = "", name[] = "none";
    char *arguments[] = {name, NULL};
    const struct gmt_child child = {
        .program = "/nowhere/none", .arguments = arguments, .timeout_s = ENOUGH_S};
    json_t *result;

    cr_assert_eq(gmt_child_run(&child, &result, message, sizeof(message)), -ENOENT);
    cr_assert_str_eq(message, "could not be started: No such file or directory");
}

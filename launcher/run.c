/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the program, once or twice, reports its traces and passes its exit status on. */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/launcher.h"
#include "launcher/program.h"
#include "libtrace/base/printable.h"
#include "preload/apply/plan.h"
#include "preload/session/older.h"
#include "preload/session/options.h"
#include "preload/session/output.h"

int gmt_launcher_exit_status(int status)
{
    return WIFSIGNALED(status) ? GMT_EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* The name of the first trace, if it is known before the program runs: %p, %e and %t are not, nor is a rank
 * that the program's own launcher gives. */
static bool know_first_name(const char *pattern, char path[static PATH_MAX])
{
    unsigned ranks;
    for (const char *at = pattern; (at = strchr(at, '%')) != NULL; at += 2) {
        if (at[1] == '\0' || strchr("%hq", at[1]) == NULL) {
            if (at[1] != 'r' || gmt_options_rank(&ranks) == NULL) {
                return false;
            }
        }
    }
    return gmt_output_expand(pattern, path, PATH_MAX) == 0;
}

/* Whoever reads that file after the run reads this run's or none. False, and said: what is there is no trace. */
static bool move_older_aside(const char *program, const struct gmt_launcher_run *run)
{
    char path[PATH_MAX], file[PATH_MAX];
    if (!know_first_name(gmt_options.output, path)) {
        return true;
    }
    if (gmt_older_is_foreign(path, run->name, file)) {
        gmt_say(stderr,
                "gmtrace: '%s' is no trace of gmtrace and is not replaced; name another file with "
                "-o\n",
                file);
        return false;
    }
    gmt_program_find(program, file);
    if (gmt_options.ring.ns == 0 && access(file, X_OK) == 0) {
        (void)gmt_output_make_way(path, run->name);
    }
    return true;
}

int gmt_launcher_run(char *const argv[])
{
    int status = 0;
    const char *output = getenv("GMTRACE_OUTPUT");
    bool was_asked = output != NULL && output[0] != '\0';
    const char *plan = getenv(GMT_APPLY_VARIABLE);
    if (plan != NULL && plan[0] != '\0') {
        gmt_say(stderr, "gmtrace: " GMT_APPLY_VARIABLE
                        " is set: nothing would be recorded; unset it, or use gmtrace apply\n");
        return GMT_EXIT_FAILED;
    }
    gmt_options_load();
    if (gmt_launcher_check_outputs() != 0) {
        return GMT_EXIT_FAILED;
    }
    if (gmt_options.ring.ns != 0 && gmt_options.collect == GMT_COLLECT_DEEP &&
        gmt_options.deep != GMT_DEEP_PHASE) {
        gmt_say(stderr, "gmtrace: --ring keeps the last seconds of one run: --collect deep needs "
                        "--deep phase with it\n");
        return GMT_EXIT_FAILED;
    }
    struct gmt_launcher_run run = gmt_launcher_begin_run();
    if (!move_older_aside(argv[0], &run)) {
        return GMT_EXIT_FAILED;
    }
    int failure = gmt_launcher_execute(argv, &run, NULL, &status);
    if (failure > 0) {
        return failure;
    }
    if (failure == 0 && !WIFSIGNALED(status) && gmt_options.collect == GMT_COLLECT_DEEP &&
        gmt_options.deep != GMT_DEEP_PHASE) {
        gmt_launcher_second_run(gmt_options.output, &run, argv);
    }
    int result = failure < 0 ? GMT_EXIT_FAILED : gmt_launcher_exit_status(status);
    enum gmt_launcher_outcome outcome = gmt_launcher_report(gmt_options.output, &run, argv[0],
                                                            was_asked && result == 0);
    bool is_failure = outcome == GMT_OUTCOME_FAILED ||
                      (outcome == GMT_OUTCOME_NO_CALL && was_asked);
    return result == 0 && is_failure ? GMT_EXIT_FAILED : result;
}

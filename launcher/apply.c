/* SPDX-License-Identifier: Apache-2.0 */
/* `gmtrace apply`: runs a program with the fixes that `gmtrace try` has proven on it, unrecorded. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/launcher.h"
#include "launcher/program.h"
#include "libtrace/base/printable.h"
#include "preload/apply/note.h"
#include "preload/apply/plan.h"

static const char usage[] = "Usage: gmtrace apply FILE [--] PROGRAM [ARGUMENT...]";

/* Why a fix of the plan is not applied; NULL: it is. */
static const char *reason_against(enum gmt_fix_state state)
{
    switch (state) {
    case GMT_FIX_PROVEN: return NULL;
    case GMT_FIX_TRIED:
        return "not all of its results could be compared, alone or together with others, or its "
               "gain is not proven";
    case GMT_FIX_DIFFERS: return "results differed with it";
    case GMT_FIX_NO_GAIN: return "it gains nothing";
    default: return "it is not proven";
    }
}

static bool look_at(const char *path, const struct gmt_plan *plan)
{
    unsigned proven = 0;
    for (unsigned i = 0; i < GMT_FIX_COUNT; i++) {
        const char *against = reason_against(plan->states[i]);
        proven += plan->states[i] == GMT_FIX_PROVEN;
        if (plan->states[i] != GMT_FIX_ABSENT && against != NULL) {
            gmt_say(stderr, "gmtrace: %s is not applied: %s\n", gmt_fixes[i].name, against);
        }
    }
    if (proven == 0) {
        gmt_say(stderr, "gmtrace: '%s' has no proven fix\n", path);
    }
    return proven != 0;
}

/* Is it a file that the plan names, with another content? What is started may start the program only: then the library decides. */
static bool is_changed(const char *program, const struct gmt_plan *plan)
{
    char hash[33], file[PATH_MAX];
    bool is_named = false;
    gmt_program_find(program, file);
    char *whole = realpath(file, NULL);
    for (unsigned i = 0; i < plan->program_count && whole != NULL; i++) {
        is_named = is_named || strcmp(gmt_plan_path(plan, i), whole) == 0;
    }
    free(whole);
    gmt_plan_hash_file(file, hash);
    return is_named && !gmt_plan_is_for(plan, hash);
}

/* Why the file is no plan for this program; NULL: it may be one. */
static const char *read_plan(const char *path, const char *program, struct gmt_plan *plan,
                             char *why, size_t bytes)
{
    const char *wrong = gmt_plan_read(path, plan, why, bytes);
    return wrong != NULL               ? wrong
           : is_changed(program, plan) ? "it is for another build of this program"
                                       : NULL;
}

/* The variables that the library looks at. The program may change its folder before it does. */
static bool set_variables(const char *path)
{
    char *whole = realpath(path, NULL);
    bool set = whole != NULL && setenv(GMT_APPLY_VARIABLE, whole, 1) == 0 &&
               unsetenv(GMT_TRY_VARIABLE) == 0;
    free(whole);
    return set;
}

bool gmt_launcher_can_apply(const char *program)
{
    struct gmt_program traits = gmt_program_look(program);
    if (traits.is_static || traits.is_musl) {
        gmt_say(stderr,
                "gmtrace: nothing can be preloaded into %s: fixes cannot be applied to it\n",
                program);
    }
    return !traits.is_static && !traits.is_musl;
}

/* The place of the program; 0: there is none, and `status` says how that ends. */
static size_t place_of_program(char *const argv[], int *status)
{
    size_t words = 0, at = 1;
    *status = GMT_EXIT_FAILED;
    for (; argv[at] != NULL && words < 2; at++) {
        if (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0) {
            gmt_say(stdout, "%s\n", usage);
            gmt_say(stdout,
                    "Runs PROGRAM with the fixes that gmtrace try has proven on it and wrote to "
                    "FILE, and records nothing. GMTRACE_APPLY=FILE with libgmtrace.so "
                    "preloaded does the same.\n");
            *status = 0;
            return 0;
        }
        if (words == 1 && strcmp(argv[at], "--") == 0) {
            at++;
            break;
        }
        if (argv[at][0] == '-') {
            gmt_say(stderr, "gmtrace: apply: '%s' is no option of it\n", argv[at]);
            gmt_say(stderr, "%s\n", usage);
            return 0;
        }
        if (++words == 2) {
            return at;
        }
    }
    if (argv[at] == NULL) {
        gmt_say(stderr, "gmtrace: apply: name a plan and the program to run\n");
        gmt_say(stderr, "%s\n", usage);
    }
    return argv[at] != NULL ? at : 0;
}

int gmt_launcher_apply(char *const argv[])
{
    struct gmt_plan plan;
    char why[128];
    int status;
    size_t at = place_of_program(argv, &status);
    if (at == 0) {
        return status;
    }
    const char *wrong = read_plan(argv[1], argv[at], &plan, why, sizeof(why));
    if (wrong != NULL) {
        gmt_say(stderr, "gmtrace: '%s': %s\n", argv[1], wrong);
        return GMT_EXIT_FAILED;
    }
    if (!gmt_launcher_can_apply(argv[at]) || !look_at(argv[1], &plan) || !set_variables(argv[1])) {
        return GMT_EXIT_FAILED;
    }
    struct gmt_launcher_run run = gmt_launcher_begin_run();
    int failure = gmt_launcher_execute(&argv[at], &run, NULL, &status);
    return failure > 0 ? failure : failure < 0 ? GMT_EXIT_FAILED : gmt_launcher_exit_status(status);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the plan, and begins to apply it (apply.h). */
#include "preload/apply/apply.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/record/clock.h"
#include "preload/apply/blocks.h"
#include "preload/apply/calls.h"
#include "preload/apply/gather.h"
#include "preload/apply/settings.h"
#include "preload/apply/state.h"

bool gmt_apply_is_wanted(void)
{
    const char *plan = getenv(GMT_APPLY_VARIABLE);
    return plan != NULL && plan[0] != '\0';
}

/* ---- the start ---------------------------------------------------------------------------------- */

/* One line on standard error. A full file or a closed pipe behind it must not end the program. */
static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    char line[PATH_MAX + 512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    sigset_t deadly, before, pending;
    sigemptyset(&deadly);
    sigaddset(&deadly, SIGXFSZ);
    sigaddset(&deadly, SIGPIPE);
    (void)sigpending(&pending);
    if (length <= 0 || pthread_sigmask(SIG_BLOCK, &deadly, &before) != 0) {
        return;
    }
    size_t bytes = (size_t)length < sizeof(line) ? (size_t)length : sizeof(line) - 1;
    if (write(STDERR_FILENO, line, bytes) < 0 && !sigismember(&pending, SIGXFSZ) &&
        !sigismember(&pending, SIGPIPE)) {
        (void)sigtimedwait(&deadly, NULL, &(struct timespec){0});
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* What the plan asks for and may be done here; the names of the fixes, with commas. */
static unsigned choose(bool is_try, char *names, size_t bytes)
{
    unsigned count = 0;
    for (unsigned i = 0; i < GMT_FIX_COUNT; i++) {
        enum gmt_fix_state state = gmt_apply_plan.states[i];
        gmt_apply_on[i] = state == GMT_FIX_PROVEN || (state == GMT_FIX_TRYING && is_try);
        if (gmt_apply_on[i]) {
            size_t used = strlen(names);
            (void)snprintf(names + used, bytes - used, "%s%s", count++ != 0 ? ", " : "",
                           gmt_fixes[i].name);
        }
    }
    return count;
}

static const char *reason_against(const char *path, bool is_try, char *why, size_t bytes)
{
    char hash[33];
    const char *wrong = gmt_plan_read(path, &gmt_apply_plan, why, bytes);
    if (wrong != NULL) {
        return wrong;
    }
    hash[0] = '\0';
    if (!is_try) {
        gmt_plan_hash_file("/proc/self/exe", hash);
    }
    if (!is_try && !gmt_plan_is_for(&gmt_apply_plan, hash)) {
        (void)snprintf(why, bytes, "it is for another program, %.200s, or another build of it",
                       gmt_plan_path(&gmt_apply_plan, 0));
        return why;
    }
    if (!gmt_apply_load_driver()) {
        return "the driver lacks a function that is needed";
    }
    return gmt_apply_begin_process() ? NULL : "a child of this process could not be recognized";
}

static void install_caches(void)
{
    bool of_blocks = gmt_apply_on[GMT_FIX_BLOCK_CACHE],
         of_pinned = gmt_apply_on[GMT_FIX_PINNED_CACHE];
    if (!(of_blocks || of_pinned) || !gmt_blocks_make()) {
        return;
    }
    gmt_apply_install_shown();
    if (of_blocks) {
        gmt_apply_install_block_cache();
    }
    if (of_pinned) {
        gmt_apply_install_pinned_cache();
    }
}

void gmt_apply_start(void)
{
    static bool is_started;
    char why[512], names[256] = "";
    const char *path = getenv(GMT_APPLY_VARIABLE);
    int saved_errno = errno;
    if (is_started) {
        return;
    }
    is_started = true;
    gmt_clock_init();
    bool is_try = gmt_apply_join_run();
    const char *wrong = reason_against(path, is_try, why, sizeof(why));
    if (wrong != NULL) {
        say("gmtrace: '%s' is not applied: %s; the program runs as it is\n", path, wrong);
        errno = saved_errno;
        return;
    }
    unsigned count = choose(is_try, names, sizeof(names));
    if (count != 0 || gmt_apply_watches) {
        gmt_apply_install();
        gmt_settings_start();
    }
    if (gmt_apply_on[GMT_FIX_CARVE_OUT]) {
        gmt_apply_install_launches();
    }
    if (count != 0) {
        gmt_apply_install_contexts();
    }
    install_caches();
    if (gmt_apply_watches) {
        gmt_apply_install_watch();
        gmt_apply_note_identity();
    }
    gmt_gather_start(gmt_apply_is_copy); /* the last: it sees each call before the others do */
    if (!is_try) {
        say(count != 0 ? "gmtrace: applies %s to this program, by '%s'; nothing is recorded\n"
                       : "gmtrace: %s'%s' has no proven fix; the program runs as it is\n",
            names, path);
    }
    errno = saved_errno;
}

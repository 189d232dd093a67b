/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gmtrace-recorder: started by libgmtrace.so beside the traced program, turns its spool into
 * trace.db while it runs, and finishes however it ends. Not for users.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/store/recording/recording.h"

#define RETRY_S 1

/* Nothing may end the recorder before its work is done: not the terminal, not a batch system that
 * signals the whole job, not the file size limit (writes then fail with EFBIG, which is handled). */
static void ignore_signals(void)
{
    static const int ignored[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGPIPE, SIGXFSZ,
                                  SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2};
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++) {
        (void)signal(ignored[i], SIG_IGN);
    }
}

/* The traced program's limits were meant for its own files and time. */
static void raise_limits(void)
{
    static const int limits[] = {RLIMIT_FSIZE, RLIMIT_CPU, RLIMIT_NOFILE};
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        struct rlimit limit;
        if (getrlimit((__rlimit_resource_t)limits[i], &limit) == 0) {
            limit.rlim_cur = limit.rlim_max;
            (void)setrlimit((__rlimit_resource_t)limits[i], &limit);
        }
    }
}

/* A program that may keep others from running does not pass that on. (Its processors the recorder has left
 * before it was loaded, see spawn.c: it uses all that its control group may.) */
static void leave_policy(void)
{
    int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
    if (policy == SCHED_FIFO || policy == SCHED_RR) {
        (void)sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){0});
    }
}

/* Failures that may pass: somebody frees space, a quota is raised, a server comes back. */
static bool may_pass(int error)
{
    return error == -ENOSPC || error == -EDQUOT || error == -EFBIG || error == -EIO ||
           error == -EBUSY || error == -ENOMEM;
}

int main(int argc, char **argv)
{
    if (argc != 2 || argv[1][0] == '-') {
        (void)fprintf(stderr, "usage: gmtrace-recorder SPOOL-DIRECTORY\n"
                              "Started by libgmtrace.so; see gmtrace(1).\n");
        return 2;
    }
    ignore_signals();
    raise_limits();
    leave_policy();
    /* Do not keep the program's working directory from being unmounted or removed. */
    if (argv[1][0] == '/') {
        (void)chdir("/");
    }
    bool writer_gone = false;
    int error = gmt_recording_run(argv[1], &writer_gone);
    while (error != 0 && may_pass(error) && !writer_gone) {
        (void)nanosleep(&(struct timespec){.tv_sec = RETRY_S}, NULL);
        error = gmt_recording_run(argv[1], &writer_gone);
    }
    if (error != 0) {
        (void)fprintf(stderr, "gmtrace-recorder: %s: %s\n", argv[1], gmt_recording_explain(error));
    }
    return error != 0;
}

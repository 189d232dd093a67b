/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of this user that are being recorded: commands of gmtrace about them find them here. */
#ifndef GMT_LAUNCHER_RECORDED_H
#define GMT_LAUNCHER_RECORDED_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "libtrace/record/layout.h"

struct gmt_recorded {
    pid_t pid;
    char spool[PATH_MAX];       /* its folder                                                     */
    struct gmt_control control; /* a copy                                                        */
};

/* A process id, as an argument has it. False: it is none. */
bool gmt_recorded_read_pid(const char *text, pid_t *pid);

/* Call `visit` for each process of this user that is being recorded. */
void gmt_recorded_each(void (*visit)(const struct gmt_recorded *recorded, void *context),
                       void *context);

/* Find the spool that a process writes, or else that of the one process that is being recorded of those
 * that it has started: gmtrace itself, or a shell. 0; -ESRCH: there is no such process; -EACCES: it is another user's;
 * -ENOENT: it is not being recorded; -EMLINK: several that it has started are; or negative errno. */
int gmt_recorded_find(pid_t pid, struct gmt_recorded *recorded);

/* The same of the argument of a command; what went wrong is said, in one line. */
int gmt_recorded_find_named(const char *text, struct gmt_recorded *recorded);

/* Is a recorder at work on its spool, whoever's and under whichever number? */
bool gmt_recorded_has_recorder(const struct gmt_recorded *recorded);

#endif

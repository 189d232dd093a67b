/* SPDX-License-Identifier: Apache-2.0 */
/* What traced processes report to the launcher that they run under: that they record, or why they cannot. */
#ifndef GMT_PRELOAD_SESSION_RUN_NOTE_H
#define GMT_PRELOAD_SESSION_RUN_NOTE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "NAME:PID:FD": the name of the run, and the memory of the launcher that holds a struct gmt_run_note. */
#define GMT_RUN_VARIABLE "GMTRACE_RUN"

struct gmt_run_note {
    char run[64];        /* the name: a process id means another process in another container */
    int64_t recording;   /* 1: a process has begun to record                                  */
    int64_t error;       /* negative errno of the last process that could not write; 0: none  */
    char path[PATH_MAX]; /* its trace                                                         */
};

/* In the launcher: make the memory, and the value of the variable. Returns a descriptor, or negative errno;
 * the value is the name alone then. */
int gmt_run_note_make(const char *run, char *value, size_t bytes);
void gmt_run_note_read(int fd, struct gmt_run_note *note);

/* In a traced process, which cannot write to `path` (error: negative errno; "": it cannot record at all), or
 * records into it (0). False: no launcher has learnt of it. */
bool gmt_run_note_write(const char *path, int error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out whether the process that writes a spool still does, however it ends: exit, a signal, or exec
 * (after which the pid lives on but nobody will write).
 *
 * The library holds a POSIX lock on byte 0 of the control file through a close-on-exec descriptor:
 * while it is held nothing else needs to be asked. When it is not (gone, or the program closed all
 * its descriptors, or a file system without locks), the pid and its mappings decide. PID reuse is
 * recognised by the start time; where /proc is denied the pid's death is waited for.
 */
#ifndef GMT_STORE_RECORDING_PROCESS_WATCH_H
#define GMT_STORE_RECORDING_PROCESS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "libtrace/record/layout.h"

enum gmt_process_fate {
    GMT_PROCESS_ALIVE = 0,
    GMT_PROCESS_EXITED, /* by exit, _exit or return from main                                     */
    GMT_PROCESS_KILLED, /* by a signal                                                            */
    GMT_PROCESS_EXECED,
    GMT_PROCESS_GONE, /* dead; how could not be learnt                                          */
};

struct gmt_process_watch {
    int32_t pid;
    uint64_t pid_start;
    int pidfd;             /* -1: none                                                           */
    int control_fd;        /* borrowed                                                           */
    char suffix[288];      /* "/<spool directory>/control", how its mapping's path ends          */
    uint64_t maps_read_ns; /* when the mappings were last looked at                              */
    bool mapped;           /* what was found                                                     */
    enum gmt_process_fate fate; /* once not ALIVE it stays                                        */
    int exit_status; /* as wait(2) gives it; -1 = not known                                */
};

void gmt_process_watch_open(struct gmt_process_watch *watch, const struct gmt_control *control,
                            int control_fd, const char *spool_directory);
void gmt_process_watch_close(struct gmt_process_watch *watch);

/* A few microseconds while the lock is held. */
enum gmt_process_fate gmt_process_watch_check(struct gmt_process_watch *watch);

/* The fate, asking once more if it was GONE: some kernels report it only when the parent has reaped. */
enum gmt_process_fate gmt_process_watch_learn(struct gmt_process_watch *watch);

/* Return after `timeout_ms`, or earlier when the process dies. */
void gmt_process_watch_sleep(const struct gmt_process_watch *watch, int timeout_ms);

#endif

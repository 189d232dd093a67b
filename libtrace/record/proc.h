/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc says of a process. */
#ifndef GMT_RECORD_PROC_H
#define GMT_RECORD_PROC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Start time of a process in clock ticks since boot (field 22 of /proc/<pid>/stat); with the pid it
 * names a process for ever. 0 if it cannot be read. */
uint64_t gmt_proc_start_time(pid_t pid);

/* Its state as ps shows it ('R', 'S', 'T', 'Z', ...); 0 if it cannot be read. */
char gmt_proc_state(pid_t pid);

/* What the running kernel calls this boot: a random number that its containers share. "" if it cannot be
 * read. */
void gmt_proc_boot_id(char *text, size_t bytes);

#endif

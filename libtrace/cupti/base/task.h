/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of this process that others made, as /proc/self/task shows them (proc(5)). Nothing here allocates, and each call costs
 * some microseconds for each thread that it asks about.
 */
#ifndef GMT_CUPTI_BASE_TASK_H
#define GMT_CUPTI_BASE_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a thread sleeps. Two sleeps in one call of one function, called by the same way, are at the same place. */
struct gmt_task_place {
    uint64_t stack; /* the stack pointer */
    uint64_t code;  /* the address that the system call returns to */
};

/* Puts the ids of all threads into `tids`, which has room for `room`. Returns how many there are, which may be more; 0: not
 * known. */
size_t gmt_task_list(uint32_t *tids, size_t room);

/* How often the thread has gone to sleep by itself, into *count. False: not known, or there is no such thread. */
bool gmt_task_sleeps_made(uint32_t tid, uint64_t *count);

/* True: it sleeps in a system call; *place gets where. Not one that has been woken and waits for a processor. */
bool gmt_task_is_asleep(uint32_t tid, struct gmt_task_place *place);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the scenarios of leaveclient share. */
#ifndef GMT_TESTS_LEAVECLIENT_H
#define GMT_TESTS_LEAVECLIENT_H

#include <stddef.h>
#include <stdint.h>

struct leave_driver {
    int (*init)(unsigned);
    int (*alloc)(uint64_t *, size_t);
    int (*to_device)(uint64_t, const void *, size_t);
    int (*to_host)(void *, uint64_t, size_t);
    void (**during)(void); /* what the driver calls within a copy to the device */
};

extern struct leave_driver leave_driver;
extern uint64_t leave_memory; /* on the device, of the size of leave_host */
extern char leave_host[64];

void leave_begin(void);
void leave_copy_to_host(int times);

/* leave_calls.c; each returns the exit status. */
int leave_pending(void);
int leave_cancelled(void);
int leave_ended(void);
int leave_asynchronous(void);
int leave_jump(void);

/* leave_stacks.c; each returns the exit status. */
int leave_nested(void);
int leave_alternate(void);
int leave_coroutine(void);
int leave_lost_coroutine(void);
int leave_small_stack(void);

/* leave_process.c; each returns the exit status. */
int leave_raw_fork(void);
int leave_raw_fork_thread(void);
int leave_hold(void);
int leave_truncate_own(void);

#endif

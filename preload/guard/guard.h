/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The re-entry guard of a thread, and what keeps it from being cancelled in our code.
 *
 * A thread is inside from the beginning of an intercepted call to its end; calls that are made
 * meanwhile, by the driver, by CUPTI or by us, pass straight through. A call that never ends (it was
 * left by longjmp, by an exception, or its thread was cancelled) leaves the thread inside: recording/enter.c finds
 * that out at the next call, or when the thread ends.
 *
 * Cancellation is as the program has it while the program's own call is made, and off in our code: the
 * call may be no cancellation point, and a thread that ended in here would leave locks and tables as they
 * were in that moment.
 */
#ifndef GMT_PRELOAD_GUARD_GUARD_H
#define GMT_PRELOAD_GUARD_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/threads/cancellation.h"
#include "libtrace/threads/epoch.h"

/* What a function that enters and then makes the program's call has in its frame: overwritten, sooner or
 * later, after its end. */
struct gmt_guard_mark {
    uint64_t caller;   /* the address that it returns to */
    const void *frame; /* its frame pointer */
};

struct gmt_guard {
    const void *frame; /* of the function that entered, NULL: nobody is inside. frame[1] is ... */
    uint64_t caller;   /* ... the address that it returns to, for as long as it lives */
    const struct gmt_guard_mark *mark;    /* there, NULL: it makes no call of the program */
    uint32_t epoch;                       /* in which this thread entered last */
    struct gmt_cancellation cancellation; /* the program's, while ours is in force */
    unsigned shut;
    const void *before; /* it was shut: `frame` */

    /* For who holds other threads (hold.h). */
    struct gmt_guard *next, *before_it; /* in the list of threads that use CUDA */
    uint16_t hook;                      /* enum gmt_hook_id + 1 of the call at hand, 0: not known */
    bool listed, waits;                 /* in that list; until it is let go */
    bool ended;                         /* it may use CUDA again, in destructors */
};
/* Initial-exec: the library is preloaded. */
extern _Thread_local __attribute__((tls_model("initial-exec"))) struct gmt_guard gmt_guard;

static inline bool gmt_guard_is_inside(void)
{
    return gmt_guard.frame != NULL;
}

/* From the function that will leave. */
#define GMT_GUARD_HERE \
    ((struct gmt_guard_mark){(uint64_t)(uintptr_t)__builtin_return_address(0), \
                             __builtin_frame_address(0)})

/* Inside, before our own work. */
static inline void gmt_guard_hold_cancellation(void)
{
    gmt_guard.cancellation = gmt_cancellation_hold();
}

/* Inside, after it, where the program's call follows. */
static inline void gmt_guard_allow_cancellation(void)
{
    gmt_cancellation_allow(gmt_guard.cancellation);
}

/* With cancellation held. Where a request is waiting and cancellation is asynchronous, the thread ends
 * here, outside. */
static inline void gmt_guard_leave(void)
{
    struct gmt_cancellation of_program = gmt_guard.cancellation;
    gmt_guard.hook = 0;
    gmt_guard.frame = NULL;
    gmt_cancellation_allow(of_program);
}

/* Inside, whatever was there before, until reopened: for work of ours that nobody may refuse, and that has
 * no frame of its own. They nest. */
#define GMT_GUARD_SHUT ((const void *)1)
static inline void gmt_guard_shut(void)
{
    if (gmt_guard.shut++ == 0) {
        gmt_guard.before = gmt_guard.frame;
        gmt_guard.frame = GMT_GUARD_SHUT;
    }
}
static inline void gmt_guard_reopen(void)
{
    if (--gmt_guard.shut == 0) {
        gmt_guard.frame = gmt_guard.before;
    }
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Going inside of the guard of a thread, where recording begins if it has not. */
#ifndef GMT_PRELOAD_RECORDING_ENTER_H
#define GMT_PRELOAD_RECORDING_ENTER_H

#include "preload/guard/guard.h"

enum gmt_guard_for {
    GMT_GUARD_TO_RECORD, /* recording begins if it has not; false if it cannot be had */
    GMT_GUARD_ALONE,
};

/* All but the common case. */
bool gmt_guard_enter_slowly(enum gmt_guard_for purpose, struct gmt_guard_mark now,
                            const struct gmt_guard_mark *mark);

/* False: this thread is inside already. After true, gmt_guard_leave must follow. */
static inline bool gmt_guard_enter(enum gmt_guard_for purpose, struct gmt_guard_mark now,
                                   const struct gmt_guard_mark *mark)
{
    if (__builtin_expect(gmt_guard.frame != NULL || gmt_guard.epoch != gmt_epoch(), 0)) {
        return gmt_guard_enter_slowly(purpose, now, mark);
    }
    gmt_guard.frame = now.frame;
    gmt_guard.caller = now.caller;
    gmt_guard.mark = mark;
    return true;
}

/* For what holds no call of the program: enter and hold. */
#define GMT_GUARD_ENTER_ALONE() \
    (gmt_guard_enter(GMT_GUARD_ALONE, GMT_GUARD_HERE, NULL) && \
     (gmt_guard_hold_cancellation(), true))

#endif

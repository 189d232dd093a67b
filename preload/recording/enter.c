/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out that a call was left without an end, that a thread is new, and that a process is (enter.h). */
#include "preload/recording/enter.h"

#include <errno.h>
#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

#include "libtrace/threads/cancellation.h"
#include "preload/guard/hold.h"
#include "preload/guard/threads.h"
#include "preload/recording/start.h"
#include "preload/session/session.h"
#include "preload/unwind/stack.h"

static bool is_on_signal_stack(void)
{
    stack_t stack;
    return sigaltstack(NULL, &stack) != 0 || (stack.ss_flags & SS_ONSTACK) != 0;
}

/* Stacks of coroutines come and go: reading where none is mapped any more fails, and does not kill. */
static bool read_carefully(void *to, const void *from, size_t bytes)
{
    int saved_errno = errno;
    struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)from, bytes};
    ssize_t got = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    bool denied = got < 0 && errno != EFAULT;
    errno = saved_errno;
    return denied || got == (ssize_t)bytes;
}

/* Has nobody used the places yet that describe the frame that this thread is inside of? */
static bool looks_alive(bool is_own)
{
    const uint64_t *frame = gmt_guard.frame;
    const struct gmt_guard_mark *mark = gmt_guard.mark;
    uint64_t caller = gmt_guard.caller;
    struct gmt_guard_mark copy = {caller, frame};
    if (is_own) {
        caller = frame[1];
        copy = mark != NULL ? *mark : copy;
    } else if (!read_carefully(&caller, &frame[1], sizeof(caller)) ||
               (mark != NULL && !read_carefully(&copy, mark, sizeof(copy)))) {
        return false;
    }
    return caller == gmt_guard.caller && copy.caller == caller && copy.frame == frame;
}

/*
 * Is the call that this thread is inside of one that never ended? Its frame lay on one of the thread's
 * stacks; what is newer lies below it on the same stack. So a call from above it comes after its end, but
 * for handlers that run on a stack of their own, which may lie anywhere. From elsewhere it is decided by the words that
 * the frame holds while it lives.
 */
static bool was_left(const void *frame)
{
    if (gmt_guard.frame == GMT_GUARD_SHUT) {
        return false;
    }
    bool is_own = gmt_stack_is_own(gmt_guard.frame);
    if (is_own && gmt_stack_is_own(frame) && frame >= gmt_guard.frame) {
        return !is_on_signal_stack();
    }
    return !looks_alive(is_own);
}

static bool enter(enum gmt_guard_for purpose, bool left)
{
    bool recording = atomic_load_explicit(&gmt_started, memory_order_acquire);
    if (!recording && purpose == GMT_GUARD_TO_RECORD) {
        recording = gmt_start();
        if (!recording) {
            gmt_guard.frame = NULL;
            return false;
        }
    }
    if (recording && gmt_guard.epoch != gmt_epoch()) {
        gmt_guard_note_thread();
    }
    if (recording && left) {
        gmt_guard_count_left_call();
    }
    return true;
}

bool gmt_guard_enter_slowly(enum gmt_guard_for purpose, struct gmt_guard_mark now,
                            const struct gmt_guard_mark *mark)
{
    if (gmt_epoch() == GMT_EPOCH_FORKED) {
        gmt_forked();
    }
    if (gmt_epoch() == GMT_EPOCH_SETTLING) {
        return false; /* another thread is still at it */
    }
    bool left = gmt_guard_is_inside() && was_left(now.frame);
    if (gmt_guard_is_inside() && !left) {
        return false;
    }
    if (left) {
        gmt_hold_left();
        gmt_guard.hook = 0;
    }
    gmt_guard.frame = now.frame;
    gmt_guard.caller = now.caller;
    gmt_guard.mark = mark;
    struct gmt_cancellation of_program = gmt_cancellation_hold();
    bool entered = enter(purpose, left);
    gmt_cancellation_allow(of_program);
    return entered;
}

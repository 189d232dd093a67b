/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out that a call was left without an end, that a thread is new, and that a process is. */
#include "preload/session/guard.h"

#include <errno.h>
#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

#include "libtrace/record/spool.h"
#include "preload/hooks/hook.h"
#include "preload/repeat/hold.h"
#include "preload/start.h"
#include "preload/unwind/stack.h"

_Thread_local __attribute__((tls_model("initial-exec"))) struct gmt_guard gmt_guard = {
    .epoch = GMT_EPOCH_NEVER};

static pthread_key_t exit_key;
static bool has_exit_key;

static void count_left_call(void)
{
    gmt_spool_void();
    gmt_spool_loss("call not recorded", "left by longjmp, an exception or cancellation", 1);
}

static void thread_exits(void *unused)
{
    (void)unused;
    gmt_hold_left();
    gmt_guard.hook = 0;
    if (gmt_guard_is_inside()) {
        gmt_guard.frame = GMT_GUARD_SHUT; /* was_left() looks at no frame of a thread that ends */
        count_left_call();
        gmt_guard.frame = NULL;
    }
    gmt_hold_thread_ends();
    gmt_guard.epoch = GMT_EPOCH_NEVER; /* other destructors may use CUDA: then it begins anew */
}

void gmt_guard_start(void)
{
    if (!has_exit_key) {
        has_exit_key = pthread_key_create(&exit_key, thread_exits) == 0;
    }
}

void gmt_guard_forked(void)
{
    gmt_guard = (struct gmt_guard){.epoch = GMT_EPOCH_NEVER};
    gmt_hold_forked();
}

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

/* Has nobody used the places yet that tell of the frame that this thread is inside of? */
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
 * for handlers that run on a stack of their own, which may lie anywhere. From elsewhere the words tell that
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

/* This thread's first call in this epoch. */
static void note_thread(void)
{
    bool ends_noted = has_exit_key && pthread_setspecific(exit_key, &gmt_guard) == 0;
    gmt_hold_thread_begins(ends_noted);
    gmt_stack_note_thread();
    gmt_guard.epoch = gmt_epoch();
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
        note_thread();
    }
    if (recording && left) {
        count_left_call();
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
    int state;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    bool entered = enter(purpose, left);
    (void)pthread_setcancelstate(state, NULL);
    return entered;
}

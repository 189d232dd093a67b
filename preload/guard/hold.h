/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the program's other threads out of the driver while a launch is repeated (repeat.h), or its instructions are counted
 * (hooks/launch_call.c).
 *
 * The thread that launches is the holder. Hooks of calls that submit work, load code, make contexts, or allocate or free
 * memory, wait while there is one; calls that only wait for the device go through. A hook costs one load for that: it marks its thread
 * as inside with ordinary stores, and the holder makes these visible with membarrier(2) before it looks at all
 * threads. Where that system call is missing, nothing is held once a second thread has used CUDA.
 *
 * No thread waits longer than the limit, GMT_HOLD_NS unless another is set: then it breaks the hold and goes on, and the holder finds out at its next
 * step. While the holder keeps it (gmt_hold_keep) a hold is broken only when the holder has given no sign of life for
 * GMT_HOLD_TIMEOUT_NS, in a launch that is measured for longer (gmt_hold_set_launch_limit): no call of the driver's or of CUPTI's takes so
 * long but one that waits for what a held thread has (the loader's lock), or for ever. What counts is the time that a held thread has waited: a
 * process that was stopped and goes on has lost none. An undo is never broken, for memory is not what the program left there until it ends; it copies device memory while
 * nothing is under way, and calls nothing else. The holder begins either only when it expects to end in time.
 */
#ifndef GMT_PRELOAD_GUARD_HOLD_H
#define GMT_PRELOAD_GUARD_HOLD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define GMT_HOLD_NS UINT64_C(50000000)
#define GMT_HOLD_TIMEOUT_NS UINT64_C(5000000000)

/* Another limit than GMT_HOLD_NS, ns. Before the first hold. */
void gmt_hold_set_limit(uint64_t ns);
/* How long the call of a measured launch may take, ns: where instructions are counted it returns when its kernel has ended, which
 * takes up to 200 times as long as else. GMT_HOLD_TIMEOUT_NS unless set, before the first hold. */
void gmt_hold_set_launch_limit(uint64_t ns);

/* Not 0: a thread holds the others. */
extern _Atomic uint32_t gmt_hold_state;

/* The slow half of gmt_hold_pass. */
void gmt_hold_wait(unsigned hook);

/* In a hook, inside of the guard, before anything else: `hook` is its enum gmt_hook_id. */
static inline void gmt_hold_pass(unsigned hook)
{
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(atomic_load_explicit(&gmt_hold_state, memory_order_relaxed) != 0, 0)) {
        gmt_hold_wait(hook);
    }
}

/* Hold all other threads, once none of them is inside of a call that matters. False: they did not leave in time, or
 * it cannot be known. For a thread inside of a hook. */
bool gmt_hold_begin(void);

/* Would work of `expected_ns` end before others have waited too long? A second at most where there are none. */
bool gmt_hold_fits(uint64_t expected_ns);

/* Has nobody broken the hold? Is there no other thread that uses CUDA? For the holder. */
bool gmt_hold_lasts(void);
bool gmt_hold_alone(void);

/* From here on others do not break the hold: true unless they have, or less time is left than `expected_ns`, which the work
 * takes. No signal is handled until it ends. */
bool gmt_hold_keep(uint64_t expected_ns);
/* A sign of life of who does: it waits, and not inside of a call. From any thread. */
void gmt_hold_alive(void);
/* The call of a measured launch begins, and has returned. */
void gmt_hold_launch_begins(void);
void gmt_hold_launch_ends(void);
void gmt_hold_keep_ends(void);

/* While it is kept: an undo of memory begins; false: the hold was broken. */
bool gmt_hold_undo(void);
/* ... memory is again what a thread may find there. */
void gmt_hold_undone(void);

/* Let the others go. */
void gmt_hold_end(void);
/* This thread is out of its last call without an end of it (longjmp from a handler), or ends: it holds nobody. */
void gmt_hold_left(void);

/* This thread uses CUDA: it is looked at from now on, until it says that it ends. `ends_noted`: it will say so. */
void gmt_hold_thread_begins(bool ends_noted);
void gmt_hold_thread_ends(void);

/* In a forked child: the caller is the only thread, and nobody holds. */
void gmt_hold_forked(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Who called: the return addresses from a hook to the thread's start, each different stack once. */
#ifndef GMT_PRELOAD_UNWIND_STACK_H
#define GMT_PRELOAD_UNWIND_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* The gmt_stack.id of the return addresses from a hook's frame pointer outwards, up to
 * GMT_STACK_FRAMES of them; 0 if none is kept. A chain may end early, never wrongly: where
 * an address could only be guessed, it must lie in code and follow a call instruction. On a stack that
 * is not the thread's own, and where only callers are kept, the chain is the hook's return address.
 * NULL: the call has no stack. `hint`: anything that calls with the same stack have in common more often than others;
 * a good one saves walks, a bad one costs nothing but these. */
uint32_t gmt_stack_here(const void *frame, uint64_t hint);

/* At a thread's first call: find out where its stack lies. */
void gmt_stack_note_thread(void);
/* Does it lie on the stack that the thread was made with? False if nobody has asked, or it is not known. */
bool gmt_stack_is_own(const void *address);

/* When recording starts, before the first gmt_stack_here: write the maps of the loaded objects
 * (GMT_REC_OBJECT), and make ready for stacks where some are kept. */
void gmt_stack_start(void);

/* In a forked child: nothing has been written to its trace yet. */
void gmt_stack_reset(void);

#endif

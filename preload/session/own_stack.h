/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a function on a stack of our own: what starts and ends the recording (paths, CUPTI's start) needs
 * more than a thread of the program may have left.
 */
#ifndef GMT_PRELOAD_SESSION_OWN_STACK_H
#define GMT_PRELOAD_SESSION_OWN_STACK_H

/* Returns 0 when `function` has run, or negative errno where there was no memory and it has not. It must
 * return, and may throw and catch within. */
int gmt_own_stack_run(void (*function)(void *), void *argument);

#endif

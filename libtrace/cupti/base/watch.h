/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Helper threads of the collector: one that ticks while a measuring session runs, and ones that run
 * a function beside the program, waited for at most so long, or not at all. All signals are blocked in them.
 */
#ifndef GMT_CUPTI_BASE_WATCH_H
#define GMT_CUPTI_BASE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/* Call `tick` every `period_ns` from a thread of its own until it returns false. At most one such
 * thread exists; a call while it does changes nothing. Without threads nothing happens. */
void gmt_watch_start(bool (*tick)(void), uint64_t period_ns);

/* Call `work` once from a thread of its own and do not wait for it. At most one such call may be under
 * way. Without threads nothing happens. */
void gmt_watch_spawn(void (*work)(void));

/* Run `work` in a thread of its own and wait for it, at most `deadline_ns`. Returns false when it
 * was not done by then (it goes on). Where no thread can be made it is simply called. Several may wait
 * at a time. */
bool gmt_watch_run(void (*work)(void), uint64_t deadline_ns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* When recording starts and stops (gmt_start is declared in hook.h). */
#ifndef GMT_PRELOAD_START_H
#define GMT_PRELOAD_START_H

#include <stdbool.h>
#include <stdint.h>

#include "libtrace/record/collector.h"

/* The collector at work, or NULL. */
extern const struct gmt_collector_ops *gmt_collector;

/* This process was forked from the one that recorded: forget that. */
void gmt_forked(void);

/* Count the calls that were made while a thread was starting. */
void gmt_start_report_missed(void);

/* exit.c: the program has called exit(). It runs among the program's exit handlers: those registered
 * before the first CUDA call run later and may still free memory, which the hooks go on recording. */
void gmt_exit(bool recorder_started);

/* Launches issued by all threads so far; a launch's number is what it was incremented to. */
extern _Atomic uint64_t gmt_launches;
/* Those of them that the driver has returned from. */
extern _Atomic uint64_t gmt_launches_done;

#endif

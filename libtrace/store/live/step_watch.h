/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches for steps of a program that are slow (step_window.h). A step is a range that the program names; without a
 * name in the option the outermost ranges of each thread, each name by itself; without any range what is between two launches
 * of a pattern (launch_pattern.h).
 */
#ifndef GMT_STORE_LIVE_STEP_WATCH_H
#define GMT_STORE_LIVE_STEP_WATCH_H

#include <stdbool.h>

#include "libtrace/store/live/live_page.h"
#include "libtrace/store/spool/spool_reader.h"
#include "libtrace/store/spool/timebase.h"

struct gmt_step_watch;

/* name: of the range that is a step, NAME or NAME@DOMAIN; "": any. NULL: no memory. */
struct gmt_step_watch *gmt_step_watch_open(const char *name);
void gmt_step_watch_close(struct gmt_step_watch *watch);

/* Look at a record. True where a step that was slow ends with it; `cause` says which, and how slow. */
bool gmt_step_watch_record(struct gmt_step_watch *watch, struct gmt_timebase *time,
                           const struct gmt_spool_record *record, char cause[static 128]);

/* How many there were. */
const struct gmt_live_steps *gmt_step_watch_steps(const struct gmt_step_watch *watch);

#endif

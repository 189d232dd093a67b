/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a trace that has its calls: the same rows that `gmtrace --aggregate` would have written. */
#ifndef GMT_STORE_STEPS_STEPS_DERIVE_H
#define GMT_STORE_STEPS_STEPS_DERIVE_H

#include <sqlite3.h>
#include <stdbool.h>

/* Does the trace hold steps and no calls (gmtrace --aggregate)? */
bool gmt_steps_only(sqlite3 *db);

/*
 * Make the TEMP tables step, step_call, ... of this connection, which hide the empty ones of the trace, and the TEMP view
 * `string`, which has the trace's texts and a few more; where the trace has rows in `step`, nothing is made. name: of the range
 * that is a step, "": any. 0 or negative errno; then none of these are there.
 */
int gmt_steps_derive(sqlite3 *db, const char *name);

#endif

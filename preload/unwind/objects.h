/* SPDX-License-Identifier: Apache-2.0 */
/* The objects that are loaded: written to the trace, and asked for rows. */
#ifndef GMT_PRELOAD_UNWIND_OBJECTS_H
#define GMT_PRELOAD_UNWIND_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

/* Callers of these hold one lock of their own. */

/* Write the maps of objects that have come since the last time (GMT_REC_OBJECT). */
void gmt_objects_note(void);

/* How often the loader had loaded something when that was done last. Needs no lock. */
unsigned long long gmt_objects_loads(void);

/* Call `use` while nothing can be loaded or unloaded. False, without a call: the loader was busy all
 * the time, so that what is known was never up to date. */
bool gmt_objects_hold(void (*use)(void *argument), void *argument);

/* In `use`: the row for an address, which is also put into the table (a gmt_row_finder). */
uint64_t gmt_objects_row(uintptr_t pc, bool interrupted, uint64_t key);

/* Nothing has been written yet: a forked child. */
void gmt_objects_reset(void);

/* Other than before once something was unloaded: what is known of addresses is void. Needs no lock. */
uint64_t gmt_objects_mark(void);

#endif

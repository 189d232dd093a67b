/* SPDX-License-Identifier: Apache-2.0 */
/* What of CUPTI the program has switched on and not off again. The caller holds handover.c's lock. */
#ifndef GMT_CUPTI_BASE_HOLDS_H
#define GMT_CUPTI_BASE_HOLDS_H

#include <stdbool.h>
#include <stdint.h>

/* What is held: requests of the same thing come in pairs. */
enum gmt_held {
    GMT_HELD_NOTHING,
    GMT_HELD_KIND, /* an activity kind: once, however often it is switched on; `key` says which */
    GMT_HELD_HARDWARE_TRACE,
    GMT_HELD_SUBSCRIPTION,
    GMT_HELD_RANGE_PROFILER,
    GMT_HELD_PROFILER_SESSION,
    GMT_HELD_PC_SAMPLING,
    GMT_HELD_PM_SAMPLING,
    GMT_HELD_SASS_METRICS,
};

void gmt_holds_add(enum gmt_held held, uint64_t key);
/* Harmless where nothing of the sort is held. */
void gmt_holds_drop(enum gmt_held held, uint64_t key);
void gmt_holds_clear(void);
bool gmt_holds_any(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults and migrations of managed memory: CUPTI's unified-memory records, into the spool.
 *
 * Switching them on takes some 20 ms, and each record makes the fault that it is of some 3 us longer (docs/cupti-notes.md,
 * "Managed memory"). So they are switched on when the program has managed memory, and off again when they have cost
 * a quarter of what measuring may take: what comes after that is lost, and said to be.
 */
#ifndef GMT_CUPTI_BASE_MANAGED_H
#define GMT_CUPTI_BASE_MANAGED_H

#include <stdbool.h>
#include <stdint.h>

#include "libtrace/cupti/base/loader.h"
#include "libtrace/record/collector.h"

/* `api` must stay valid for the life of the process. */
void gmt_managed_start(const struct gmt_cupti_api *api, const struct gmt_collector_config *config);

/* The program has managed memory. Any thread. */
void gmt_managed_want(void);
/* Is there something that gmt_managed_settle would do? A few ns; any thread. */
bool gmt_managed_is_due(void);
/* Switch on, or off, as is due. CUPTI is the collector's, and stays so meanwhile (handover.h). */
void gmt_managed_settle(void);
/* What all of this has cost the program since it was last asked, ns. */
uint64_t gmt_managed_take_cost_ns(void);
/* CUPTI goes to the program: off, and due again. */
void gmt_managed_stand_back(void);

/* A record of CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER; any thread. */
void gmt_managed_write(const CUpti_Activity *record);

/* At the end, with all records delivered: say what was lost. */
void gmt_managed_finish(void);
/* In a forked child. */
void gmt_managed_abandon(void);

#endif

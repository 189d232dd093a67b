/* SPDX-License-Identifier: Apache-2.0 */
/* Heaps of allocators by name: what those of one name hold together. */
#ifndef GMT_ANALYZER_HOLDERS_HEAP_NAMES_H
#define GMT_ANALYZER_HOLDERS_HEAP_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/findings/rule_context.h"
#include "reports/model/heaps.h"

/* Of one heap at the moment that a device's report is of. */
struct gmt_heap_share {
    bool is_there; /* and on that device */
    double region_bytes, slack_bytes;
};

/* Is memory of that device id (as in gmt_heap_row) on that device? Where the id is not known it counts to the first one. */
bool gmt_heaps_is_on(const struct gmt_memory *memory, int64_t device_id, int64_t device);

/*
 * Fills in `named` and the rest of it. `shares`: one per heap of analysis->memory, in that order. Their peaks are those of all the time, of
 * the regions on the device. 0, -ENOMEM or -EIO.
 */
int gmt_heaps_hold_names(struct gmt_analysis *analysis, const struct gmt_heap_share *shares,
                         struct gmt_heaps_device *device);

#endif

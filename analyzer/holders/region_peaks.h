/* SPDX-License-Identifier: Apache-2.0 */
/* When regions of allocators held most. Regions may lie in each other, as where a pool takes its memory from another pool: a byte counts once. */
#ifndef GMT_ANALYZER_HOLDERS_REGION_PEAKS_H
#define GMT_ANALYZER_HOLDERS_REGION_PEAKS_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/memory/heaps.h"

/* A region that is there for some time, and the group that it counts to. */
struct gmt_grouped_region {
    size_t group;
    const struct gmt_heap_row *region; /* borrowed */
};

struct gmt_region_peak {
    double bytes;  /* of addresses that at least one region covers */
    int64_t at_ns; /* the first such moment; GMT_NO_TIME: the group has no regions */
};

/* Fills in a peak for each group. Sorts `regions`. 0 or -ENOMEM. */
int gmt_region_peaks_find(struct gmt_grouped_region *regions, size_t n,
                          struct gmt_region_peak *peaks, size_t group_count);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What a report says of memory that the program's allocators have registered. */
#ifndef GMT_REPORTS_MODEL_HEAPS_H
#define GMT_REPORTS_MODEL_HEAPS_H

#include "reports/model/snapshot.h"

/* Heaps of one domain that have one name. What they hold does not overlap with what others do. */
struct gmt_heaps_named {
    const char *name, *domain; /* NULL: none */
    double count;
    double held_bytes;   /* with what is not handed out of them */
    double region_bytes; /* of their regions */
    double peak_bytes; /* the most that regions of such heaps covered at one time, as registered */
    double peak_at_ns; /* as gmt_heaps_device.at_ns */
};

/* Of one device when its regions held most. The first three parts do not overlap, and their sum is total_bytes. */
struct gmt_heaps_device {
    int64_t device;
    double total_bytes;
    double region_bytes;
    double slack_bytes; /* of heaps of sub-allocators, outside of their regions */
    double other_bytes; /* allocations, or parts of them, in neither */
    struct gmt_snapshot_holders holders, others; /* of regions, and of what is in neither */
    double regions, heaps;
    double at_ns;                  /* from the first CUDA call; NAN: not known */
    struct gmt_heaps_named *named; /* largest first; what is not listed is in the rest */
    size_t named_count;
    double rest_names, rest_heaps, rest_held_bytes, rest_region_bytes;
    double left_bytes, left_count; /* regions that neither ended nor lie in freed memory */
};

struct gmt_report_heaps {
    struct gmt_heaps_device *devices;
    size_t device_count;
};

#endif

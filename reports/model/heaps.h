/* SPDX-License-Identifier: Apache-2.0 */
/* What a report says of memory that the program's allocators have registered. */
#ifndef GMT_REPORTS_MODEL_HEAPS_H
#define GMT_REPORTS_MODEL_HEAPS_H

#include "reports/model/snapshot.h"

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
    double left_bytes, left_count; /* regions that neither ended nor lie in freed memory */
};

struct gmt_report_heaps {
    struct gmt_heaps_device *devices;
    size_t device_count;
};

#endif

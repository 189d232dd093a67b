/* SPDX-License-Identifier: Apache-2.0 */
/* One thing that could not be checked. */
#include "analyzer/summary/gap.h"

void gmt_gap_add(struct gmt_report *report, const char *what, const char *why, const char *remedy)
{
    struct gmt_gap *gap = GMT_PUSH(report->arena, report->gaps, report->gap_count);

    if (gap != NULL) {
        *gap = (struct gmt_gap){what != NULL ? what : "?", why != NULL ? why : "?", remedy};
    }
}

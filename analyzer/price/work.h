/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch asks of each resource, from its counters. */
#ifndef GMT_ANALYZER_PRICE_WORK_H
#define GMT_ANALYZER_PRICE_WORK_H

#include "analyzer/trace/timeline.h"

/* What a launch asks of each resource; NAN: not known. */
struct gmt_work {
    double dram_bytes, l2_sectors, l1_sectors, shared_wavefronts;
    double issue_ns; /* time to issue its instructions at the clock of the run */
    /* Least times where a level is not used as its rates were measured; 0 or NAN: no such accesses. */
    double lone_dram_ns, lone_l2_ns, partial_ns;
    double l1_requests; /* that the sectors of L1 belong to; 0: one rate for all sectors */
};

struct gmt_work gmt_work_of_class(const struct gmt_timeline *timeline,
                                  const struct gmt_tl_class *class);

/* Global accesses of one kind in one class. ideal: as the software device counted it, else bytes / 32,
 * and at least one sector per request. */
struct gmt_access {
    double bytes, sectors, requests, ideal;
};

struct gmt_access gmt_access_of_loads(const struct gmt_tl_class *class);
struct gmt_access gmt_access_of_stores(const struct gmt_tl_class *class);
/* Sectors per ideal sector; NAN when not measured or nothing was accessed. */
double gmt_access_ratio(const struct gmt_access *access);

#endif

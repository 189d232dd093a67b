/* SPDX-License-Identifier: Apache-2.0 */
/* How unequally the ranks of a fleet fill the memory of their devices. */
#ifndef GMT_ANALYZER_FLEET_IMBALANCE_H
#define GMT_ANALYZER_FLEET_IMBALANCE_H

#include "analyzer/fleet/fleet.h"

/* Of the most device memory that each rank had at once, in bytes. */
struct gmt_fleet_imbalance {
    size_t ranks; /* that allocated any; 0: the rest means nothing */
    double least, median, most;
    size_t least_rank, most_rank;
};

/* 0 or -ENOMEM. */
int gmt_fleet_imbalance_find(struct gmt_fleet_imbalance *imbalance, const struct gmt_fleet *fleet);

#endif

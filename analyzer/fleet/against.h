/* SPDX-License-Identifier: Apache-2.0 */
/* What changed from one run of a job to the next, rank by rank. */
#ifndef GMT_ANALYZER_FLEET_AGAINST_H
#define GMT_ANALYZER_FLEET_AGAINST_H

#include "analyzer/fleet/detect.h"

struct gmt_fleet_change {
    enum gmt_fleet_measure measure;
    double before,
        after; /* medians over the ranks of their medians over the steps; LEAK: of live memory */
    size_t more, less; /* ranks that have more than before, and less */
};

struct gmt_fleet_changes {
    struct gmt_fleet_change changes[GMT_FLEET_MEASURES]; /* those that are reported */
    size_t count;
    size_t paired; /* ranks of both runs */
    size_t needed; /* so many of them must change alike; > paired: they are too few for an answer */
};

/*
 * Ranks are paired by their number. A measure has changed where so many ranks have more, or so many less, that a coin would
 * show it for one of all measures in 1 % of comparisons (sign test), and where the change of the median rank is above the
 * measure's floor. The noise between runs that all ranks share (another state of a common file system) is not known from
 * one run of each and is not covered by that. 0 or -ENOMEM.
 */
int gmt_fleet_against(struct gmt_fleet_changes *changes, const struct gmt_fleet *before,
                      const struct gmt_fleet_result *before_result, const struct gmt_fleet *after,
                      const struct gmt_fleet_result *after_result);

#endif

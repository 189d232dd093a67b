/* SPDX-License-Identifier: Apache-2.0 */
/* One measure over the windows of a run: which ranks it makes odd. */
#ifndef GMT_ANALYZER_FLEET_WINDOWS_H
#define GMT_ANALYZER_FLEET_WINDOWS_H

#include "analyzer/fleet/detect.h"
#include "analyzer/fleet/presence.h"
#include "analyzer/fleet/residuals.h"

struct gmt_fleet_window_set {
    struct gmt_fleet_residuals residuals; /* of the present measure */
    struct gmt_fleet_residuals waiting;   /* of COLLECTIVES: how much more a rank waits there */
    bool is_used;
};

struct gmt_fleet_windows {
    const struct gmt_fleet *fleet;
    struct gmt_fleet_window_set sets[2]; /* of windows that many ranks have, and that few have */
    struct gmt_fleet_window_set *set;    /* of the present window */
    bool is_few[GMT_FLEET_WINDOWS_MOST], is_few_for_growth; /* the latter of the whole run */
    double step_ns, self;    /* medians over ranks and steps: of a step, of the measure */
    double alpha;            /* of one measure */
    double *levels, *scores; /* of each rank */
};

/* 0 or -ENOMEM; free it in either case. */
int gmt_fleet_windows_make(struct gmt_fleet_windows *windows, const struct gmt_fleet *fleet,
                           const struct gmt_fleet_result *result);
void gmt_fleet_windows_free(struct gmt_fleet_windows *windows);

/*
 * Calls `found` for each rank that the measure makes odd: in the whole of the run, or in quarters of it, which are joined.
 * 0 or -ENOMEM.
 */
int gmt_fleet_windows_search(struct gmt_fleet_windows *windows, enum gmt_fleet_measure measure,
                             int (*found)(void *context, size_t rank,
                                          const struct gmt_fleet_difference *difference),
                             void *context);

#endif

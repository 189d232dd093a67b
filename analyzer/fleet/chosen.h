/* SPDX-License-Identifier: Apache-2.0 */
/* The ranks of a fleet that somebody wants to look at, side by side. */
#ifndef GMT_ANALYZER_FLEET_CHOSEN_H
#define GMT_ANALYZER_FLEET_CHOSEN_H

#include "analyzer/fleet/detect.h"
#include "analyzer/fleet/fleet.h"
#include "analyzer/fleet/waits.h"
#include "libtrace/base/arena.h"

enum {
    GMT_FLEET_CHOSEN_MOST = 1000,
    GMT_FLEET_CHOSEN_ODD = 8, /* so many odd ranks, where nobody says which */
};

struct gmt_fleet_chosen {
    size_t *ranks; /* indexes of the fleet's ranks, each once */
    size_t count;
};

/*
 * Those that `list` names, in its order: numbers of ranks, or files of traces as the fleet has them, with commas between them. All is
 * the arena's. 0; -ENOMEM; or -EINVAL, and why in `why`.
 */
int gmt_fleet_choose(struct gmt_fleet_chosen *chosen, const struct gmt_fleet *fleet,
                     const char *list, struct gmt_arena *arena, char *why, size_t bytes);

/*
 * The rank that differs least from the others in all measures, then those that are odd. Where none is, the one that the others
 * waited for most at collectives, or whose steps are longest. All is the arena's. 0 or -ENOMEM.
 */
int gmt_fleet_choose_odd(struct gmt_fleet_chosen *chosen, const struct gmt_fleet *fleet,
                         const struct gmt_fleet_result *result, const struct gmt_fleet_waits *waits,
                         struct gmt_arena *arena);

#endif

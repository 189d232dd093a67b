/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules found in the whole traces of a fleet, put together over its ranks. */
#ifndef GMT_ANALYZER_FLEET_COMMON_FINDINGS_H
#define GMT_ANALYZER_FLEET_COMMON_FINDINGS_H

#include "analyzer/fleet/fleet.h"
#include "libtrace/base/arena.h"

/* One finding, by its fingerprint, on all ranks that have it. Strings are those of the rank where it is worst. */
struct gmt_common_finding {
    const struct gmt_fleet_finding *worst; /* that would save most */
    size_t worst_rank;                     /* index into the fleet's */
    size_t ranks;
    double total_ns; /* sum over ranks of what they would save; those without a price add nothing */
    size_t priced;   /* ranks that have one */
    bool is_modelled; /* one of these prices at least */
};

struct gmt_common_findings {
    struct gmt_common_finding *findings; /* most in total first; without a price last */
    size_t count;
    size_t analysed; /* ranks whose traces were whole, so that rules could check them */
};

/* All memory is the arena's. 0 or -ENOMEM. */
int gmt_common_findings_find(struct gmt_common_findings *common, const struct gmt_fleet *fleet,
                             struct gmt_arena *arena);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the time in collectives went into: waiting for a peer that came late, or the transfer of the bytes. A collective is
 * matched by its communicator and its number there. It begins for all when the last rank has come, on the clock that the ends
 * of collectives give; the rest of it is the transfer.
 */
#ifndef GMT_ANALYZER_FLEET_WAITS_H
#define GMT_ANALYZER_FLEET_WAITS_H

#include "analyzer/fleet/clocks.h"
#include "analyzer/fleet/fleet.h"
#include "libtrace/base/arena.h"

/* Those of one operation, with as many bytes among as many ranks. */
struct gmt_fleet_traffic {
    enum gmt_fleet_operation operation;
    uint64_t bytes; /* of the message, as NCCL's call was given it */
    size_t ranks, communicators, count;
    double late_ns;     /* that a rank waits for the last one: mean over ranks and collectives */
    double transfer_ns; /* from there to the end: median of the collectives */
    double
        bytes_per_s; /* bus bandwidth in that time; NAN: no rule for it, or a late peer made it too high (collectives.def) */
    double late_sum_ns, transfer_sum_ns; /* of all ranks */
};

/* Of one rank. */
struct gmt_fleet_wait {
    double late_ns, transfer_ns; /* it waited for others; bytes were transferred */
    double
        made_ns; /* the others would have waited so much less if it had come with the last but one: of one of them */
    size_t count, last; /* collectives that were matched; in which it came last */
};

struct gmt_fleet_waits {
    struct gmt_fleet_traffic *traffic; /* those with most time first */
    size_t traffic_count;
    struct gmt_fleet_wait *ranks; /* of all of the fleet */
    size_t communicators;
    size_t matched;    /* collectives, each once over its ranks */
    size_t incomplete; /* not all of its ranks have it, or their clocks are not known */
    size_t ambiguous;  /* its ranks do not say the same of it */
};

/* Everything of waits is the arena's. 0 or -ENOMEM. */
int gmt_fleet_waits_fill(struct gmt_fleet_waits *waits, const struct gmt_fleet *fleet,
                         const struct gmt_fleet_clocks *clocks, struct gmt_arena *arena);

#endif

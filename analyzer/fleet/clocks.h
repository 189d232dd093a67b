/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks of a fleet's hosts, by collectives: they end on all ranks at the same moment, but for what the last hop takes. A
 * collective is matched by its key and its position in the order of those. Those that most ranks do not have, or that
 * do not agree with the others of their rank, are ambiguous: left out, and counted. A rank whose collectives would fit
 * about as well if they were counted from another one on is ambiguous as a whole. Collectives of a communicator that no
 * more than half of the ranks have do not serve: what its ranks have in common, others cannot be compared with. Nor do those
 * without a communicator where each rank has enough that are numbered: one that NCCL does not name would make all doubtful.
 */
#ifndef GMT_ANALYZER_FLEET_CLOCKS_H
#define GMT_ANALYZER_FLEET_CLOCKS_H

#include "analyzer/fleet/fleet.h"
#include "libtrace/base/arena.h"

/* With fewer collectives of a rank its clock is not judged. */
#define GMT_FLEET_LEAST_MATCHES 8
/* A clock that is wrong by less is corrected and not reported. */
#define GMT_FLEET_CLOCK_FLOOR_NS 1e6

enum gmt_fleet_confidence {
    GMT_FLEET_NO_MATCH, /* wall clock as it is, with an error that is not known */
    GMT_FLEET_LOW,      /* a tenth of its collectives or more are ambiguous */
    GMT_FLEET_GOOD
};

struct gmt_fleet_clock {
    double
        offset_ns; /* to be added to this rank's wall clock, in the middle of the run; NAN: not known */
    int64_t middle_ns; /* that middle, wall clock of the median rank */
    double drift_ppm;  /* by which the offset grows, of the time of the median rank */
    double error_ns;   /* standard deviation of one collective from that line */
    size_t matched, ambiguous;
    enum gmt_fleet_confidence confidence;
    bool odd; /* beyond what clocks of this fleet's hosts usually differ by */
};

struct gmt_fleet_clocks {
    struct gmt_fleet_clock *ranks;
    size_t matched, ambiguous; /* sums over the ranks */
};

/* What a rank's wall clock showed, on the clock of all; as it is where its offset is not known. */
int64_t gmt_fleet_common_time(const struct gmt_fleet_clock *clock, int64_t wall_clock_ns);

/* alpha: probability that a fleet's clocks, none of which is wrong, are called wrong. All is the arena's. 0 or -ENOMEM. */
int gmt_fleet_clocks_fill(struct gmt_fleet_clocks *clocks, const struct gmt_fleet *fleet,
                          double alpha, struct gmt_arena *arena);

#endif

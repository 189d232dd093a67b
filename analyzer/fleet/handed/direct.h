/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies between memory of several ranks of one host, which one of them opened by a handle of another (CUDA IPC).
 *
 * Whose memory it is follows from the handle: the rank whose trace has exported one with an equal hash, on the same host. A process
 * cannot open its own. Nothing else is believed: addresses differ between processes, and what a handle holds is not documented.
 */
#ifndef GMT_ANALYZER_FLEET_HANDED_DIRECT_H
#define GMT_ANALYZER_FLEET_HANDED_DIRECT_H

#include "analyzer/fleet/fleet.h"
#include "libtrace/base/arena.h"

struct gmt_fleet_direct_pair {
    size_t from, to,
        by;           /* indices of the ranks: whose memory was read and written, and who copied */
    bool over_host;   /* one side is memory of the host of `by`: from or to is that rank */
    bool is_modelled; /* the time */
    uint64_t copies, bytes;
    uint64_t timed_bytes;          /* of copies of which is known how long the device took */
    double device_ns, bytes_per_s; /* ... in sum, and their rate; NAN: of none */
};

/* Memory of one rank that another opened. Kernels read and write it, too, and nobody knows how much. */
struct gmt_fleet_direct_opened {
    size_t owner, by; /* indices of the ranks */
    uint64_t allocations, bytes;
    bool is_copied; /* some of it is in copies of `by`: in a pair, or with memory of no rank */
};

/* What is of no rank: copies, and what was opened. */
struct gmt_fleet_direct_rest {
    uint64_t copies, bytes, opened;
};

struct gmt_fleet_direct {
    struct gmt_fleet_direct_pair *pairs; /* most bytes first */
    size_t pair_count;
    struct gmt_fleet_direct_opened *opened; /* by owner and rank */
    size_t opened_count;
    uint64_t copies, bytes;                 /* of pairs between devices */
    struct gmt_fleet_direct_rest unknown;   /* no rank of the host has exported that memory */
    struct gmt_fleet_direct_rest ambiguous; /* several have */
    struct gmt_fleet_sharing sharing;       /* sums over the ranks */
};

/* Everything of direct is the arena's. 0 or -ENOMEM. */
int gmt_fleet_direct_fill(struct gmt_fleet_direct *direct, const struct gmt_fleet *fleet,
                          struct gmt_arena *arena);

#endif

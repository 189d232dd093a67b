/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that go from a device of one rank to a device of another over the memory of their hosts: a rank reads them back, hands
 * them on (by MPI, gloo, a socket, shared memory: it makes no difference), and the other one uploads them.
 *
 * They are known by their fingerprint. A rank has them from another one where it had never copied them before that upload, in
 * either direction, and where just one rank has read them back before it had uploaded them, which makes them its device's. Several such
 * ranks have computed the same, and nothing follows. Where ranks hand the bytes on in turn, each has them from the last one that
 * had read them back by then. What is zero, or stays the same, is handed on once, whatever the program does: so one pair of lines of two
 * ranks counts from GMT_FLEET_STAGED_LEAST different contents on.
 */
#ifndef GMT_ANALYZER_FLEET_HANDED_STAGED_H
#define GMT_ANALYZER_FLEET_HANDED_STAGED_H

#include "analyzer/fleet/clocks.h"
#include "analyzer/fleet/fleet.h"
#include "libtrace/base/arena.h"

/* Two buffers may be all zero and all one. */
#define GMT_FLEET_STAGED_LEAST 3

/* Between two ranks, read back at one place and uploaded at one place. */
struct gmt_fleet_staged_pair {
    size_t from, to;             /* indices of the ranks */
    const char *down_at, *up_at; /* places */
    size_t count;
    uint64_t bytes;
    double between_ns; /* from the end of the read-back to the begin of the upload; median */
    /* Both copies, without what kernels hid; a read-back that several ranks upload is shared among these. NAN: not known. */
    double cost_ns;
    double
        saves_ns; /* less copies between devices; NAN: not known, or they are on different hosts */
    bool is_one_host, is_modelled; /* the latter: its times */
};

struct gmt_fleet_staged {
    struct gmt_fleet_staged_pair *pairs; /* most bytes first */
    size_t pair_count;
    size_t count; /* of all pairs */
    uint64_t bytes;
    size_t few;                     /* not enough for a pair */
    size_t ambiguous;               /* several ranks have computed the same */
    size_t early;                   /* uploaded before they were read back, by the ranks' clocks */
    struct gmt_fleet_copied copied; /* sums over the ranks */
};

/* Everything of staged is the arena's. 0 or -ENOMEM. */
int gmt_fleet_staged_fill(struct gmt_fleet_staged *staged, const struct gmt_fleet *fleet,
                          const struct gmt_fleet_clocks *clocks, struct gmt_arena *arena);

#endif

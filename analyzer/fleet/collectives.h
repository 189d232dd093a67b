/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives of one rank: what they are. */
#ifndef GMT_ANALYZER_FLEET_COLLECTIVES_H
#define GMT_ANALYZER_FLEET_COLLECTIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/fleet/fleet.h"

/* As JSON has it. */
const char *gmt_fleet_operation_word(enum gmt_fleet_operation operation);
/* Bandwidth that the link of each rank needs, bytes/s, of a message of `bytes` among `ranks`; NAN: no rule for it. */
double gmt_fleet_bus_bandwidth(enum gmt_fleet_operation operation, double bytes, double ranks,
                               double ns);

/* Does each rank send as much as that bandwidth says, after it came? Else one that comes late may find the bytes in its buffers. */
bool gmt_fleet_all_send(enum gmt_fleet_operation operation);

/* A row of step_collective. 0, or NULL: unknown. */
struct gmt_collective_row {
    const char *name;
    int64_t position, begin_ns, end_ns, communicator, number, ranks, bytes;
};

/*
 * Where communicator and number are known it is matched by these, else by the kernel and its position. to_wall_clock_ns is
 * added to its times; false: then they are none.
 */
bool gmt_fleet_collective_of(struct gmt_fleet_collective *one, const struct gmt_collective_row *row,
                             int64_t to_wall_clock_ns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A rank on its way from the process that has read it. */
#ifndef GMT_ANALYZER_FLEET_RANK_STREAM_H
#define GMT_ANALYZER_FLEET_RANK_STREAM_H

#include <stdio.h>

#include "analyzer/fleet/fleet.h"
#include "libtrace/base/arena.h"

/* 0 or -EIO. */
int gmt_fleet_rank_send(const struct gmt_fleet_rank *rank, FILE *out);
/* As it was sent by this program; of the arena. 0, -EIO: it is not whole, or -ENOMEM. */
int gmt_fleet_rank_receive(struct gmt_fleet_rank *rank, FILE *in, struct gmt_arena *arena);

#endif

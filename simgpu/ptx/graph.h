/* SPDX-License-Identifier: Apache-2.0 */
/* Directed graphs and their dominators, for flow.c. */
#ifndef SIMGPU_PTX_GRAPH_H
#define SIMGPU_PTX_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "libtrace/base/arena.h"

struct ptx_edge {
    uint32_t from, to;
};

/* For each node its neighbours: neighbours[first[n]] to neighbours[first[n + 1] - 1]. */
struct ptx_neighbours {
    uint32_t *first, *neighbours;
};

/* 0 or -ENOMEM. Memory is the arena's. */
int ptx_successors(struct gmt_arena *arena, const struct ptx_edge *edges, size_t edge_count,
                   uint32_t node_count, struct ptx_neighbours *out);
int ptx_predecessors(struct gmt_arena *arena, const struct ptx_edge *edges, size_t edge_count,
                     uint32_t node_count, struct ptx_neighbours *out);

#define PTX_NO_NODE UINT32_MAX

/*
 * Immediate post-dominators with node 0 as the exit: `out` has node_count entries; PTX_NO_NODE for
 * node 0 and for nodes from which it cannot be reached. 0 or -ENOMEM.
 */
int ptx_post_dominators(struct gmt_arena *arena, const struct ptx_edge *edges, size_t edge_count,
                        uint32_t node_count, uint32_t *out);

#endif

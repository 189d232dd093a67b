/* SPDX-License-Identifier: Apache-2.0 */
/* Describing the operations of a graph. */
#ifndef GMT_PRELOAD_HOOKS_GRAPH_NODE_H
#define GMT_PRELOAD_HOOKS_GRAPH_NODE_H

#include <cuda.h>

#include "libtrace/record/layout.h"

/* What a node of each kind does, added to `node`. NULL is allowed: nothing is known then. */
void gmt_graph_node_copy(struct gmt_graph_node *node, const CUDA_MEMCPY3D *copy);
void gmt_graph_node_memset(struct gmt_graph_node *node, uint64_t dst, uint64_t element_bytes,
                           uint64_t width, uint64_t height);
void gmt_graph_node_kernel(struct gmt_graph_node *node, CUfunction function, const uint32_t grid[3],
                           const uint32_t block[3]);

/* Write the nodes of `graph` and of its child graphs, `described` being filled for all of them but for
 * what each does. Returns how many there are. */
uint32_t gmt_graph_write_nodes(CUgraph graph, const struct gmt_graph_node *described);

/* The same for a node that is a child graph and was updated with `graph`: each node keeps its name. */
void gmt_graph_write_child(CUgraphNode node, CUgraph graph, const struct gmt_graph_node *described);

/* Write one node. */
void gmt_graph_write_node(const struct gmt_graph_node *node);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of a graph in an order in which each comes after all that it depends on. */
#ifndef GMT_PRELOAD_GRAPH_ORDER_H
#define GMT_PRELOAD_GRAPH_ORDER_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From a node to its number, in `slots` (a power of two, at least twice as many as there are nodes). */
struct gmt_node_index {
    CUgraphNode *nodes; /* NULL: no node */
    uint32_t *numbers;
    size_t slots;
};

/* Bytes of an index of `count` nodes, with its arrays. */
size_t gmt_node_index_bytes(size_t count);
/* An empty index in `memory`, which is zeroed and has that many bytes. */
struct gmt_node_index gmt_node_index_make(void *memory, size_t count);
void gmt_node_index_add(struct gmt_node_index *index, CUgraphNode node, uint32_t number);
/* SIZE_MAX: there is no such node. */
size_t gmt_node_index_find(const struct gmt_node_index *index, CUgraphNode node);

struct gmt_ordered_nodes {
    CUgraphNode *nodes;
    size_t count;
    size_t mapped_bytes; /* of `nodes` */
};

/* False: the driver has no such function, memory is out, there are more than `most` nodes, or an edge asks for more than an
 * order (launch order: both kernels may have to run at once). Free the result with gmt_ordered_nodes_free. */
bool gmt_ordered_nodes_get(CUgraph graph, size_t most, struct gmt_ordered_nodes *out);
void gmt_ordered_nodes_free(struct gmt_ordered_nodes *nodes);

#endif

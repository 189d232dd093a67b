/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts the nodes of a graph topologically (Kahn's algorithm; order.h). */
#include "preload/graph/order.h"

#include <sys/mman.h>

#include "preload/driver/resolve.h"

/* ---- the index ---------------------------------------------------------------------------------- */

static size_t slots_for(size_t count)
{
    size_t slots = 16;
    while (slots < 2 * count) {
        slots *= 2;
    }
    return slots;
}

size_t gmt_node_index_bytes(size_t count)
{
    return slots_for(count) * (sizeof(CUgraphNode) + sizeof(uint32_t));
}

struct gmt_node_index gmt_node_index_make(void *memory, size_t count)
{
    size_t slots = slots_for(count);
    CUgraphNode *nodes = memory;
    return (struct gmt_node_index){nodes, (uint32_t *)(nodes + slots), slots};
}

/* Its slot, or the free one where it belongs. */
static size_t slot_of(const struct gmt_node_index *index, CUgraphNode node)
{
    uint64_t mixed = (uint64_t)(uintptr_t)node * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(mixed >> 20) & (index->slots - 1);
    while (index->nodes[at] != NULL && index->nodes[at] != node) {
        at = (at + 1) & (index->slots - 1);
    }
    return at;
}

void gmt_node_index_add(struct gmt_node_index *index, CUgraphNode node, uint32_t number)
{
    size_t at = slot_of(index, node);
    index->nodes[at] = node;
    index->numbers[at] = number;
}

size_t gmt_node_index_find(const struct gmt_node_index *index, CUgraphNode node)
{
    size_t at = node != NULL && index->slots != 0 ? slot_of(index, node) : SIZE_MAX;
    return at != SIZE_MAX && index->nodes[at] != NULL ? index->numbers[at] : SIZE_MAX;
}

/* ---- sorting ------------------------------------------------------------------------------------ */

/* All that sorting needs, in one mapping. */
struct sorting {
    size_t count, edge_count, bytes;
    void *memory;
    CUgraphNode *nodes, *from, *to;
    CUgraphEdgeData *data;
    struct gmt_node_index index;
    uint32_t *before; /* by node: edges to it whose beginning is not in the order yet */
    uint32_t *first;  /* by node: its first edge in `next`; one more at the end */
    uint32_t *next;   /* where the edges of each node lead to */
    uint32_t *queue;
};

static bool map_sorting(struct sorting *w)
{
    size_t n = w->count, e = w->edge_count, index_bytes = gmt_node_index_bytes(n);
    size_t pointers = n + 2 * e;
    w->bytes = pointers * sizeof(void *) + e * sizeof(CUgraphEdgeData) + index_bytes +
               (n + (n + 1) + e + n) * sizeof(uint32_t) + 64;
    w->memory = mmap(NULL, w->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (w->memory == MAP_FAILED) {
        w->memory = NULL;
        return false;
    }
    w->nodes = w->memory;
    w->from = w->nodes + n;
    w->to = w->from + e;
    w->data = (CUgraphEdgeData *)(w->to + e);
    void *index = w->data + e;
    w->index = gmt_node_index_make(index, n);
    w->before = (uint32_t *)((uint8_t *)index + index_bytes);
    w->first = w->before + n;
    w->next = w->first + n + 1;
    w->queue = w->next + e;
    return true;
}

/* Where the kernel behind the edge may begin before the one in front of it has ended (programmatic dependent launch),
 * it may as well begin later. Not so where it may as soon as the other has begun: both may need to run at once. */
static bool is_order(const CUgraphEdgeData *edge)
{
    return edge->from_port != CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER && edge->to_port == 0;
}

/* Fills `before`, `first` and `next`. False: an edge asks for more than an order, or leads to no node of the graph. */
static bool read_edges(struct sorting *w)
{
    for (size_t i = 0; i < w->edge_count; i++) {
        size_t from = gmt_node_index_find(&w->index, w->from[i]);
        size_t to = gmt_node_index_find(&w->index, w->to[i]);
        if (from == SIZE_MAX || to == SIZE_MAX || !is_order(&w->data[i])) {
            return false;
        }
        w->first[from + 1]++;
        w->before[to]++;
    }
    for (size_t i = 0; i < w->count; i++) {
        w->first[i + 1] += w->first[i];
    }
    for (size_t i = w->edge_count; i-- > 0;) {
        size_t from = gmt_node_index_find(&w->index, w->from[i]);
        /* `queue` counts how many edges of the node are in their place. */
        w->next[w->first[from] + w->queue[from]++] = (uint32_t)gmt_node_index_find(&w->index,
                                                                                   w->to[i]);
    }
    return true;
}

/* False: the edges form a cycle, which no driver accepts. */
static bool sort(struct sorting *w, CUgraphNode *out)
{
    size_t taken = 0, known = 0;
    for (size_t i = 0; i < w->count; i++) {
        if (w->before[i] == 0) {
            w->queue[known++] = (uint32_t)i;
        }
    }
    for (; taken < known; taken++) {
        uint32_t node = w->queue[taken];
        out[taken] = w->nodes[node];
        for (uint32_t edge = w->first[node]; edge < w->first[node + 1]; edge++) {
            if (--w->before[w->next[edge]] == 0) {
                w->queue[known++] = w->next[edge];
            }
        }
    }
    return taken == w->count;
}

static bool order(struct sorting *w, CUgraph graph, struct gmt_ordered_nodes *out)
{
    size_t nodes = w->count, edges = w->edge_count;
    if (gmt_driver.cuGraphGetNodes(graph, w->nodes, &nodes) != CUDA_SUCCESS || nodes != w->count) {
        return false;
    }
    if (edges != 0 &&
        (gmt_driver.cuGraphGetEdges_v2(graph, w->from, w->to, w->data, &edges) != CUDA_SUCCESS ||
         edges != w->edge_count)) {
        return false;
    }
    for (size_t i = 0; i < nodes; i++) {
        gmt_node_index_add(&w->index, w->nodes[i], (uint32_t)i);
    }
    if (!read_edges(w)) {
        return false;
    }
    out->count = nodes;
    out->mapped_bytes = nodes * sizeof(CUgraphNode);
    out->nodes = mmap(NULL, out->mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                      -1, 0);
    if (out->nodes == MAP_FAILED) {
        return false;
    }
    if (!sort(w, out->nodes)) {
        gmt_ordered_nodes_free(out);
        return false;
    }
    return true;
}

bool gmt_ordered_nodes_get(CUgraph graph, size_t most, struct gmt_ordered_nodes *out)
{
    struct sorting w = {0};
    if (gmt_driver.cuGraphGetNodes == NULL || gmt_driver.cuGraphGetEdges_v2 == NULL ||
        gmt_driver.cuGraphGetNodes(graph, NULL, &w.count) != CUDA_SUCCESS || w.count == 0 ||
        w.count > most ||
        gmt_driver.cuGraphGetEdges_v2(graph, NULL, NULL, NULL, &w.edge_count) != CUDA_SUCCESS ||
        w.edge_count > 16 * most || !map_sorting(&w)) {
        return false;
    }
    bool done = order(&w, graph, out);
    (void)munmap(w.memory, w.bytes);
    return done;
}

void gmt_ordered_nodes_free(struct gmt_ordered_nodes *nodes)
{
    (void)munmap(nodes->nodes, nodes->mapped_bytes);
    nodes->nodes = NULL;
    nodes->count = 0;
}

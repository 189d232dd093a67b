/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Post-dominators in time near to linear, whatever the graph.
 *
 * Source: T. Lengauer, R. Tarjan, "A Fast Algorithm for Finding Dominators in a Flowgraph", ACM
 * TOPLAS 1(1), 1979 (the version with path compression only, O(m log n)); run on the reversed graph.
 */
#include "simgpu/ptx/graph.h"

#include <errno.h>

static uint32_t *words(struct gmt_arena *arena, size_t count)
{
    return gmt_arena_alloc(arena, count * sizeof(uint32_t));
}

static int collect(struct gmt_arena *arena, const struct ptx_edge *edges, size_t edge_count,
                   uint32_t node_count, struct ptx_neighbours *out, int reversed)
{
    uint32_t *first = words(arena, (size_t)node_count + 2);
    uint32_t *neighbours = words(arena, edge_count + 1);

    if (first == NULL || neighbours == NULL) {
        return -ENOMEM;
    }
    /* Counted one place further on, so that filling in moves each start to where it belongs. */
    for (size_t i = 0; i < edge_count; i++) {
        first[(reversed ? edges[i].to : edges[i].from) + 2]++;
    }
    for (uint32_t i = 0; i < node_count; i++) {
        first[i + 1] += first[i];
    }
    first[node_count + 1] += first[node_count];
    for (size_t i = 0; i < edge_count; i++) {
        uint32_t node = reversed ? edges[i].to : edges[i].from;

        neighbours[first[node + 1]++] = reversed ? edges[i].from : edges[i].to;
    }
    *out = (struct ptx_neighbours){first, neighbours};
    return 0;
}

int ptx_successors(struct gmt_arena *arena, const struct ptx_edge *edges, size_t edge_count,
                   uint32_t node_count, struct ptx_neighbours *out)
{
    return collect(arena, edges, edge_count, node_count, out, 0);
}

int ptx_predecessors(struct gmt_arena *arena, const struct ptx_edge *edges, size_t edge_count,
                     uint32_t node_count, struct ptx_neighbours *out)
{
    return collect(arena, edges, edge_count, node_count, out, 1);
}

/* Nodes are known by their number in a depth-first search of the reversed graph from node 0. */
struct graph_search {
    struct ptx_neighbours successors, predecessors; /* of the graph as it stands */
    uint32_t count;                                 /* nodes found */
    uint32_t *number;                               /* of a node; PTX_NO_NODE if not found */
    uint32_t *node;                                 /* of a number */
    uint32_t *parent;                               /* the rest by number */
    uint32_t *semi, *idom;
    uint32_t *ancestor, *best; /* the forest of links, and the least semi on the way up */
    uint32_t *bucket, *next;   /* lists of those with a semidominator */
    uint32_t *stack;
};

static int search_init(struct graph_search *search, struct gmt_arena *arena, uint32_t nodes)
{
    uint32_t **arrays[] = {&search->number, &search->node,     &search->parent, &search->semi,
                           &search->idom,   &search->ancestor, &search->best,   &search->bucket,
                           &search->next,   &search->stack};

    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        *arrays[i] = words(arena, nodes);
        if (*arrays[i] == NULL) {
            return -ENOMEM;
        }
    }
    for (uint32_t i = 0; i < nodes; i++) {
        search->number[i] = PTX_NO_NODE;
        search->semi[i] = search->best[i] = i;
        search->ancestor[i] = search->bucket[i] = search->next[i] = PTX_NO_NODE;
    }
    return 0;
}

static void visit(struct graph_search *search, uint32_t node, uint32_t parent)
{
    search->number[node] = search->count;
    search->node[search->count] = node;
    search->parent[search->count] = parent;
    search->count++;
}

static void number_nodes(struct graph_search *search)
{
    uint32_t *place = search->stack; /* how many neighbours of a node were looked at, by number */
    uint32_t top = 0;

    visit(search, 0, PTX_NO_NODE);
    place[0] = search->predecessors.first[0];
    while (top != PTX_NO_NODE) {
        uint32_t node = search->node[top];
        uint32_t neighbour;

        if (place[top] == search->predecessors.first[node + 1]) {
            top = search->parent[top];
            continue;
        }
        neighbour = search->predecessors.neighbours[place[top]++];
        if (search->number[neighbour] == PTX_NO_NODE) {
            visit(search, neighbour, top);
            top = search->count - 1;
            place[top] = search->predecessors.first[neighbour];
        }
    }
}

/* The node with the least semidominator on the way from `v` up to its root, the root excluded. */
static uint32_t evaluate(struct graph_search *search, uint32_t v)
{
    uint32_t depth = 0, u = v;

    if (search->ancestor[v] == PTX_NO_NODE) {
        return v;
    }
    while (search->ancestor[search->ancestor[u]] != PTX_NO_NODE) {
        search->stack[depth++] = u;
        u = search->ancestor[u];
    }
    while (depth > 0) {
        uint32_t above = u;

        u = search->stack[--depth];
        if (search->semi[search->best[above]] < search->semi[search->best[u]]) {
            search->best[u] = search->best[above];
        }
        search->ancestor[u] = search->ancestor[above];
    }
    return search->best[v];
}

/* Those whose semidominator is `parent`: now their dominator, or one to be taken it from, is known. */
static void empty_bucket(struct graph_search *search, uint32_t parent)
{
    for (uint32_t v = search->bucket[parent]; v != PTX_NO_NODE; v = search->next[v]) {
        uint32_t u = evaluate(search, v);

        search->idom[v] = search->semi[u] < search->semi[v] ? u : parent;
    }
    search->bucket[parent] = PTX_NO_NODE;
}

static void find_dominators(struct graph_search *search)
{
    for (uint32_t w = search->count; w-- > 1;) {
        uint32_t node = search->node[w];

        for (uint32_t i = search->successors.first[node]; i < search->successors.first[node + 1];
             i++) {
            uint32_t v = search->number[search->successors.neighbours[i]];

            if (v != PTX_NO_NODE) {
                uint32_t u = evaluate(search, v);

                if (search->semi[u] < search->semi[w]) {
                    search->semi[w] = search->semi[u];
                }
            }
        }
        search->next[w] = search->bucket[search->semi[w]];
        search->bucket[search->semi[w]] = w;
        search->ancestor[w] = search->parent[w];
        empty_bucket(search, search->parent[w]);
    }
    for (uint32_t w = 1; w < search->count; w++) {
        if (search->idom[w] != search->semi[w]) {
            search->idom[w] = search->idom[search->idom[w]];
        }
    }
}

int ptx_post_dominators(struct gmt_arena *arena, const struct ptx_edge *edges, size_t edge_count,
                        uint32_t node_count, uint32_t *out)
{
    struct graph_search search = {0};

    if (search_init(&search, arena, node_count) != 0 ||
        ptx_successors(arena, edges, edge_count, node_count, &search.successors) != 0 ||
        ptx_predecessors(arena, edges, edge_count, node_count, &search.predecessors) != 0) {
        return -ENOMEM;
    }
    number_nodes(&search);
    find_dominators(&search);
    for (uint32_t i = 0; i < node_count; i++) {
        out[i] = PTX_NO_NODE;
    }
    for (uint32_t w = 1; w < search.count; w++) {
        out[search.node[w]] = search.node[search.idom[w]];
    }
    return 0;
}

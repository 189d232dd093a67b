/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs under SIMGPU_ORDER: what a capture orders, and launches, whose nodes are done in any order that the edges allow.
 *
 * A capture keeps for each stream, and for each event that is recorded in one, the nodes that the next one comes after: its
 * frontier. Nodes stand in the order in which they were captured, so edges lead from a lower number to a higher one.
 */
#include <stdlib.h>
#include <string.h>

#include "simgpu/driver/late.h"

/* ---- edges ------------------------------------------------------------------------------------- */

static bool add_edge(struct sim_graph *graph, uint32_t from, uint32_t to)
{
    if (graph->edge_count == graph->edge_capacity) {
        size_t capacity = graph->edge_capacity != 0 ? 2 * graph->edge_capacity : 16;
        struct sim_edge *grown = realloc(graph->edges, capacity * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        graph->edges = grown;
        graph->edge_capacity = capacity;
    }
    graph->edges[graph->edge_count++] = (struct sim_edge){from, to};
    return true;
}

static bool add_edges(struct sim_graph *graph, const struct sim_frontier *from, uint32_t to)
{
    bool added = true;
    for (size_t i = 0; i < from->count && added; i++) {
        added = sim_skips_edge() || add_edge(graph, from->nodes[i], to);
    }
    return added;
}

CUresult sim_late_capture(struct sim_stream *stream, const struct sim_node *node)
{
    struct sim_graph *graph = stream->capture;
    CUresult result = sim_graph_add(graph, node);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    uint32_t last = (uint32_t)graph->count - 1;
    bool added = add_edges(graph, &stream->frontier, last);
    stream->frontier.count = 0;
    return added && sim_frontier_add(&stream->frontier, last) ? CUDA_SUCCESS
                                                              : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Its nodes become nodes of the captured graph; a node that is off stays one. */
CUresult sim_late_capture_graph(struct sim_stream *stream, const struct sim_graph *exec)
{
    struct sim_graph *graph = stream->capture;
    uint32_t first = (uint32_t)graph->count;
    struct sim_frontier last = {0};
    bool added = true;
    for (size_t i = 0, edge = 0; i < exec->count && added; i++) {
        bool is_root = true, is_last = true;
        added = sim_graph_add(graph, &exec->nodes[i]) == CUDA_SUCCESS;
        for (; edge < exec->edge_count && exec->edges[edge].to == i && added; edge++) {
            added = add_edge(graph, first + exec->edges[edge].from, first + (uint32_t)i);
            is_root = false;
        }
        added = added && (!is_root || add_edges(graph, &stream->frontier, first + (uint32_t)i));
        for (size_t k = 0; k < exec->edge_count; k++) {
            is_last &= exec->edges[k].from != i;
        }
        added = added && (!is_last || sim_frontier_add(&last, first + (uint32_t)i));
    }
    if (added && exec->count != 0) {
        sim_frontier_free(&stream->frontier);
        stream->frontier = last;
        return CUDA_SUCCESS;
    }
    sim_frontier_free(&last);
    return added ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

bool sim_edges_copy(struct sim_graph *to, const struct sim_graph *from)
{
    bool copied = true;
    for (size_t i = 0; i < from->edge_count && copied; i++) {
        copied = add_edge(to, from->edges[i].from, from->edges[i].to);
    }
    return copied;
}

/* ---- what programs are shown ------------------------------------------------------------------- */

struct listed {
    uint64_t key;
    uint32_t node;
};

static int by_key(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* A graph's nodes are listed in no particular order: here in one that depends on the seed. */
bool sim_late_list(const struct sim_graph *graph, CUgraphNode *nodes, size_t room)
{
    struct listed *list = calloc(graph->count + 1, sizeof *list);
    if (list == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < graph->count; i++) {
        uint64_t key = (sim_order_seed() + i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        list[i] = (struct listed){(key ^ key >> 29) * UINT64_C(0xbf58476d1ce4e5b9), i};
    }
    qsort(list, graph->count, sizeof *list, by_key);
    for (size_t i = 0; i < room; i++) {
        nodes[i] = i < graph->count ? (CUgraphNode)&graph->nodes[list[i].node] : NULL;
    }
    free(list);
    return true;
}

/* ---- launches ---------------------------------------------------------------------------------- */

static struct sim_operation *marker(struct sim_stream *stream, const char *name)
{
    struct sim_work work = {.run = NULL};
    sim_late_name(&work, stream, name, false);
    return sim_operation_new(&work);
}

/* Submits all nodes, each after those its edges come from, or else after `start`; the ends lead to `end`. */
static bool submit(const struct sim_graph *exec, const struct sim_stream *stream,
                   struct sim_operation **operations, struct sim_operation *start,
                   struct sim_operation *end)
{
    bool linked = true;
    for (size_t i = 0, edge = 0; i < exec->count && linked; i++) {
        const struct sim_work nothing = {.name = "node that is off"};
        bool is_root = true;
        operations[i] = exec->nodes[i].is_off
                            ? sim_operation_new(&nothing)
                            : sim_late_operation(stream, &exec->nodes[i], false, true);
        linked = operations[i] != NULL;
        for (; linked && edge < exec->edge_count && exec->edges[edge].to == i; edge++) {
            linked = sim_operation_after(operations[i], operations[exec->edges[edge].from]);
            is_root = false;
        }
        linked = linked && (!is_root || sim_operation_after(operations[i], start));
        if (linked) {
            sim_operation_submit(operations[i]);
        }
    }
    bool *leads = calloc(exec->count + 1, sizeof *leads);
    for (size_t k = 0; leads != NULL && k < exec->edge_count; k++) {
        leads[exec->edges[k].from] = true;
    }
    for (size_t i = 0; i < exec->count; i++) {
        if (operations[i] != NULL && (leads == NULL || !leads[i])) {
            linked = sim_operation_after(end, operations[i]) && linked;
        }
    }
    free(leads);
    return linked && sim_operation_after(end, start);
}

/* Launches of one executable graph come after each other, also in different streams. */
CUresult sim_late_graph(struct sim_graph *exec, struct sim_stream *stream)
{
    struct sim_operation **operations = calloc(exec->count + 1, sizeof(void *));
    struct sim_operation *start = marker(stream, "graph launch"),
                         *end = marker(stream, "graph end");
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    sim_late_queue_begin();
    if (operations != NULL && start != NULL && end != NULL &&
        sim_operation_after(start, exec->last)) {
        result = sim_late_append(stream, sim_operation_keep(start));
        bool submitted = result == CUDA_SUCCESS && submit(exec, stream, operations, start, end);
        result = result == CUDA_SUCCESS ? sim_late_append(stream, sim_operation_keep(end)) : result;
        if (result == CUDA_SUCCESS) {
            sim_operation_release(exec->last);
            exec->last = sim_operation_keep(end);
        }
        result = result == CUDA_SUCCESS && !submitted ? CUDA_ERROR_OUT_OF_MEMORY : result;
    }
    sim_late_queue_end();
    for (size_t i = 0; operations != NULL && i < exec->count; i++) {
        sim_operation_release(operations[i]);
    }
    free((void *)operations);
    sim_operation_release(start);
    sim_operation_release(end);
    sim_order_progress();
    return result;
}

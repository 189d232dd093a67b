/* SPDX-License-Identifier: Apache-2.0 */
/* Frontiers of captures: the nodes that the next one of a stream comes after. */
#include <stdlib.h>

#include "simgpu/driver/late.h"

bool sim_frontier_add(struct sim_frontier *frontier, uint32_t node)
{
    for (size_t i = 0; i < frontier->count; i++) {
        if (frontier->nodes[i] == node) {
            return true;
        }
    }
    if (frontier->count == frontier->capacity) {
        size_t capacity = frontier->capacity != 0 ? 2 * frontier->capacity : 4;
        uint32_t *grown = realloc(frontier->nodes, capacity * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        frontier->nodes = grown;
        frontier->capacity = capacity;
    }
    frontier->nodes[frontier->count++] = node;
    return true;
}

bool sim_frontier_join(struct sim_frontier *frontier, const struct sim_frontier *other)
{
    bool joined = true;
    for (size_t i = 0; i < other->count && joined; i++) {
        joined = sim_frontier_add(frontier, other->nodes[i]);
    }
    return joined;
}

bool sim_frontier_of_nodes(struct sim_frontier *frontier, const struct sim_graph *graph,
                           const CUgraphNode *nodes, size_t count)
{
    bool valid = true;
    for (size_t i = 0; i < count && valid; i++) {
        uintptr_t offset = (uintptr_t)nodes[i] - (uintptr_t)graph->nodes;
        size_t index = offset / sizeof *graph->nodes;
        valid = nodes[i] != NULL && offset % sizeof *graph->nodes == 0 && index < graph->count &&
                sim_frontier_add(frontier, (uint32_t)index);
    }
    return valid;
}

void sim_frontier_free(struct sim_frontier *frontier)
{
    free(frontier->nodes);
    *frontier = (struct sim_frontier){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Breadth-first search of a random graph: irregular loads, a frontier built with atomics. */
#include "program.cuh"

#define NODES 5003

struct graph {
    std::vector<int> first, neighbour; /* compressed rows */
};

static graph make_graph()
{
    sim_random random(16);
    graph g;

    for (int node = 0; node < NODES; node++) {
        unsigned degree = random.below(8) == 0 ? random.below(60) : random.below(4);

        g.first.push_back((int)g.neighbour.size());
        for (unsigned i = 0; i < degree; i++)
            g.neighbour.push_back((int)random.below(NODES));
    }
    g.first.push_back((int)g.neighbour.size());
    return g;
}

/* Each node of the frontier claims its unvisited neighbours; who claims appends to the next one. */
static __global__ void expand(const int *first, const int *neighbour, int *level, int depth,
                              const int *frontier, int count, int *next, int *next_count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= count)
        return;
    int node = frontier[i];
    for (int edge = first[node]; edge < first[node + 1]; edge++) {
        int other = neighbour[edge];

        if (atomicCAS(&level[other], -1, depth + 1) == -1)
            next[atomicAdd(next_count, 1)] = other;
    }
}

static std::vector<int> reference(const graph &g)
{
    std::vector<int> level(NODES, -1), queue = {0};

    level[0] = 0;
    for (size_t i = 0; i < queue.size(); i++)
        for (int edge = g.first[queue[i]]; edge < g.first[queue[i] + 1]; edge++)
            if (level[g.neighbour[edge]] == -1) {
                level[g.neighbour[edge]] = level[queue[i]] + 1;
                queue.push_back(g.neighbour[edge]);
            }
    return level;
}

void sim_program_bfs(sim_check &check)
{
    graph g = make_graph();
    std::vector<int> start(NODES, -1);
    sim_array<int> first(check, g.first), neighbour(check, g.neighbour), a(check, NODES);
    sim_array<int> b(check, NODES), count(check, std::vector<int>{1});
    int *frontier = a.device, *next = b.device;

    start[0] = 0;
    sim_array<int> level(check, start);
    SIM_CALL(check, cudaMemset(frontier, 0, sizeof(int)));
    for (int depth = 0; count.host[0] > 0 && depth < NODES; depth++) {
        int size = count.host[0], *t = frontier;

        count.zero();
        expand<<<(size + 127) / 128, 128>>>(first.device, neighbour.device, level.device, depth,
                                            frontier, size, next, count.device);
        if (!SIM_LAUNCHED(check))
            return;
        count.download();
        frontier = next;
        next = t;
    }
    sim_equal(check, "level", level, reference(g));
}

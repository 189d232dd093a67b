/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of a graph in an order that its edges allow. The driver is a stand-in. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "preload/driver/resolve.h"
#include "preload/graph/order.h"

enum { MOST_NODES = 300, MOST_EDGES = 4000 };

struct gmt_driver gmt_driver;
static size_t node_count, edge_count;
static struct {
    size_t from, to;
    CUgraphEdgeData data;
} edges[MOST_EDGES];

/* Handles look like addresses. */
static CUgraphNode handle(size_t node)
{
    return (CUgraphNode)(uintptr_t)(UINT64_C(0x55aa00001000) + 64 * node);
}

static size_t number(CUgraphNode node)
{
    return (size_t)(((uint64_t)(uintptr_t)node - UINT64_C(0x55aa00001000)) / 64);
}

static CUresult get_nodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    (void)graph;
    for (size_t i = 0; nodes != NULL && i < node_count; i++) {
        nodes[i] = handle(i);
    }
    *count = node_count;
    return CUDA_SUCCESS;
}

static CUresult get_edges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data,
                          size_t *count)
{
    (void)graph;
    for (size_t i = 0; from != NULL && i < edge_count; i++) {
        from[i] = handle(edges[i].from);
        to[i] = handle(edges[i].to);
        data[i] = edges[i].data;
    }
    *count = edge_count;
    return CUDA_SUCCESS;
}

static void setup(void)
{
    gmt_driver.cuGraphGetNodes = get_nodes;
    gmt_driver.cuGraphGetEdges_v2 = get_edges;
    node_count = edge_count = 0;
}

static void edge(size_t from, size_t to)
{
    edges[edge_count].from = from;
    edges[edge_count].to = to;
    edges[edge_count++].data = (CUgraphEdgeData){0};
}

static bool ordered(struct gmt_ordered_nodes *nodes)
{
    return gmt_ordered_nodes_get(NULL, MOST_NODES, nodes);
}

TestSuite(graph_order, .init = setup);

Test(graph_order, follows_the_edges_of_a_thousand_graphs)
{
    srand(7);
    for (unsigned round = 0; round < 1000; round++) {
        size_t rank[MOST_NODES], place[MOST_NODES];
        struct gmt_ordered_nodes nodes;
        node_count = 1 + (size_t)rand() % (round < 990 ? 40 : MOST_NODES);
        edge_count = 0;
        for (size_t i = 0; i < node_count; i++) {
            rank[i] = (size_t)rand();
        }
        for (size_t i = 0; i < 3 * node_count; i++) {
            size_t a = (size_t)rand() % node_count, b = (size_t)rand() % node_count;
            if (rank[a] != rank[b]) {
                edge(rank[a] < rank[b] ? a : b, rank[a] < rank[b] ? b : a);
            }
        }
        cr_assert(ordered(&nodes));
        cr_assert_eq(nodes.count, node_count);
        memset(place, 0xff, sizeof(place));
        for (size_t i = 0; i < nodes.count; i++) {
            cr_assert_eq(place[number(nodes.nodes[i])], SIZE_MAX, "each once");
            place[number(nodes.nodes[i])] = i;
        }
        for (size_t i = 0; i < edge_count; i++) {
            cr_assert_lt(place[edges[i].from], place[edges[i].to], "graph %u, edge %zu", round, i);
        }
        gmt_ordered_nodes_free(&nodes);
    }
}

Test(graph_order, keeps_the_order_of_nodes_without_edges)
{
    struct gmt_ordered_nodes nodes;
    node_count = 5;
    cr_assert(ordered(&nodes));
    for (size_t i = 0; i < 5; i++) {
        cr_expect_eq(number(nodes.nodes[i]), i);
    }
    gmt_ordered_nodes_free(&nodes);
}

Test(graph_order, takes_edges_that_let_a_kernel_begin_early_as_an_order)
{
    struct gmt_ordered_nodes nodes;
    node_count = 2;
    edge(1, 0);
    edges[0].data = (CUgraphEdgeData){.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                      .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    cr_assert(ordered(&nodes));
    cr_expect_eq(number(nodes.nodes[0]), 1);
    gmt_ordered_nodes_free(&nodes);
}

Test(graph_order, refuses_kernels_that_may_have_to_run_at_once)
{
    struct gmt_ordered_nodes nodes;
    node_count = 2;
    edge(0, 1);
    edges[0].data.from_port = CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER;
    cr_expect_not(ordered(&nodes));
}

Test(graph_order, refuses_circles_unknown_nodes_and_what_is_too_large)
{
    struct gmt_ordered_nodes nodes;
    node_count = 3;
    edge(0, 1);
    edge(1, 2);
    edge(2, 1);
    cr_expect_not(ordered(&nodes), "a circle");
    edge_count = 0;
    edge(0, 7);
    cr_expect_not(ordered(&nodes), "a node of another graph");
    edge_count = 0;
    cr_expect_not(gmt_ordered_nodes_get(NULL, 2, &nodes), "three nodes");
    node_count = 0;
    cr_expect_not(ordered(&nodes), "no nodes");
    node_count = 1;
    gmt_driver.cuGraphGetEdges_v2 = NULL;
    cr_expect_not(ordered(&nodes), "a driver of before CUDA 12.3");
}

Test(graph_order, finds_nodes_in_an_index_and_no_others)
{
    void *memory = calloc(1, gmt_node_index_bytes(MOST_NODES));
    struct gmt_node_index index = gmt_node_index_make(memory, MOST_NODES);
    cr_assert_not_null(memory);
    for (uint32_t i = 0; i < MOST_NODES; i++) {
        gmt_node_index_add(&index, handle(i), i);
    }
    for (uint32_t i = 0; i < MOST_NODES; i++) {
        cr_expect_eq(gmt_node_index_find(&index, handle(i)), i);
    }
    cr_expect_eq(gmt_node_index_find(&index, handle(MOST_NODES)), SIZE_MAX);
    cr_expect_eq(gmt_node_index_find(&index, NULL), SIZE_MAX);
    free(memory);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the nodes of a graph from the driver and writes what each of them does. */
#include "preload/hooks/graph_node.h"

#include <string.h>
#include <sys/mman.h>

#include "preload/driver/resolve.h"
#include "preload/hooks/transfer.h"
#include "preload/state/allocmap.h"
#include "preload/state/kernels.h"
#include "preload/state/waits.h"

#define MAX_NODES 100000u /* of a graph without its child graphs */
#define MAX_CHILDREN 64u  /* child graphs waiting to be read */

void gmt_graph_node_copy(struct gmt_graph_node *node, const CUDA_MEMCPY3D *copy)
{
    node->kind = GMT_NODE_COPY;
    if (copy == NULL) {
        return;
    }
    struct gmt_transfer transfer = gmt_transfer_of_box(copy);
    gmt_transfer_classify(&transfer);
    node->dst = transfer.dst;
    node->src = transfer.src;
    node->dst_alloc = transfer.dst_alloc;
    node->src_alloc = transfer.src_alloc;
    node->dst_class = transfer.dst_class;
    node->src_class = transfer.src_class;
    node->direction = transfer.direction;
    node->bytes = transfer.width * transfer.height * transfer.depth;
}

void gmt_graph_node_memset(struct gmt_graph_node *node, uint64_t dst, uint64_t element_bytes,
                           uint64_t width, uint64_t height)
{
    node->kind = GMT_NODE_MEMSET;
    node->dst = dst;
    node->dst_class = (uint8_t)gmt_allocmap_class(dst, GMT_MEM_DEVICE, &node->dst_alloc);
    node->bytes = element_bytes * width * height;
}

void gmt_graph_node_kernel(struct gmt_graph_node *node, CUfunction function, const uint32_t grid[3],
                           const uint32_t block[3])
{
    const struct gmt_kernel_info *kernel = function != NULL ? gmt_kernel_find(function) : NULL;
    node->kind = GMT_NODE_KERNEL;
    node->kernel = kernel != NULL ? kernel->id : 0;
    memcpy(node->grid, grid, sizeof(node->grid));
    memcpy(node->block, block, sizeof(node->block));
}

void gmt_graph_write_node(const struct gmt_graph_node *node)
{
    (void)gmt_spool_side(GMT_REC_GRAPH_NODE, node, sizeof(*node), NULL, 0);
}

/* Call one of the driver's functions if this driver has it. */
#define ASK(function, ...) \
    (gmt_driver.function != NULL && gmt_driver.function(__VA_ARGS__) == CUDA_SUCCESS)

static void read_kernel(struct gmt_graph_node *out, CUgraphNode node)
{
    CUDA_KERNEL_NODE_PARAMS_v2 kernel = {0};
    out->kind = GMT_NODE_KERNEL;
    if (ASK(cuGraphKernelNodeGetParams_v2, node, &kernel)) {
        CUfunction function = kernel.func;
        if (function == NULL) {
            function = (CUfunction)kernel.kern; /* a launch takes either */
        }
        gmt_graph_node_kernel(
            out, function, (const uint32_t[]){kernel.gridDimX, kernel.gridDimY, kernel.gridDimZ},
            (const uint32_t[]){kernel.blockDimX, kernel.blockDimY, kernel.blockDimZ});
    }
}

static void read_node(struct gmt_graph_node *out, CUgraphNode node, CUgraphNodeType type)
{
    CUDA_MEMCPY3D copy = {0};
    CUDA_MEMSET_NODE_PARAMS set = {0};
    CUDA_MEM_ALLOC_NODE_PARAMS alloc = {0};
    CUdeviceptr address = 0;
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: read_kernel(out, node); break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        gmt_graph_node_copy(out, ASK(cuGraphMemcpyNodeGetParams, node, &copy) ? &copy : NULL);
        break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        out->kind = GMT_NODE_MEMSET;
        if (ASK(cuGraphMemsetNodeGetParams, node, &set)) {
            gmt_graph_node_memset(out, set.dst, set.elementSize, set.width, set.height);
        }
        break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        out->kind = GMT_NODE_ALLOC;
        if (ASK(cuGraphMemAllocNodeGetParams, node, &alloc)) {
            out->dst = alloc.dptr;
            out->bytes = alloc.bytesize;
        }
        break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        out->kind = GMT_NODE_FREE;
        out->dst = ASK(cuGraphMemFreeNodeGetParams, node, &address) ? address : 0;
        break;
    case CU_GRAPH_NODE_TYPE_HOST:
        out->kind = GMT_NODE_HOST;
        gmt_waits_in_graphs();
        break;
    case CU_GRAPH_NODE_TYPE_EMPTY: out->kind = GMT_NODE_EMPTY; break;
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        out->kind = GMT_NODE_OTHER;
        gmt_waits_in_graphs();
        break;
    default: out->kind = GMT_NODE_OTHER; break;
    }
}

/* The nodes of one graph, in memory of their own. */
struct nodes {
    CUgraphNode *node;
    size_t count, bytes;
};

static struct nodes get_nodes(CUgraph graph)
{
    struct nodes all = {0};
    size_t count = 0;
    if (!ASK(cuGraphGetNodes, graph, NULL, &count) || count == 0) {
        return all;
    }
    if (count > MAX_NODES) {
        gmt_spool_loss("graph nodes not read", "a graph with more than 100000 nodes", count);
        return all;
    }
    all.bytes = count * sizeof(void *);
    all.node = mmap(NULL, all.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all.node == MAP_FAILED) {
        gmt_spool_loss("graph nodes not read", "no memory", count);
        return (struct nodes){0};
    }
    all.count = ASK(cuGraphGetNodes, graph, all.node, &count) ? count : 0;
    return all;
}

static void release_nodes(const struct nodes *all)
{
    if (all->bytes != 0) {
        (void)munmap(all->node, all->bytes);
    }
}

/* Graphs that are still to be read: `names` has the nodes' names, `graph` says what they do. */
struct pending {
    struct {
        CUgraph names, graph;
    } graphs[MAX_CHILDREN];
    unsigned count;
};

static void add_pending(struct pending *pending, CUgraph names, CUgraph graph)
{
    if (pending->count < MAX_CHILDREN) {
        pending->graphs[pending->count].names = names;
        pending->graphs[pending->count++].graph = graph;
    } else {
        gmt_spool_loss("graph nodes not read", "child graphs", 1);
    }
}

static void write_one(struct pending *pending, const struct gmt_graph_node *described,
                      CUgraphNode named, CUgraphNode node, uint32_t *written)
{
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    CUgraph names = NULL, child = NULL;
    struct gmt_graph_node out = *described;
    if (!ASK(cuGraphNodeGetType, node, &type)) {
        return;
    }
    if (type == CU_GRAPH_NODE_TYPE_GRAPH && ASK(cuGraphChildGraphNodeGetGraph, node, &child) &&
        ASK(cuGraphChildGraphNodeGetGraph, named, &names)) {
        add_pending(pending, names, child);
        return;
    }
    out.node = (uint64_t)(uintptr_t)named;
    out.position = (*written)++;
    read_node(&out, node, type);
    gmt_graph_write_node(&out);
}

static void write_level(struct pending *pending, const struct gmt_graph_node *described,
                        CUgraph names, CUgraph graph, uint32_t *written)
{
    struct nodes nodes = get_nodes(graph);
    struct nodes others = names != graph ? get_nodes(names) : (struct nodes){0};
    const struct nodes *named = names != graph ? &others : &nodes;
    if (named->count != nodes.count) {
        gmt_spool_loss("graph nodes not read", "a child graph of another form", nodes.count);
    }
    for (size_t i = 0; i < nodes.count && named->count == nodes.count; i++) {
        write_one(pending, described, named->node[i], nodes.node[i], written);
    }
    release_nodes(&nodes);
    release_nodes(&others);
}

static uint32_t write_all(CUgraph names, CUgraph graph, const struct gmt_graph_node *described)
{
    struct pending pending = {.count = 0};
    uint32_t written = 0;
    add_pending(&pending, names, graph);
    while (pending.count > 0) {
        unsigned last = --pending.count;
        write_level(&pending, described, pending.graphs[last].names, pending.graphs[last].graph,
                    &written);
    }
    return written;
}

uint32_t gmt_graph_write_nodes(CUgraph graph, const struct gmt_graph_node *described)
{
    return write_all(graph, graph, described);
}

void gmt_graph_write_child(CUgraphNode node, CUgraph graph, const struct gmt_graph_node *described)
{
    CUgraph names = NULL;
    if (ASK(cuGraphChildGraphNodeGetGraph, node, &names)) {
        (void)write_all(names, graph, described);
    }
}

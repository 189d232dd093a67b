/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs and their nodes -> rows of graph, graph_end and graph_node. */
#include "libtrace/store/ingest_internal.h"
#include "libtrace/store/names.h"

int gmt_ingest_graph(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_graph *graph = record->data;
    uint64_t since_ns = gmt_ingest_ns(ingest, graph->since_ticks);
    struct gmt_binder row;
    if (graph->id == 0) {
        row = gmt_ingest_bind(ingest, GMT_STATEMENT_GRAPH_END);
        gmt_put_unsigned(&row, graph->handle);
        gmt_put_unsigned(&row, since_ns);
        return gmt_ingest_step(&row);
    }
    row = gmt_ingest_bind(ingest, GMT_STATEMENT_GRAPH);
    gmt_put_unsigned(&row, graph->id);
    gmt_put_unsigned(&row, graph->handle);
    gmt_put_or_null(&row, graph->context);
    gmt_put_unsigned(&row, graph->node_count);
    gmt_put_unsigned(&row, since_ns);
    return gmt_ingest_step(&row);
}

/* Bytes, where the kind of node has any. */
static int64_t bytes_of(const struct gmt_graph_node *node)
{
    bool has = node->kind == GMT_NODE_COPY || node->kind == GMT_NODE_MEMSET ||
               node->kind == GMT_NODE_ALLOC;
    return has && node->bytes != 0 ? (int64_t)node->bytes : -1;
}

static void put_address(struct gmt_binder *row, uint64_t address, unsigned mem_class)
{
    gmt_put_or_null(row, mem_class == GMT_MEM_ARRAY ? 0 : address);
}

int gmt_ingest_graph_node(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_graph_node *node = record->data;
    bool copy = node->kind == GMT_NODE_COPY, kernel = node->kind == GMT_NODE_KERNEL;
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_GRAPH_NODE);
    gmt_put_unsigned(&row, node->graph);
    gmt_put_known(&row, node->is_update != 0 ? -1 : (int64_t)node->position);
    gmt_put_unsigned(&row, gmt_ingest_ns(ingest, node->since_ticks));
    gmt_put_unsigned(&row, node->node);
    gmt_put_name(&row, gmt_name_graph_node_kind(node->kind));
    gmt_put_known(&row, bytes_of(node));
    gmt_put_name(&row, copy ? gmt_name_direction(node->direction) : NULL);
    put_address(&row, node->dst, node->dst_class);
    put_address(&row, node->src, node->src_class);
    gmt_put_name(&row, copy || node->kind == GMT_NODE_MEMSET ? gmt_name_mem_class(node->dst_class)
                                                             : NULL);
    gmt_put_name(&row, copy ? gmt_name_mem_class(node->src_class) : NULL);
    gmt_put_or_null(&row, node->dst_alloc);
    gmt_put_or_null(&row, node->src_alloc);
    gmt_put_or_null(&row, node->kernel);
    for (int i = 0; i < 3; i++) {
        gmt_put_known(&row, kernel ? (int64_t)node->grid[i] : -1);
    }
    for (int i = 0; i < 3; i++) {
        gmt_put_known(&row, kernel ? (int64_t)node->block[i] : -1);
    }
    return gmt_ingest_step(&row);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs and their nodes -> rows of graph, graph_end, graph_node and graph_switch. */
#include "libtrace/store/db/database.h"
#include "libtrace/store/db/names.h"
#include "libtrace/store/ingest/ingest_internal.h"

int gmt_ingest_graph(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_graph *graph = record->data;
    uint64_t since_ns = gmt_ingest_ns(ingest, graph->since_ticks);
    struct gmt_binder row;
    if (graph->id == 0) {
        row = gmt_ingest_bind(ingest, GMT_STATEMENT_GRAPH_END);
        gmt_put_bits(&row, graph->handle);
        gmt_put_unsigned(&row, since_ns);
        return gmt_ingest_step(&row);
    }
    row = gmt_ingest_bind(ingest, GMT_STATEMENT_GRAPH);
    gmt_put_id(&row, graph->id);
    gmt_put_bits(&row, graph->handle);
    gmt_put_id_or_null(&row, graph->context);
    gmt_put_unsigned(&row, graph->node_count);
    gmt_put_unsigned(&row, since_ns);
    gmt_put_id(&row, graph->made != 0 ? graph->made : graph->id); /* 0: an older version's */
    return gmt_ingest_step(&row);
}

/* Bytes, where the kind of node has any; else 0. */
static uint64_t bytes_of(const struct gmt_graph_node *node)
{
    bool has = node->kind == GMT_NODE_COPY || node->kind == GMT_NODE_MEMSET ||
               node->kind == GMT_NODE_ALLOC;
    return has ? node->bytes : 0;
}

static void put_address(struct gmt_binder *row, uint64_t address, unsigned mem_class)
{
    gmt_put_bits_or_null(row, mem_class == GMT_MEM_ARRAY ? 0 : address);
}

static int put_switch(struct gmt_ingest *ingest, const struct gmt_graph_node *node)
{
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_GRAPH_SWITCH);
    gmt_put_id(&row, node->graph);
    gmt_put_unsigned(&row, gmt_ingest_ns(ingest, node->since_ticks));
    gmt_put_bits(&row, node->node);
    gmt_put_integer(&row, node->turned == GMT_NODE_TURNED_ON);
    return gmt_ingest_step(&row);
}

int gmt_ingest_graph_node(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_graph_node *node = record->data;
    if (node->turned != GMT_NODE_NOT_TURNED) {
        return put_switch(ingest, node);
    }
    bool copy = node->kind == GMT_NODE_COPY, kernel = node->kind == GMT_NODE_KERNEL;
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_GRAPH_NODE);
    gmt_put_id(&row, node->graph);
    gmt_put_known(&row, node->is_update != 0 ? -1 : (int64_t)node->position);
    gmt_put_unsigned(&row, gmt_ingest_ns(ingest, node->since_ticks));
    gmt_put_bits(&row, node->node);
    gmt_put_name(&row, gmt_name_graph_node_kind(node->kind));
    gmt_put_bytes_or_null(&row, bytes_of(node));
    gmt_put_name(&row, copy ? gmt_name_direction(node->direction) : NULL);
    put_address(&row, node->dst, node->dst_class);
    put_address(&row, node->src, node->src_class);
    gmt_put_name(&row, copy || node->kind == GMT_NODE_MEMSET ? gmt_name_mem_class(node->dst_class)
                                                             : NULL);
    gmt_put_name(&row, copy ? gmt_name_mem_class(node->src_class) : NULL);
    gmt_put_id_or_null(&row, node->dst_alloc);
    gmt_put_id_or_null(&row, node->src_alloc);
    gmt_put_id_or_null(&row, node->kernel);
    for (int i = 0; i < 3; i++) {
        gmt_put_known(&row, kernel ? (int64_t)node->grid[i] : -1);
    }
    for (int i = 0; i < 3; i++) {
        gmt_put_known(&row, kernel ? (int64_t)node->block[i] : -1);
    }
    return gmt_ingest_step(&row);
}

/*
 * Who changes a node names one of the graph that the handle was made executable with, also after an update
 * of the whole graph. The graphs of such updates get those names, node by node: they are of one form. A
 * name of theirs that is no name of the first one's is taken for what it stands for there.
 */
int gmt_ingest_settle_graphs(sqlite3 *db)
{
    static const char sql[] =
        "CREATE TEMP TABLE first(graph_id, position, kind, node, PRIMARY KEY(graph_id, position));"
        "INSERT OR IGNORE INTO first SELECT graph_id, position, kind, node FROM graph_node "
        "WHERE position IS NOT NULL AND graph_id IN (SELECT made_id FROM graph WHERE made_id <> "
        "id);"
        "CREATE INDEX temp.first_node ON first(graph_id, node);"
        "CREATE TEMP TABLE other(graph_id, node, made_id, name, PRIMARY KEY(graph_id, node));"
        "INSERT OR IGNORE INTO other SELECT g.id, n.node, g.made_id, f.node FROM graph g "
        "JOIN graph_node n ON n.graph_id = g.id AND n.position IS NOT NULL "
        "JOIN first f ON f.graph_id = g.made_id AND f.position = n.position AND f.kind = n.kind "
        "WHERE g.made_id <> g.id;"
        "UPDATE graph_node SET node = coalesce((SELECT o.name FROM other o WHERE o.graph_id = "
        "graph_node.graph_id AND o.node = graph_node.node AND (graph_node.position IS NOT NULL OR "
        "NOT EXISTS (SELECT 1 FROM first f WHERE f.graph_id = o.made_id AND f.node = o.node))), "
        "node) "
        "WHERE graph_id IN (SELECT id FROM graph WHERE made_id <> id);"
        "UPDATE graph_switch SET node = coalesce((SELECT o.name FROM other o WHERE o.graph_id = "
        "graph_switch.graph_id AND o.node = graph_switch.node AND NOT EXISTS (SELECT 1 FROM first "
        "f WHERE f.graph_id = o.made_id AND f.node = o.node)), node);"
        "UPDATE graph_switch SET graph_id = coalesce((SELECT g.made_id FROM graph g WHERE g.id = "
        "graph_switch.graph_id), graph_id);"
        "DROP TABLE first; DROP TABLE other;"
        /* Kernels of a shape that no launch has, neither by itself nor captured: their nodes were made one by
         * one. A node's handle of a kernel is another than that of a launch: names are compared. */
        "CREATE TEMP TABLE shape(mangled, grid_x, grid_y, grid_z, block_x, block_y, block_z, "
        "PRIMARY KEY(mangled, grid_x, grid_y, grid_z, block_x, block_y, block_z));"
        "INSERT OR IGNORE INTO shape SELECT k.mangled, c.grid_x, c.grid_y, c.grid_z, c.block_x, "
        "c.block_y, c.block_z FROM kernel_class c JOIN kernel k ON k.id = c.kernel_id;"
        "INSERT INTO kernel_class(kernel_id, grid_x, grid_y, grid_z, block_x, block_y, block_z) "
        "SELECT min(n.kernel_id), n.grid_x, n.grid_y, n.grid_z, n.block_x, n.block_y, n.block_z "
        "FROM graph_node n JOIN kernel k ON k.id = n.kernel_id WHERE n.kind = 'kernel' AND "
        "n.grid_x IS NOT NULL AND NOT EXISTS (SELECT 1 FROM shape s WHERE s.mangled = k.mangled "
        "AND s.grid_x = n.grid_x AND s.grid_y = n.grid_y AND s.grid_z = n.grid_z AND "
        "s.block_x = n.block_x AND s.block_y = n.block_y AND s.block_z = n.block_z) "
        "GROUP BY k.mangled, n.grid_x, n.grid_y, n.grid_z, n.block_x, n.block_y, n.block_z;"
        "DROP TABLE shape;";
    return gmt_database_exec(db, sql);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Operations of graphs to kernel classes (graph_kernels.h). */
#include "analyzer/trace/graph_kernels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/trace/query.h"
#include "libtrace/record/checked.h"
#include "libtrace/store/db/guard.h"
#include "libtrace/store/db/own_schema.h"

enum { KEY_SIZES = 6 };

/* What an operation says of its kernel: string.id of the mangled name, grid and block. */
struct kernel_key {
    int64_t name, size[KEY_SIZES];
};

/* The class of a key; -1: ambiguous. */
struct candidate {
    struct kernel_key key;
    int32_t class_index;
};

struct candidates {
    struct candidate *rows; /* by key, each once */
    size_t n;
};

static int compare_keys(const void *a, const void *b)
{
    const struct kernel_key *x = a, *y = b;
    int order = (x->name > y->name) - (x->name < y->name);

    for (size_t i = 0; order == 0 && i < KEY_SIZES; i++) {
        order = (x->size[i] > y->size[i]) - (x->size[i] < y->size[i]);
    }
    return order;
}

static struct kernel_key read_key(struct gmt_query *query, int column)
{
    struct kernel_key key = {.name = gmt_query_int(query, column)};

    for (int i = 0; i < KEY_SIZES; i++) {
        key.size[i] = gmt_query_int(query, column + 1 + i);
    }
    return key;
}

/* How well a class is known to be the one: by a node of a graph, by a capture, by launches, or as the only one. The first two
 * know the kernel, and not only its name: XLA's modules have kernels of the same names and grids. */
static int rank_of(const struct gmt_tl_class *class)
{
    return class->is_of_node ? 3 : class->captured.call.id != 0 ? 2 : class->alone > 0;
}

/* Classes of one kernel that is loaded twice differ in nothing that a report shows. */
static bool is_same(const struct gmt_tl_class *a, const struct gmt_tl_class *b)
{
    return a->dynamic_shared_bytes == b->dynamic_shared_bytes &&
           memcmp(a->cluster, b->cluster, sizeof(a->cluster)) == 0;
}

/* The class of one key among those from `first` to before `end`; -1: ambiguous. */
static int32_t only_one(const struct gmt_timeline *tl, const struct candidate *first,
                        const struct candidate *end)
{
    int32_t best = first->class_index;
    bool certain = true;

    for (const struct candidate *at = first + 1; at < end; at++) {
        const struct gmt_tl_class *class = &tl->classes[at->class_index];
        int more = rank_of(class) - rank_of(&tl->classes[best]);

        if (more == 0 && !is_same(class, &tl->classes[best])) {
            certain = false;
        }
        if (more > 0) {
            certain = true;
        }
        if (more > 0 || (more == 0 && class->id < tl->classes[best].id)) {
            best = at->class_index;
        }
    }
    return certain ? best : -1;
}

static void settle_candidates(const struct gmt_timeline *tl, struct candidates *candidates)
{
    struct candidate *rows = candidates->rows;
    size_t kept = 0;

    if (candidates->n > 1) {
        qsort(rows, candidates->n, sizeof(*rows), compare_keys);
    }
    for (size_t i = 0, end; i < candidates->n; i = end) {
        for (end = i + 1; end < candidates->n && compare_keys(&rows[i], &rows[end]) == 0; end++) {
        }
        rows[kept] = (struct candidate){rows[i].key, only_one(tl, &rows[i], &rows[end])};
        kept++;
    }
    candidates->n = kept;
}

/* Names are those of the trace itself, whatever a report may show of them. */
static int load_candidates(const struct gmt_timeline *tl, struct candidates *candidates)
{
    struct gmt_query query;

    candidates->rows = calloc(tl->class_count + 1, sizeof(*candidates->rows));
    if (candidates->rows == NULL) {
        return -ENOMEM;
    }
    int rc = gmt_query_open(
        &query, tl->db,
        "SELECT c.id, s.id, c.grid_x, c.grid_y, c.grid_z, c.block_x, c.block_y, "
        "c.block_z FROM kernel_class c JOIN main.kernel k ON k.id = c.kernel_id "
        "JOIN main.string s ON s.text = k.mangled");
    while (rc == 0 && candidates->n < tl->class_count && gmt_query_next(&query)) {
        int32_t class = gmt_timeline_class(tl, gmt_query_int(&query, 0));

        if (class >= 0) {
            candidates->rows[candidates->n++] = (struct candidate){read_key(&query, 1), class};
        }
    }
    rc = gmt_query_close(&query, rc);
    if (rc == 0) {
        settle_candidates(tl, candidates);
    }
    return rc;
}

/* The first launch of each class that went into a graph, also where only a range of the run is looked at. */
static int load_captured(struct gmt_timeline *tl)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, tl->db,
                            "SELECT class_id, min(id), begin_ns, end_ns, caller, stack_id, api_id, "
                            "thread_id, stream_id, argument_set_id, arguments = 'complete' "
                            "FROM main.launch WHERE capturing = 1 AND result = 0 "
                            "AND class_id IS NOT NULL GROUP BY class_id");

    while (rc == 0 && gmt_query_next(&query)) {
        int32_t class = gmt_timeline_class(tl, gmt_query_int(&query, 0));

        if (class < 0) {
            continue;
        }
        struct gmt_tl_launch *captured = &tl->classes[class].captured;
        struct gmt_tl_call *call = &captured->call;
        captured->class_index = class;
        captured->device_start_ns = captured->device_end_ns = GMT_NO_TIME;
        call->id = gmt_query_id(&query, 1);
        call->begin_ns = gmt_query_instant(&query, 2);
        call->end_ns = gmt_query_instant(&query, 3);
        call->caller = (uint64_t)gmt_query_int(&query, 4);
        call->stack_id = gmt_query_id(&query, 5);
        call->api = gmt_query_id(&query, 6);
        call->thread = gmt_query_id(&query, 7);
        call->stream = gmt_query_id(&query, 8);
        call->site = gmt_timeline_site(tl, call->stack_id, call->caller);
        if (!gmt_index_within(call->api, tl->api_count)) {
            call->api = 0;
        }
        captured->argument_set = gmt_query_id(&query, 9);
        captured->arguments_complete = gmt_query_int(&query, 10) != 0;
    }
    return gmt_query_close(&query, rc);
}

static int load_of_nodes(struct gmt_timeline *tl)
{
    struct gmt_query query;

    if (!gmt_trace_has_column(tl->db, "graph_node", "kernel_id")) {
        return 0;
    }
    int rc = gmt_query_open(&query, tl->db,
                            "SELECT DISTINCT c.id FROM main.graph_node n JOIN kernel_class c ON "
                            "c.kernel_id = n.kernel_id AND c.grid_x = n.grid_x AND "
                            "c.grid_y = n.grid_y AND c.grid_z = n.grid_z AND c.block_x = n.block_x "
                            "AND c.block_y = n.block_y AND c.block_z = n.block_z");

    while (rc == 0 && gmt_query_next(&query)) {
        int32_t class = gmt_timeline_class(tl, gmt_query_int(&query, 0));

        if (class >= 0) {
            tl->classes[class].is_of_node = true;
        }
    }
    return gmt_query_close(&query, rc);
}

/* Launches for operations of graphs that were measured, and so have no record of the device. */
static int load_steps(struct gmt_timeline *tl)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, tl->db,
                            "SELECT class_id, count(*) FROM launch WHERE capturing = 3 AND "
                            "result = 0 AND measured IS NOT NULL AND device_end_ns IS NULL AND "
                            "class_id IS NOT NULL GROUP BY class_id");

    while (rc == 0 && gmt_query_next(&query)) {
        int32_t class = gmt_timeline_class(tl, gmt_query_int(&query, 0));
        int64_t count = gmt_query_int(&query, 1);

        if (class >= 0 && count > 0) {
            tl->classes[class].steps = count;
        }
    }
    return gmt_query_close(&query, rc);
}

/* -1: no class has this key, or several have. */
static int32_t find_class(const struct candidates *candidates, const struct kernel_key *key)
{
    const struct candidate *found = bsearch(key, candidates->rows, candidates->n,
                                            sizeof(*candidates->rows), compare_keys);

    return found != NULL ? found->class_index : -1;
}

/* Kernels of operations that gmtrace launched one by one (GMT_CAPTURING_STEP) have no graph in their records. Their launches
 * are written before that of their graph, by the same thread. */
#define GMT_STEPS \
    "WITH step AS (SELECT id, capturing, min(CASE kind WHEN 'graph' THEN id END) OVER " \
    "(PARTITION BY thread_id ORDER BY id DESC) AS graph_launch FROM main.launch " \
    "WHERE capturing = 3 OR kind = 'graph') "
#define GMT_NODES_FROM \
    "FROM device_op o LEFT JOIN step s ON s.id = o.call_id AND s.capturing = 3 " \
    "WHERE (o.graph IS NOT NULL OR s.id IS NOT NULL) AND o.kind = 'kernel' AND " \
    "o.call_id IS NOT NULL AND o.start_ns IS NOT NULL AND o.end_ns > o.start_ns"

/* Not where nothing on the device was part of a graph, and the timeline has all launches: none of them is a step. */
static int can_have_nodes(const struct gmt_timeline *tl, bool *possible)
{
    int64_t launches = 0;
    int rc = gmt_query_int64(tl->db, "SELECT count(*) FROM main.launch", &launches);

    *possible = tl->has_graph_ops || (size_t)launches != tl->launch_count;
    return rc;
}

static int load_nodes(struct gmt_timeline *tl, const struct candidates *candidates, int64_t rows)
{
    struct gmt_query query;

    tl->nodes = calloc((size_t)rows + 1, sizeof(*tl->nodes));
    if (tl->nodes == NULL) {
        return -ENOMEM;
    }
    int rc = gmt_query_open(&query, tl->db,
                            GMT_STEPS
                            "SELECT start_ns, end_ns, coalesce(s.graph_launch, call_id), "
                            "kernel_name_id, grid_x, grid_y, grid_z, block_x, block_y, block_z, "
                            "graph " GMT_NODES_FROM);
    while (rc == 0 && rows > 0 && gmt_query_next(&query)) {
        struct gmt_tl_node node = {.device_start_ns = gmt_query_time(&query, 0),
                                   .device_end_ns = gmt_query_time(&query, 1),
                                   .launch_id = gmt_query_id(&query, 2)};
        struct kernel_key key = read_key(&query, 3);

        rows--;
        (void)gmt_query_int(&query, 10); /* a value of another type is refused */
        node.class_index = find_class(candidates, &key);
        if (node.class_index < 0) {
            tl->unknown_nodes++;
            tl->unknown_nodes_ns += (double)(node.device_end_ns - node.device_start_ns);
        } else {
            tl->classes[node.class_index].in_graphs++;
            tl->nodes[tl->node_count++] = node;
        }
    }
    return gmt_query_close(&query, rc);
}

static int compare_nodes(const void *a, const void *b)
{
    const struct gmt_tl_node *x = a, *y = b;
    int order = (x->class_index > y->class_index) - (x->class_index < y->class_index);

    return order != 0 ? order
                      : (x->device_start_ns > y->device_start_ns) -
                            (x->device_start_ns < y->device_start_ns);
}

/* A sweep over starts: what starts before the latest end so far runs beside the one that ends then. */
static int mark_beside(struct gmt_timeline *tl)
{
    int64_t(*order)[2] = calloc(tl->node_count + 1, sizeof(*order)), until = INT64_MIN;
    bool *beside = calloc(tl->node_count + 1, sizeof(*beside));
    size_t owner = 0;

    for (size_t i = 0; order != NULL && i < tl->node_count; i++) {
        order[i][0] = tl->nodes[i].device_start_ns;
        order[i][1] = (int64_t)i;
    }
    if (order != NULL) {
        gmt_sort_pairs(order, tl->node_count);
    }
    for (size_t i = 0; order != NULL && beside != NULL && i < tl->node_count; i++) {
        size_t index = (size_t)order[i][1];

        if (tl->nodes[index].device_start_ns < until) {
            beside[index] = beside[owner] = true;
        }
        if (tl->nodes[index].device_end_ns > until) {
            until = tl->nodes[index].device_end_ns;
            owner = index;
        }
    }
    for (size_t i = 0; beside != NULL && i < tl->node_count; i++) {
        tl->classes[tl->nodes[i].class_index].beside += beside[i];
    }
    int rc = order != NULL && beside != NULL ? 0 : -ENOMEM;
    free(order);
    free(beside);
    return rc;
}

int gmt_graph_kernels_load(struct gmt_timeline *tl)
{
    struct candidates candidates = {0};
    bool possible = false;
    int64_t rows = 0;

    if (!gmt_trace_has_column(tl->db, "device_op", "kernel_name_id")) {
        return 0;
    }
    int rc = can_have_nodes(tl, &possible);
    if (rc == 0 && possible) {
        rc = gmt_query_int64(tl->db, GMT_STEPS "SELECT count(*) " GMT_NODES_FROM, &rows);
    }
    if (rc != 0 || rows == 0) {
        return rc;
    }
    if (rows < 0 || !gmt_guard_plausible_rows(tl->db, rows)) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < tl->launch_count; i++) {
        if (tl->launches[i].class_index >= 0) {
            tl->classes[tl->launches[i].class_index].alone++;
        }
    }
    rc = load_captured(tl);
    if (rc == 0) {
        rc = load_of_nodes(tl);
    }
    if (rc == 0) {
        rc = load_steps(tl);
    }
    if (rc == 0) {
        rc = load_candidates(tl, &candidates);
    }
    if (rc == 0) {
        rc = load_nodes(tl, &candidates, rows);
    }
    free(candidates.rows);
    if (tl->node_count > 1) {
        qsort(tl->nodes, tl->node_count, sizeof(*tl->nodes), compare_nodes);
    }
    if (rc == 0) {
        rc = mark_beside(tl);
    }
    for (size_t i = 0, at = 0; rc == 0 && i < tl->class_count; i++) {
        if (tl->classes[i].in_graphs > 0) {
            tl->classes[i].nodes = &tl->nodes[at];
        }
        at += (size_t)tl->classes[i].in_graphs;
    }
    return rc;
}

bool gmt_class_is_of_graphs(const struct gmt_tl_class *class)
{
    return class->captured.call.id != 0 && class->in_graphs > class->alone;
}

const struct gmt_tl_launch *gmt_class_launch(const struct gmt_timeline *tl,
                                             const struct gmt_tl_class *class)
{
    static const struct gmt_tl_launch none = {.class_index = -1};

    if (gmt_class_is_of_graphs(class)) {
        return &class->captured;
    }
    return class->alone > 0 ? &tl->launches[class->first_launch] : &none;
}

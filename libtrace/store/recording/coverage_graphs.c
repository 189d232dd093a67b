/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of graphs, expanded, against CUPTI's records of what they ran. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/recording/coverage_internal.h"

enum { KERNELS, COPIES, MEMSETS, KINDS };
#define EXAMPLES 3u

/* What a launch of a graph runs. A node that moves nothing, or only within the host's memory, need not
 * leave a record. */
struct graph {
    int64_t id;
    int64_t least[KINDS], most[KINDS];
};

struct check {
    sqlite3 *db;
    struct graph *graphs; /* by id */
    size_t count;
    struct gmt_coverage_row launches, row[KINDS];
    unsigned examples[KINDS + 1];
};

/* KINDS for another, and for none: what is gone on with may be a trace of somebody else's making. */
static int kind_of(const char *name)
{
    static const char *const names[KINDS] = {"kernel", "copy", "memset"};
    int kind = name != NULL ? 0 : KINDS;
    while (kind < KINDS && strcmp(name, names[kind]) != 0) {
        kind++;
    }
    return kind;
}

static int add_node(struct check *check, int64_t graph, int kind, bool is_certain)
{
    struct graph *last = check->count > 0 ? &check->graphs[check->count - 1] : NULL;
    if (last == NULL || last->id != graph) {
        struct graph *grown = realloc(check->graphs, (check->count + 1) * sizeof(*grown));
        if (grown == NULL) {
            return -ENOMEM;
        }
        check->graphs = grown;
        last = &grown[check->count++];
        *last = (struct graph){.id = graph};
    }
    if (kind < KINDS) {
        last->least[kind] += is_certain;
        last->most[kind]++;
    }
    return 0;
}

/* The nodes that graphs were made executable with; their kinds stay, whatever is set anew. One that is ever
 * switched off need not run. */
static int load_graphs(struct check *check)
{
    static const char sql[] =
        "SELECT n.graph_id, n.kind, (n.kind = 'kernel' OR (coalesce(n.bytes, 1) > 0 "
        "AND coalesce(n.direction, '') <> 'h2h')) AND NOT EXISTS (SELECT 1 FROM graph_switch s "
        "WHERE s.graph_id = g.made_id AND s.node = n.node AND s.enabled = 0) "
        "FROM graph_node n LEFT JOIN graph g ON g.id = n.graph_id "
        "WHERE n.position IS NOT NULL ORDER BY n.graph_id";
    sqlite3_stmt *nodes;
    int error = 0, code = SQLITE_DONE;
    if (sqlite3_prepare_v2(check->db, sql, -1, &nodes, NULL) != SQLITE_OK) {
        return gmt_database_error(check->db);
    }
    while (error == 0 && (code = sqlite3_step(nodes)) == SQLITE_ROW) {
        int kind = kind_of((const char *)sqlite3_column_text(nodes, 1));
        bool is_certain = sqlite3_column_int(nodes, 2) != 0;
        error = add_node(check, sqlite3_column_int64(nodes, 0), kind, is_certain);
    }
    sqlite3_finalize(nodes);
    return error != 0 || code == SQLITE_DONE ? error : gmt_database_error(check->db);
}

static int compare_graphs(const void *a, const void *b)
{
    const struct graph *left = a, *right = b;
    return (left->id > right->id) - (left->id < right->id);
}

static const struct graph *find_graph(const struct check *check, int64_t id)
{
    struct graph key = {.id = id};
    return check->count > 0
               ? bsearch(&key, check->graphs, check->count, sizeof(key), compare_graphs)
               : NULL;
}

static int add_example(struct check *check, unsigned *examples, const char *what, int64_t launch,
                       const char *detail)
{
    return (*examples)++ < EXAMPLES
               ? gmt_coverage_put_example(check->db, what, "call", launch, detail)
               : 0;
}

/* The records of one launch against the nodes of its graph. */
static int compare_launch(struct check *check, int64_t launch, const struct graph *graph,
                          const int64_t seen[KINDS])
{
    int error = 0;
    for (int kind = 0; kind < KINDS && error == 0; kind++) {
        struct gmt_coverage_row *row = &check->row[kind];
        int64_t least = graph->least[kind], most = graph->most[kind];
        int64_t expected = seen[kind] < least ? least : seen[kind] > most ? most : seen[kind];
        row->expected += expected;
        row->seen += seen[kind] < expected ? seen[kind] : expected;
        row->extra += seen[kind] > expected ? seen[kind] - expected : 0;
        if (seen[kind] != expected) {
            char detail[96];
            (void)snprintf(detail, sizeof(detail), "graph %lld: %lld in it, %lld recorded",
                           (long long)graph->id, (long long)expected, (long long)seen[kind]);
            error = add_example(check, &check->examples[kind], row->what, launch, detail);
        }
    }
    return error;
}

/* Count the rows of `records` (call_id, kind; ordered) that belong to a launch. */
static int count_records(struct check *check, sqlite3_stmt *records, int *code, int64_t launch,
                         int64_t seen[KINDS])
{
    while (*code == SQLITE_ROW && sqlite3_column_int64(records, 0) <= launch) {
        int kind = kind_of((const char *)sqlite3_column_text(records, 1));
        if (sqlite3_column_int64(records, 0) == launch && kind < KINDS) {
            seen[kind]++;
        }
        *code = sqlite3_step(records);
    }
    return *code == SQLITE_ROW || *code == SQLITE_DONE ? 0 : gmt_database_error(check->db);
}

/* A launch: id, its graph, whether it has device times. One of an unknown graph must have some, too. */
static int check_launch(struct check *check, sqlite3_stmt *launches, sqlite3_stmt *records,
                        int *code)
{
    int64_t seen[KINDS] = {0}, launch = sqlite3_column_int64(launches, 0);
    const struct graph *graph = find_graph(check, sqlite3_column_int64(launches, 1));
    bool joined = sqlite3_column_int(launches, 2) != 0;
    bool is_empty = graph != NULL && graph->least[KERNELS] == 0 && graph->least[COPIES] == 0 &&
                    graph->least[MEMSETS] == 0;
    int error = count_records(check, records, code, launch, seen);
    if (error != 0) {
        return error;
    }
    check->launches.expected += joined || !is_empty;
    check->launches.seen += joined;
    if (joined) {
        return graph != NULL ? compare_launch(check, launch, graph, seen) : 0;
    }
    return is_empty ? 0
                    : add_example(check, &check->examples[KINDS], check->launches.what, launch,
                                  "no record of what it ran");
}

static int check_launches(struct check *check)
{
    static const char launch_sql[] =
        "SELECT l.id, (SELECT g.id FROM graph g WHERE g.handle = l.graph AND g.begin_ns <= "
        "l.begin_ns AND (g.end_ns IS NULL OR l.begin_ns < g.end_ns) ORDER BY g.begin_ns DESC LIMIT "
        "1), l.device_end_ns IS NOT NULL FROM launch l "
        "WHERE l.kind = 'graph' AND l.result = 0 AND l.capturing = 0 AND l.no_activity = 0 "
        "ORDER BY l.id";
    static const char record_sql[] = "SELECT call_id, kind FROM device_op WHERE graph IS NOT NULL "
                                     "AND call_id IS NOT NULL ORDER BY call_id";
    sqlite3_stmt *launches = NULL, *records = NULL;
    int error = 0, code = SQLITE_DONE;
    if (sqlite3_prepare_v2(check->db, launch_sql, -1, &launches, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(check->db, record_sql, -1, &records, NULL) != SQLITE_OK) {
        error = gmt_database_error(check->db);
    }
    int record_code = error == 0 ? sqlite3_step(records) : SQLITE_DONE;
    while (error == 0 && (code = sqlite3_step(launches)) == SQLITE_ROW) {
        error = check_launch(check, launches, records, &record_code);
    }
    sqlite3_finalize(launches);
    sqlite3_finalize(records);
    return error != 0 || code == SQLITE_DONE ? error : gmt_database_error(check->db);
}

/* Launches that no call explains: their records share a correlation. */
static int count_extra(struct check *check)
{
    return gmt_database_integer(check->db,
                                "SELECT count(*) FROM (SELECT DISTINCT cupti_context, correlation "
                                "FROM device_op WHERE graph IS NOT NULL AND call_id IS NULL)",
                                0, &check->launches.extra);
}

int gmt_coverage_graphs(sqlite3 *db)
{
    struct check check = {
        .db = db,
        .launches = {.what = "graph launches"},
        .row = {{.what = "kernels in graphs"},
                {.what = "copies in graphs"},
                {.what = "memsets in graphs"}},
    };
    int error = load_graphs(&check);
    if (error == 0 && (error = check_launches(&check)) == 0) {
        error = count_extra(&check);
    }
    if (error == 0 && check.launches.expected + check.launches.extra > 0) {
        error = gmt_coverage_row(db, &check.launches);
    }
    for (int kind = 0; kind < KINDS && error == 0; kind++) {
        if (check.row[kind].expected + check.row[kind].extra > 0) {
            error = gmt_coverage_row(db, &check.row[kind]);
        }
    }
    free(check.graphs);
    return error;
}

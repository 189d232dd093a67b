/* SPDX-License-Identifier: Apache-2.0 */
/* Brings host calls and device operations into groups, has them matched, stores what was found. */
#include "libtrace/store/ingest/join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/ingest/join_internal.h"

static int compare(int64_t left, int64_t right)
{
    return (left > right) - (left < right);
}

static int compare_hosts(const void *a, const void *b)
{
    const struct gmt_join_host *left = a, *right = b;
    int order = compare(left->group, right->group);
    if (order == 0) {
        order = compare((int64_t)left->begin_ns, (int64_t)right->begin_ns);
    }
    return order != 0 ? order : compare(left->id, right->id);
}

static int compare_ops(const void *a, const void *b)
{
    const struct gmt_join_op *left = a, *right = b;
    int order = compare(left->group, right->group);
    if (order == 0) {
        order = compare(left->correlation, right->correlation);
    }
    if (order == 0) {
        order = compare((int64_t)left->start_ns, (int64_t)right->start_ns);
    }
    return order != 0 ? order : compare(left->id, right->id);
}

static int compare_barriers(const void *a, const void *b)
{
    const struct gmt_join_barrier *left = a, *right = b;
    return compare((int64_t)left->begin_ns, (int64_t)right->begin_ns);
}

static void sort(struct gmt_join_array *array, size_t element_bytes,
                 int (*order)(const void *, const void *))
{
    if (array->count > 1) {
        qsort(array->items, array->count, element_bytes, order);
    }
}

/* By when the device work of each host call of one group was done, as far as a later synchronization
 * says: walk back in time with the earliest end of those that come after. With several threads a
 * synchronization can overlap a call; then it says nothing of it. */
static void bound_group(const struct gmt_join *join, struct gmt_join_host *hosts, size_t count)
{
    const struct gmt_join_barrier *barriers = join->barriers.items;
    struct gmt_join_barrier bound = {.begin_ns = UINT64_MAX, .end_ns = UINT64_MAX};
    size_t at = join->barriers.count;
    for (size_t i = count; i-- > 0;) {
        struct gmt_join_host *host = &hosts[i];
        while (at > 0 && barriers[at - 1].begin_ns >= host->end_ns) {
            const struct gmt_join_barrier *barrier = &barriers[--at];
            bool applies = barrier->context == host->context &&
                           (barrier->stream == 0 || barrier->stream == host->stream);
            if (applies && barrier->end_ns < bound.end_ns) {
                bound = *barrier;
            }
        }
        host->latest_ns = bound.begin_ns >= host->end_ns ? bound.end_ns : UINT64_MAX;
        /* A blocking read-back also waits for what was put into its stream before it. */
        if (host->drains && host->group > 0 && host->end_ns < bound.end_ns) {
            bound = (struct gmt_join_barrier){.begin_ns = host->begin_ns, .end_ns = host->end_ns};
            host->latest_ns = host->end_ns;
        }
    }
}

/* Match group by group; both arrays are sorted. */
static int match_groups(struct gmt_join *join, struct gmt_join_host *hosts, size_t host_count,
                        struct gmt_join_op *ops, size_t op_count)
{
    int error = 0;
    for (size_t h = 0, o = 0; error == 0 && h < host_count;) {
        int64_t group = hosts[h].group;
        size_t host_end = h, op_end;
        while (host_end < host_count && hosts[host_end].group == group) {
            host_end++;
        }
        while (o < op_count && ops[o].group < group) {
            o++;
        }
        for (op_end = o; op_end < op_count && ops[op_end].group == group;) {
            op_end++;
        }
        bound_group(join, &hosts[h], host_end - h);
        error = gmt_join_match(&hosts[h], host_end - h, &ops[o], op_end - o);
        h = host_end;
        o = op_end;
    }
    return error;
}

/* Graph launches that found nothing in their own stream: their operations may all run in streams of
 * the driver's. Match them per device. */
static int match_graphs(struct gmt_join *join)
{
    struct gmt_join_host *hosts = join->hosts.items;
    struct gmt_join_op *ops = join->ops.items;
    size_t host_count = 0, op_count = 0;
    for (size_t i = 0; i < join->hosts.count; i++) {
        if (hosts[i].kind == GMT_JOIN_GRAPH && !hosts[i].taken) {
            struct gmt_join_host host = hosts[i];
            host.group = -1 - gmt_join_device(join, host.context);
            hosts[i] = hosts[host_count];
            hosts[host_count++] = host;
        }
    }
    for (size_t i = 0; i < join->ops.count; i++) {
        if (ops[i].kind == GMT_JOIN_GRAPH && ops[i].call == 0) {
            struct gmt_join_op op = ops[i];
            op.group = -1 - op.device;
            ops[i] = ops[op_count];
            ops[op_count++] = op;
        }
    }
    if (host_count == 0 || op_count == 0) {
        return 0;
    }
    qsort(hosts, host_count, sizeof(*hosts), compare_hosts);
    qsort(ops, op_count, sizeof(*ops), compare_ops);
    return match_groups(join, hosts, host_count, ops, op_count);
}

static int compare_host_ids(const void *a, const void *b)
{
    return compare(((const struct gmt_join_host *)a)->id, ((const struct gmt_join_host *)b)->id);
}

static int compare_op_ids(const void *a, const void *b)
{
    return compare(((const struct gmt_join_op *)a)->id, ((const struct gmt_join_op *)b)->id);
}

static int step(sqlite3 *db, sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? 0 : gmt_database_error(db);
}

static int store_hosts(struct gmt_join *join)
{
    static const char *const sql[] = {
        [GMT_JOIN_KERNEL] = "UPDATE launch SET device_start_ns=?, device_end_ns=? WHERE id=?",
        [GMT_JOIN_COPY] = "UPDATE transfer SET device_start_ns=?, device_end_ns=? WHERE id=?",
        [GMT_JOIN_MEMSET] = "UPDATE memset SET device_start_ns=?, device_end_ns=? WHERE id=?",
        [GMT_JOIN_GRAPH] = "UPDATE launch SET device_start_ns=?, device_end_ns=? WHERE id=?",
    };
    sqlite3_stmt *update[4] = {NULL};
    struct gmt_join_host *hosts = join->hosts.items;
    int error = 0;
    for (size_t i = 0; i < 4 && error == 0; i++) {
        if (sqlite3_prepare_v2(join->db, sql[i], -1, &update[i], NULL) != SQLITE_OK) {
            error = gmt_database_error(join->db);
        }
    }
    sort(&join->hosts, sizeof(*hosts), compare_host_ids);
    for (size_t i = 0; i < join->hosts.count && error == 0; i++) {
        if (hosts[i].taken && hosts[i].stop_ns != 0) {
            sqlite3_stmt *statement = update[hosts[i].kind];
            sqlite3_bind_int64(statement, 1, (sqlite3_int64)hosts[i].start_ns);
            sqlite3_bind_int64(statement, 2, (sqlite3_int64)hosts[i].stop_ns);
            sqlite3_bind_int64(statement, 3, hosts[i].id);
            error = step(join->db, statement);
        }
    }
    for (size_t i = 0; i < 4; i++) {
        sqlite3_finalize(update[i]);
    }
    return error;
}

static int store_ops(struct gmt_join *join)
{
    sqlite3_stmt *update;
    struct gmt_join_op *ops = join->ops.items, *members = join->members.items;
    int error = 0;
    if (sqlite3_prepare_v2(join->db, "UPDATE device_op SET call_id=? WHERE id=?", -1, &update,
                           NULL) != SQLITE_OK) {
        return gmt_database_error(join->db);
    }
    sort(&join->ops, sizeof(*ops), compare_op_ids);
    for (size_t i = 0; i < join->ops.count && error == 0; i++) {
        size_t count = ops[i].count > 0 ? ops[i].count : 1;
        for (size_t k = 0; k < count && error == 0 && ops[i].call != 0; k++) {
            sqlite3_bind_int64(update, 1, ops[i].call);
            sqlite3_bind_int64(update, 2,
                               ops[i].count > 0 ? members[ops[i].first + k].id : ops[i].id);
            error = step(join->db, update);
        }
    }
    sqlite3_finalize(update);
    return error;
}

static int store_losses(struct gmt_join *join)
{
    static const char *const names[] = {"kernel", "copy", "memset", "graph"};
    const struct gmt_join_host *hosts = join->hosts.items;
    const struct gmt_join_op *ops = join->ops.items;
    uint64_t lone_hosts[4] = {0}, lone_ops[4] = {0};
    char sql[192];
    int error = 0;
    for (size_t i = 0; i < join->hosts.count; i++) {
        bool has_times = hosts[i].taken && hosts[i].stop_ns != 0;
        lone_hosts[hosts[i].kind] += !has_times && (hosts[i].taken || !hosts[i].optional);
    }
    for (size_t i = 0; i < join->ops.count; i++) {
        lone_ops[ops[i].kind] += ops[i].call == 0;
    }
    for (size_t i = 0; i < 8 && error == 0; i++) {
        uint64_t count = i < 4 ? lone_hosts[i] : lone_ops[i - 4];
        if (count > 0) {
            (void)snprintf(sql, sizeof(sql), "INSERT INTO loss VALUES('%s','%s',%llu)",
                           i < 4 ? "host call without device row" : "device row not joined",
                           names[i % 4], (unsigned long long)count);
            error = gmt_database_exec(join->db, sql);
        }
    }
    return error;
}

/* A record whose times cannot be has none from then on, so that no other reader believes them, and is counted once. */
static int store_false_times(struct gmt_join *join)
{
    static const char clear[] = "UPDATE device_op SET start_ns=NULL, end_ns=NULL WHERE id=?1";
    static const char count_one[] =
        "INSERT OR REPLACE INTO loss SELECT 'impossible device time', o.kind, "
        "1 + coalesce((SELECT count FROM loss WHERE kind = 'impossible device time' "
        "AND detail = o.kind), 0) FROM device_op o WHERE o.id=?1";
    const struct gmt_join_op *ops = join->ops.items;
    sqlite3_stmt *update = NULL, *count = NULL;
    int error = 0;
    if (sqlite3_prepare_v2(join->db, clear, -1, &update, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(join->db, count_one, -1, &count, NULL) != SQLITE_OK) {
        error = gmt_database_error(join->db);
    }
    for (size_t i = 0; i < join->ops.count && error == 0; i++) {
        if (ops[i].is_false) {
            sqlite3_bind_int64(count, 1, ops[i].id);
            sqlite3_bind_int64(update, 1, ops[i].id);
            error = step(join->db, count);
            error = error == 0 ? step(join->db, update) : error;
        }
    }
    sqlite3_finalize(update);
    sqlite3_finalize(count);
    return error;
}

int gmt_join_run(sqlite3 *db)
{
    static const char reset[] =
        "UPDATE device_op SET call_id=NULL WHERE call_id IS NOT NULL;"
        "UPDATE transfer SET device_start_ns=NULL, device_end_ns=NULL WHERE device_end_ns NOTNULL;"
        "UPDATE memset SET device_start_ns=NULL, device_end_ns=NULL WHERE device_end_ns NOTNULL;"
        "UPDATE launch SET device_start_ns=NULL, device_end_ns=NULL WHERE device_end_ns NOTNULL;"
        "DELETE FROM loss WHERE kind IN ('host call without device row','device row not joined');";
    struct gmt_join join = {.db = db};
    int64_t timestamps, ops;
    int error = gmt_database_exec(db, reset);
    if (error != 0 ||
        (error = gmt_database_integer(
             db, "SELECT 1 FROM capability WHERE name='timestamps' AND state='ok'", 0,
             &timestamps)) != 0 ||
        (error = gmt_database_integer(db, "SELECT count(*) FROM device_op", 0, &ops)) != 0 ||
        (ops == 0 && timestamps == 0)) {
        return error;
    }
    error = gmt_join_load(&join);
    if (error == 0) {
        error = gmt_join_find_false_times(&join);
    }
    if (error == 0) {
        sort(&join.hosts, sizeof(struct gmt_join_host), compare_hosts);
        sort(&join.ops, sizeof(struct gmt_join_op), compare_ops);
        sort(&join.barriers, sizeof(struct gmt_join_barrier), compare_barriers);
        error = match_groups(&join, join.hosts.items, join.hosts.count, join.ops.items,
                             join.ops.count);
    }
    if (error == 0) {
        error = match_graphs(&join);
    }
    if (error == 0 && timestamps != 0) {
        error = store_losses(&join);
    }
    if (error == 0 && (error = store_hosts(&join)) == 0 && (error = store_ops(&join)) == 0) {
        error = store_false_times(&join);
    }
    gmt_join_free(&join);
    return error;
}

int gmt_join_forget_outside(sqlite3 *db)
{
    return gmt_database_exec(db, "DELETE FROM device_op WHERE call_id IN "
                                 "(SELECT id FROM transfer WHERE capturing = 2 UNION ALL "
                                 "SELECT id FROM memset WHERE capturing = 2 UNION ALL "
                                 "SELECT id FROM launch WHERE capturing = 2);"
                                 "DELETE FROM transfer WHERE capturing = 2;"
                                 "DELETE FROM memset WHERE capturing = 2;"
                                 "DELETE FROM launch WHERE capturing = 2;"
                                 "DELETE FROM sync WHERE capturing = 2;");
}

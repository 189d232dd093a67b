/* SPDX-License-Identifier: Apache-2.0 */
/* Loads what is to be joined, with signatures and groups. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/record/checked.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/ingest/join_internal.h"

/* CUpti_ActivityMemcpyKind: host to device or array, device or array to host, host to host. */
enum { HTOD = 1, DTOH = 2, HTOA = 3, ATOH = 4, HTOH = 9 };
enum { MEMORY_DEVICE = 3 }; /* CUpti_ActivityMemoryKind */
void gmt_join_free(struct gmt_join *join)
{
    free(join->hosts.items);
    free(join->ops.items);
    free(join->members.items);
    free(join->staged.items);
    free(join->barriers.items);
    free(join->streams.items);
    free(join->gaps.items);
    free(join->device_of_context);
}

int64_t gmt_join_device(const struct gmt_join *join, int64_t context)
{
    return context > 0 && (size_t)context < join->context_count ? join->device_of_context[context]
                                                                : 0;
}

static int each_row(struct gmt_join *join, const char *sql,
                    int (*visit)(struct gmt_join *join, sqlite3_stmt *row))
{
    sqlite3_stmt *rows;
    int error = 0, code = SQLITE_DONE;
    if (sqlite3_prepare_v2(join->db, sql, -1, &rows, NULL) != SQLITE_OK) {
        return gmt_database_error(join->db);
    }
    while (error == 0 && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        error = visit(join, rows);
    }
    if (error == 0 && code != SQLITE_DONE) {
        error = gmt_database_error(join->db);
    }
    sqlite3_finalize(rows);
    return error;
}

/* Groups of devices are below 0, those of streams above. */
static int64_t device_of(sqlite3_stmt *row, int column)
{
    return gmt_clamp(sqlite3_column_int64(row, column), 0, INT32_MAX);
}

static int load_context(struct gmt_join *join, sqlite3_stmt *row)
{
    int64_t id = sqlite3_column_int64(row, 0);
    if (id < 0 || id > UINT16_MAX) {
        return 0;
    }
    if ((size_t)id >= join->context_count) {
        int64_t *devices = realloc(join->device_of_context, ((size_t)id + 1) * sizeof(*devices));
        if (devices == NULL) {
            return -ENOMEM;
        }
        memset(devices + join->context_count, 0,
               ((size_t)id + 1 - join->context_count) * sizeof(*devices));
        join->device_of_context = devices;
        join->context_count = (size_t)id + 1;
    }
    join->device_of_context[id] = device_of(row, 1);
    return 0;
}

/* Rows that name the same CUPTI stream are one group. */
static int load_stream(struct gmt_join *join, sqlite3_stmt *row)
{
    struct gmt_join_stream *stream = gmt_join_push(&join->streams, sizeof(*stream));
    if (stream == NULL) {
        return -ENOMEM;
    }
    struct gmt_join_stream *all = join->streams.items;
    stream->row = sqlite3_column_int64(row, 0);
    stream->context = sqlite3_column_int64(row, 1);
    stream->cupti_id = sqlite3_column_int64(row, 2);
    stream->device = gmt_join_device(join, stream->context);
    stream->group = (int64_t)join->streams.count;
    for (size_t i = 0; i + 1 < join->streams.count; i++) {
        if (all[i].context == stream->context && all[i].cupti_id == stream->cupti_id) {
            stream->group = all[i].group;
            break;
        }
    }
    return 0;
}

static int compare_stream_rows(const void *a, const void *b)
{
    const struct gmt_join_stream *left = a, *right = b;
    return (left->row > right->row) - (left->row < right->row);
}

static int64_t group_of_host(const struct gmt_join *join, const struct gmt_join_host *host)
{
    struct gmt_join_stream key = {.row = host->stream};
    const struct gmt_join_stream *found = NULL;
    if (join->streams.count > 0) {
        found = bsearch(&key, join->streams.items, join->streams.count, sizeof(key),
                        compare_stream_rows);
    }
    return found != NULL ? found->group : -1 - gmt_join_device(join, host->context);
}

static int64_t group_of_op(const struct gmt_join *join, const struct gmt_join_op *op,
                           int64_t cupti_stream)
{
    const struct gmt_join_stream *all = join->streams.items;
    for (size_t i = 0; i < join->streams.count; i++) {
        bool same_context = op->context != 0 ? all[i].context == op->context
                                             : all[i].device == op->device;
        if (same_context && all[i].cupti_id == cupti_stream) {
            return all[i].group;
        }
    }
    return -1 - op->device;
}

/* As the ingest stores them: what else stands there was put there by somebody else. */
static uint64_t time_of(sqlite3_stmt *row, int column)
{
    return (uint64_t)gmt_clamp(sqlite3_column_int64(row, column), 0, INT64_C(1) << 61);
}

static uint64_t bytes_of(sqlite3_stmt *row, int column)
{
    return (uint64_t)gmt_clamp(sqlite3_column_int64(row, column), 0, INT64_C(1) << 47);
}

static const char *text_of(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text != NULL ? text : "";
}

static int load_gap(struct gmt_join *join, sqlite3_stmt *row)
{
    const struct gmt_join_gap *all = join->gaps.items;
    uint64_t until_ns = join->gaps.count > 0 ? all[join->gaps.count - 1].until_ns : 0;
    struct gmt_join_gap *gap = gmt_join_push(&join->gaps, sizeof(*gap));
    if (gap == NULL) {
        return -ENOMEM;
    }
    gap->begin_ns = time_of(row, 0);
    gap->end_ns = sqlite3_column_type(row, 1) == SQLITE_NULL ? UINT64_MAX : time_of(row, 1);
    gap->switch_ns = time_of(row, 2);
    gap->until_ns = gap->end_ns > until_ns ? gap->end_ns : until_ns;
    return 0;
}

/* Of calls that were made while records were off there are none: they must not get those of later ones. Of one that
 * overlaps the switching it is not known: *is_optional. */
static bool is_in_gap(const struct gmt_join *join, uint64_t begin_ns, uint64_t end_ns,
                      bool *is_optional)
{
    const struct gmt_join_gap *gaps = join->gaps.items;
    size_t low = 0, high = join->gaps.count;
    while (low < high) { /* the first that begins after the call had ended, switching included */
        size_t middle = low + (high - low) / 2;
        if (gaps[middle].begin_ns <= gmt_add_clamped_u64(end_ns, gaps[middle].switch_ns)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low > 0 &&
           gmt_add_clamped_u64(gaps[low - 1].until_ns, gaps[low - 1].switch_ns) >= begin_ns;
         low--) {
        const struct gmt_join_gap *gap = &gaps[low - 1];
        if (begin_ns >= gap->begin_ns && end_ns <= gap->end_ns) {
            return true;
        }
        bool before = begin_ns < gap->begin_ns && end_ns + gap->switch_ns > gap->begin_ns;
        bool after = end_ns > gap->end_ns && begin_ns < gap->end_ns + gap->switch_ns;
        *is_optional |= gap->switch_ns != 0 && (before || after);
    }
    return false;
}

/* Columns id, stream, context, thread, begin, end are common to all calls. NULL with *error 0: it has no record. */
static struct gmt_join_host *push_host(struct gmt_join *join, sqlite3_stmt *row,
                                       enum gmt_join_kind kind, int *error)
{
    bool is_optional = false;
    *error = 0;
    if (is_in_gap(join, time_of(row, 4), time_of(row, 5), &is_optional)) {
        return NULL;
    }
    struct gmt_join_host *host = gmt_join_push(&join->hosts, sizeof(*host));
    *error = host == NULL ? -ENOMEM : 0;
    if (host != NULL) {
        host->optional = is_optional;
        host->id = sqlite3_column_int64(row, 0);
        host->stream = sqlite3_column_int64(row, 1);
        host->context = sqlite3_column_int64(row, 2);
        host->thread = sqlite3_column_int64(row, 3);
        host->begin_ns = time_of(row, 4);
        host->end_ns = time_of(row, 5);
        host->kind = (uint8_t)kind;
        host->group = group_of_host(join, host);
    }
    return host;
}

static int load_transfer(struct gmt_join *join, sqlite3_stmt *row)
{
    int error;
    struct gmt_join_host *host = push_host(join, row, GMT_JOIN_COPY, &error);
    if (host == NULL) {
        return error;
    }
    const char *direction = text_of(row, 7);
    enum gmt_join_way way = strcmp(direction, "h2d") == 0   ? GMT_JOIN_WAY_IN
                            : strcmp(direction, "d2h") == 0 ? GMT_JOIN_WAY_OUT
                                                            : GMT_JOIN_WAY_OTHER;
    host->bytes = bytes_of(row, 6);
    host->signature = gmt_join_copy_signature(host->bytes, way);
    host->drains = way == GMT_JOIN_WAY_OUT && sqlite3_column_int(row, 8) != 0;
    host->optional |= strcmp(direction, "h2h") == 0;
    host->batch = sqlite3_column_type(row, 9) != SQLITE_NULL;
    return 0;
}

static int load_memset(struct gmt_join *join, sqlite3_stmt *row)
{
    int error;
    struct gmt_join_host *host = push_host(join, row, GMT_JOIN_MEMSET, &error);
    if (host == NULL) {
        return error;
    }
    host->bytes = bytes_of(row, 6);
    host->signature = gmt_join_simple_signature(GMT_JOIN_MEMSET, host->bytes);
    return 0;
}

static int load_launch(struct gmt_join *join, sqlite3_stmt *row)
{
    bool graph = sqlite3_column_int(row, 6) != 0;
    int error;
    struct gmt_join_host *host = push_host(join, row, graph ? GMT_JOIN_GRAPH : GMT_JOIN_KERNEL,
                                           &error);
    if (host == NULL) {
        return error;
    }
    host->signature = graph ? gmt_join_simple_signature(GMT_JOIN_GRAPH, 0)
                            : gmt_join_kernel_signature(row, 7);
    return 0;
}

static int load_sync(struct gmt_join *join, sqlite3_stmt *row)
{
    struct gmt_join_barrier *barrier = gmt_join_push(&join->barriers, sizeof(*barrier));
    if (barrier == NULL) {
        return -ENOMEM;
    }
    barrier->stream = sqlite3_column_int64(row, 0);
    barrier->context = sqlite3_column_int64(row, 1);
    barrier->begin_ns = time_of(row, 2);
    barrier->end_ns = time_of(row, 3);
    return 0;
}

/* Half of a copy from one device to another that goes through the host, in two contexts. */
static bool is_half(sqlite3_stmt *row)
{
    int64_t copy = sqlite3_column_int64(row, 10);
    return (copy == HTOD || copy == DTOH) && sqlite3_column_int64(row, 12) == MEMORY_DEVICE &&
           sqlite3_column_int64(row, 13) == MEMORY_DEVICE;
}

static int load_op(struct gmt_join *join, sqlite3_stmt *row)
{
    bool graph = sqlite3_column_type(row, 5) != SQLITE_NULL;
    struct gmt_join_op *op = gmt_join_push(graph          ? &join->members
                                           : is_half(row) ? &join->staged
                                                          : &join->ops,
                                           sizeof(*op));
    if (op == NULL) {
        return -ENOMEM;
    }
    const char *kind = text_of(row, 1);
    op->id = sqlite3_column_int64(row, 0);
    op->context = sqlite3_column_int64(row, 2);
    op->device = device_of(row, 3);
    op->correlation = sqlite3_column_int64(row, 6);
    op->start_ns = time_of(row, 7);
    op->stop_ns = time_of(row, 8);
    if (op->start_ns == 0 || op->stop_ns < op->start_ns) {
        op->start_ns = op->stop_ns = 0;
    }
    op->bytes = bytes_of(row, 9);
    op->copies = (uint32_t)gmt_clamp(sqlite3_column_int64(row, 11), 0, UINT32_MAX);
    op->group = group_of_op(join, op, sqlite3_column_int64(row, 4));
    if (strcmp(kind, "kernel") == 0) {
        op->kind = GMT_JOIN_KERNEL;
        op->signature = gmt_join_kernel_signature(row, 14);
    } else if (strcmp(kind, "memset") == 0) {
        op->kind = GMT_JOIN_MEMSET;
        op->signature = gmt_join_simple_signature(GMT_JOIN_MEMSET, op->bytes);
    } else {
        int64_t copy = sqlite3_column_int64(row, 10);
        op->kind = GMT_JOIN_COPY;
        op->outward = copy == DTOH;
        op->is_of_host = copy == HTOH;
        op->signature = gmt_join_copy_signature(
            op->bytes, copy == HTOD || copy == HTOA   ? GMT_JOIN_WAY_IN
                       : copy == DTOH || copy == ATOH ? GMT_JOIN_WAY_OUT
                                                      : GMT_JOIN_WAY_OTHER);
    }
    return 0;
}

#define GMT_RAN \
    " WHERE result = 0 AND capturing IN (0, 2, 3)" /* GMT_CAPTURING_OUTSIDE, GMT_CAPTURING_STEP */

int gmt_join_load(struct gmt_join *join)
{
    int error = each_row(join, "SELECT id, device_id FROM context", load_context);
    if (error == 0) {
        error = each_row(join,
                         "SELECT id, context_id, cupti_id FROM stream "
                         "WHERE cupti_id IS NOT NULL ORDER BY id",
                         load_stream);
    }
    if (error == 0) {
        error = each_row(join,
                         "SELECT begin_ns, end_ns, ifnull(switch_ns, 0) FROM device_gap "
                         "ORDER BY begin_ns",
                         load_gap);
    }
    if (error != 0 ||
        (error = each_row(join,
                          "SELECT id, stream_id, context_id, thread_id, begin_ns, end_ns, bytes, "
                          "direction, blocking, batch FROM transfer c" GMT_RAN " AND bytes > 0",
                          load_transfer)) != 0 ||
        (error = each_row(join,
                          "SELECT id, stream_id, context_id, thread_id, begin_ns, end_ns, bytes "
                          "FROM memset c" GMT_RAN " AND bytes > 0",
                          load_memset)) != 0 ||
        (error = each_row(join,
                          "SELECT c.id, stream_id, context_id, thread_id, begin_ns, end_ns, "
                          "kind = 'graph', grid_x, grid_y, grid_z, block_x, block_y, block_z, "
                          "k.mangled FROM launch c LEFT JOIN kernel k ON k.id = c.kernel_id" GMT_RAN
                          " AND no_activity = 0",
                          load_launch)) != 0 ||
        (error = each_row(join,
                          "SELECT CASE kind WHEN 'stream' THEN stream_id END, context_id, "
                          "begin_ns, end_ns FROM sync" GMT_RAN " AND kind <> 'event'",
                          load_sync)) != 0 ||
        (error = each_row(
             join,
             "SELECT o.id, kind, context_id, device_id, cupti_stream, graph, "
             "correlation, start_ns, end_ns, bytes, copy_kind, copy_count, "
             "src_kind, dst_kind, grid_x, grid_y, grid_z, block_x, block_y, block_z, s.text "
             "FROM device_op o LEFT JOIN string s ON s.id = o.kernel_name_id",
             load_op)) != 0) {
        return error;
    }
    error = gmt_join_gather_graphs(join);
    return error != 0 ? error : gmt_join_gather_staged(join);
}

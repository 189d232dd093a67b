/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a trace as trace events: calls and ranges by thread, device work by stream, flows between them, memory. */
#include "analyzer/commands/export/export_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyzer/commands/validate_checks.h"
#include "analyzer/export/export_names.h"
#include "libtrace/base/printable.h"
#include "libtrace/record/checked.h"
#include "libtrace/store/db/guard.h"
#include "libtrace/store/db/own_schema.h"
#include "libtrace/store/db/values.h"

enum {
    NO_STREAM_TID = GMT_LANE_TIDS - 1,
    FLOW_BITS =
        42, /* of a row's id: with the number of a trace before it, still exact in a double */
};

/*
 * Rows are sorted by numbers alone; what they are called is looked up as they come out (export_names.h), as
 * a name may be long and is of many rows. LIMIT -1 has the inner statement sorted before anything is looked
 * up.
 */
#define NAME(table, id) "(SELECT e.name FROM temp.export_" table " e WHERE e.id = " id ")"

/* Calls of every kind in the shape of this one, whose parts differ by table; `named` is of what the detail
 * names. */
#define CALL(category, table, detail, named, bytes, flow) \
    "SELECT t.thread_id AS thread, t.begin_ns AS begin_ns, t.end_ns AS end_ns, t.api_id AS api, " \
    "'" category "' AS category, t.id AS id, " detail " AS detail, " named " AS named, " bytes \
    " AS bytes, t.stack_id AS stack, " flow " AS flow, t.result AS result FROM " table " t "

#define ALLOCATE(table) \
    "SELECT t.thread_id, t.begin_ns, t.end_ns, t.api_id, 'allocate', t.id, t.kind, NULL, " \
    "t.bytes, " \
    "t.stack_id, 0, 0 FROM " table " t WHERE t.begin_ns IS NOT NULL UNION ALL " \
    "SELECT t.free_thread_id, t.free_begin_ns, t.free_end_ns, t.free_api_id, 'free', t.id, " \
    "t.kind, " \
    "NULL, t.bytes, t.free_stack_id, 0, 0 FROM " table " t WHERE t.free_begin_ns IS NOT NULL "

/* Those of the process on a row of their own; none begins before the recording. */
#define RANGES \
    "UNION ALL SELECT CASE r.kind WHEN 'push' THEN r.thread_id ELSE 0 END, " \
    "max(r.begin_ns, coalesce(p.start_ns, 0)), coalesce(r.end_ns, p.end_ns, r.begin_ns), " \
    "r.name_id, 'range', r.id, NULL, r.domain_id, NULL, NULL, 0, 0 " \
    "FROM range r LEFT JOIN process p ON p.id = 1 "

/* gmtrace's own work, in the thread that did it. */
#define OWN_TIME \
    "UNION ALL SELECT o.thread_id, o.begin_ns, o.end_ns, NULL, 'gmtrace', o.id, o.work, NULL, " \
    "NULL, NULL, 0, 0 FROM own_time o "

/* clang-format off */
static const char calls_sql[] =
    "SELECT c.thread, c.begin_ns, c.end_ns, "
    "CASE c.category WHEN 'range' THEN coalesce(" NAME("string", "c.api") ", '(unnamed)') "
    "WHEN 'gmtrace' THEN 'gmtrace: ' || c.detail ELSE " NAME("api", "c.api") " END, "
    "c.category, c.id, "
    "CASE c.category WHEN 'range' THEN " NAME("string", "c.named") " ELSE coalesce(" NAME("kernel", "c.named") ", c.detail) END, "
    "c.bytes, c.stack, c.flow, c.result, " NAME("place", "c.stack") ", "
    "coalesce((SELECT e.tid FROM temp.export_thread e WHERE e.id = c.thread), c.thread, 0), "
    "CASE WHEN c.category = 'range' AND c.thread = 0 THEN 'ranges of the process' ELSE " NAME("thread", "c.thread") " END FROM ("
    CALL("transfer", "transfer", "t.direction || ' ' || t.src_class || ' to ' || t.dst_class", "NULL", "t.bytes",
         "t.device_start_ns IS NOT NULL") "UNION ALL "
    CALL("memset", "memset", "t.dst_class", "NULL", "t.bytes", "t.device_start_ns IS NOT NULL") "UNION ALL "
    CALL("launch", "launch", "t.kind", "t.kernel_id", "NULL", "t.device_start_ns IS NOT NULL") "UNION ALL "
    CALL("sync", "sync", "t.kind", "NULL", "NULL", "0") "UNION ALL "
    CALL("other", "api_call", "NULL", "NULL", "t.bytes", "0") "UNION ALL "
    ALLOCATE("allocation") "UNION ALL " ALLOCATE("host_allocation")
    "%s%s ORDER BY thread, begin_ns, end_ns DESC LIMIT -1) c";

/* Device rows as they were joined to calls; nodes of graphs and what no call is known of as they are. */
static const char device_sql[] =
    "SELECT o.device, o.stream, o.begin_ns, o.end_ns, "
    "coalesce(" NAME("kernel", "o.kernel") ", " NAME("kernel_name", "o.kernel_name") ", o.name), "
    "o.category, o.id, o.detail, o.bytes, o.flow, " NAME("device", "o.device") ", "
    "(SELECT r.handle FROM stream r WHERE r.id = o.stream), (SELECT r.thread_id FROM stream r WHERE r.id = o.stream) FROM ("
    "SELECT coalesce(c.device_id, w.device_id, 0) AS device, w.stream_id AS stream, w.begin_ns AS begin_ns, "
    "w.end_ns AS end_ns, w.name, w.kernel, w.kernel_name, w.category, w.id, w.detail, w.bytes, w.flow FROM ("
    "SELECT context_id, NULL AS device_id, stream_id, device_start_ns AS begin_ns, device_end_ns AS end_ns, "
    "'copy ' || direction AS name, NULL AS kernel, NULL AS kernel_name, 'copy' AS category, id, "
    "src_class || ' to ' || dst_class AS detail, "
    "bytes, id AS flow FROM transfer WHERE device_start_ns IS NOT NULL UNION ALL "
    "SELECT context_id, NULL, stream_id, device_start_ns, device_end_ns, 'memset', NULL, NULL, 'memset', id, dst_class, "
    "bytes, id FROM memset WHERE device_start_ns IS NOT NULL UNION ALL "
    "SELECT l.context_id, NULL, l.stream_id, l.device_start_ns, l.device_end_ns, NULL, l.kernel_id, NULL, 'kernel', l.id, "
    "printf('grid %d x %d x %d, block %d x %d x %d', l.grid_x, l.grid_y, l.grid_z, l.block_x, l.block_y, "
    "l.block_z), NULL, l.id FROM launch l "
    "WHERE l.device_start_ns IS NOT NULL AND l.kind <> 'graph' UNION ALL "
    "SELECT coalesce(d.context_id, l.context_id), d.device_id, l.stream_id, d.start_ns, d.end_ns, "
    "CASE d.kind WHEN 'kernel' THEN NULL ELSE d.kind END, NULL, CASE d.kind WHEN 'kernel' THEN d.kernel_name_id END, "
    "d.kind, d.call_id, CASE WHEN d.graph IS NULL THEN 'its call is not known' "
    "ELSE 'of a graph' END, d.bytes, CASE WHEN d.start_ns = l.device_start_ns THEN l.id END "
    "FROM device_op d LEFT JOIN launch l ON l.id = d.call_id AND l.kind = 'graph' "
    "WHERE d.start_ns IS NOT NULL AND (d.call_id IS NULL OR d.graph IS NOT NULL)"
    ") w LEFT JOIN context c ON c.id = w.context_id "
    "ORDER BY device, stream, w.begin_ns, w.end_ns DESC LIMIT -1) o";

/* What is in use changes when an allocation has been made and when its release begins. */
#define CHANGES(table, device) \
    "SELECT " device " AS device, m.end_ns AS at_ns, coalesce(m.bytes, 0) AS bytes FROM " table " m " \
    "LEFT JOIN context c ON c.id = m.context_id WHERE m.end_ns IS NOT NULL UNION ALL " \
    "SELECT " device ", m.free_begin_ns, -coalesce(m.bytes, 0) FROM " table " m " \
    "LEFT JOIN context c ON c.id = m.context_id WHERE m.free_begin_ns IS NOT NULL "
static const char memory_sql[] =
    "SELECT device, at_ns, bytes FROM (" CHANGES("allocation", "coalesce(c.device_id, 0)") "UNION ALL "
    CHANGES("host_allocation", "-1") ") ORDER BY device, at_ns, bytes";

/* Everything begins here or later. */
static const char origin_sql[] =
    "SELECT min(start_ns) FROM (SELECT start_ns FROM process UNION ALL SELECT min(begin_ns) FROM transfer "
    "UNION ALL SELECT min(begin_ns) FROM launch UNION ALL SELECT min(begin_ns) FROM memset UNION ALL "
    "SELECT min(begin_ns) FROM sync UNION ALL SELECT min(begin_ns) FROM api_call UNION ALL "
    "SELECT min(begin_ns) FROM allocation UNION ALL SELECT min(begin_ns) FROM host_allocation)";

/* Reports say no times of the software device; a timeline has to draw some. */
static const char process_sql[] = "SELECT command, pid, (SELECT 1 FROM capability WHERE name = 'software_device' "
    "AND state = 'ok') FROM process";
/* clang-format on */

static const char *column_text(sqlite3_stmt *row, int column)
{
    return (const char *)sqlite3_column_text(row, column);
}

/*
 * A column of a compound statement does not say of which table it is: the query of types of `validate`
 * does, "table.column is text". Where that finds nothing, the name of the result's column stays.
 */
static void note_damage(struct gmt_export_rows *p)
{
    static const struct gmt_check types = {.made_of = GMT_CHECK_TYPES};
    char *sql = gmt_check_sql(&types, p->db);
    sqlite3_stmt *row = NULL;

    p->damaged = true;
    if (sql != NULL && sqlite3_prepare_v2(p->db, sql, -1, &row, NULL) == SQLITE_OK &&
        sqlite3_step(row) == SQLITE_ROW) {
        gmt_guard_note_column(p->db, "", column_text(row, 0), "against its column's type");
    }
    sqlite3_finalize(row);
    sqlite3_free(sql);
}

/* 0 for NULL, and for something else, with which the export ends. */
static int64_t integer_of(struct gmt_export_rows *p, sqlite3_stmt *row, int column)
{
    int64_t value = 0;

    if (!gmt_value_integer(row, column, &value) && !p->damaged) {
        note_damage(p);
    }
    return value;
}

/* Runs sql and gives every row to `each`. 0 or -EIO, complained about. */
static int for_rows(struct gmt_export_rows *p, const char *sql,
                    void (*each)(struct gmt_export_rows *p, sqlite3_stmt *row, void *state),
                    void *state)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(p->db, sql, -1, &statement, NULL);

    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        rc = sqlite3_step(statement);
        if (rc == SQLITE_ROW) {
            each(p, statement, state);
        }
        if (p->damaged) {
            rc = SQLITE_CORRUPT;
        }
    }
    if (rc != SQLITE_DONE) {
        gmt_say(stderr, "gmanalyze: %s: %s\n", p->trace, gmt_guard_reason(p->db));
    }
    p->complained |= rc != SQLITE_DONE;
    sqlite3_finalize(statement);
    return rc == SQLITE_DONE ? 0 : -EIO;
}

static void argument_key(struct gmt_export_rows *p, const char *key)
{
    fprintf(p->events->out, "%s\"%s\":", p->arguments++ > 0 ? "," : "", key);
}

/* "key": text, or nothing where it is not known. */
static void argument_text(struct gmt_export_rows *p, const char *key, const char *text)
{
    if (text == NULL) {
        return;
    }
    argument_key(p, key);
    gmt_events_text(p->events, text);
}

static void argument_integer(struct gmt_export_rows *p, const char *key, sqlite3_stmt *row,
                             int column)
{
    if (sqlite3_column_type(row, column) == SQLITE_NULL) {
        return;
    }
    argument_key(p, key);
    fprintf(p->events->out, "%" PRId64, integer_of(p, row, column));
}

/* A row that begins track.key: its lanes are empty and nothing names it yet. */
struct track {
    int64_t group, key;
    bool begun;
    struct gmt_lanes lanes;
};

static bool track_changes(struct track *track, int64_t group, int64_t key)
{
    if (track->begun && track->group == group && track->key == key) {
        return false;
    }
    *track = (struct track){.group = group, .key = key, .begun = true};
    return true;
}

static void open_slice(struct gmt_export_rows *p, const struct gmt_events_slice *slice)
{
    gmt_events_open_slice(p->events, slice);
    p->arguments = 0;
    p->count++;
}

/* Of a call and of what it made the device do. Ids of several traces in one file differ by the trace's number before them. */
static void flow(struct gmt_export_rows *p, char phase, const struct gmt_events_slice *slice,
                 int64_t id)
{
    const uint64_t own = (UINT64_C(1) << FLOW_BITS) - 1;

    gmt_events_flow(
        p->events, phase, slice, "call",
        p->number == 0 ? id : (int64_t)((uint64_t)p->number << FLOW_BITS | ((uint64_t)id & own)));
}

static void put_call(struct gmt_export_rows *p, sqlite3_stmt *row, void *state)
{
    struct track *track = state;
    int64_t thread = integer_of(p, row, 0), tid = integer_of(p, row, 12);
    struct gmt_events_slice slice = {.pid = p->first_pid,
                                     .begin_ns = integer_of(p, row, 1),
                                     .end_ns = integer_of(p, row, 2),
                                     .name = column_text(row, 3),
                                     .category = column_text(row, 4)};

    (void)track_changes(track, p->first_pid, thread);
    track->lanes.nest = true;
    slice.tid = tid;
    gmt_lanes_place(&track->lanes, p->events, &slice, column_text(row, 13), thread);
    open_slice(p, &slice);
    argument_integer(p, "id", row, 5);
    argument_text(p, "what", column_text(row, 6));
    argument_integer(p, "bytes", row, 7);
    argument_text(p, "where", column_text(row, 11));
    if (integer_of(p, row, 10) != 0) {
        argument_integer(p, "error", row, 10);
    }
    gmt_events_close_slice(p->events);
    if (integer_of(p, row, 9) != 0) {
        flow(p, 's', &slice, integer_of(p, row, 5));
    }
}

static void stream_name(struct gmt_export_rows *p, char *name, size_t bytes, sqlite3_stmt *row)
{
    int64_t stream = integer_of(p, row, 1), handle = integer_of(p, row, 11);

    if (sqlite3_column_type(row, 1) == SQLITE_NULL) {
        snprintf(name, bytes, "stream not known");
    } else if (handle == 0 && sqlite3_column_type(row, 11) != SQLITE_NULL) {
        snprintf(name, bytes, "default stream");
    } else if (handle == 2) {
        snprintf(name, bytes, "default stream of thread %" PRId64, integer_of(p, row, 12));
    } else {
        snprintf(name, bytes, "stream %" PRId64, stream);
    }
}

static void name_device(struct gmt_export_rows *p, int pid, int64_t device, const char *model)
{
    char name[512];

    snprintf(name, sizeof(name), "%s%sGPU %" PRId64 ": %s", p->label != NULL ? p->label : "",
             p->label != NULL ? ", " : "", device, model != NULL ? model : "");
    gmt_events_name(p->events, "process_name", pid, 0, name);
    gmt_events_place(p->events, "process_sort_index", pid, 0, pid);
}

static int pid_of(const struct gmt_export_rows *p, int64_t device)
{
    return device < 0 || device > p->last_device ? p->first_pid : p->first_pid + 1 + (int)device;
}

static void put_device_work(struct gmt_export_rows *p, sqlite3_stmt *row, void *state)
{
    struct track *track = state;
    int64_t device = integer_of(p, row, 0), stream = integer_of(p, row, 1);
    char name[64];
    struct gmt_events_slice slice = {.pid = pid_of(p, device),
                                     .begin_ns = integer_of(p, row, 2),
                                     .end_ns = integer_of(p, row, 3),
                                     .name = column_text(row, 4),
                                     .category = column_text(row, 5)};

    if (!track->begun || track->group != device) {
        name_device(p, slice.pid, device, column_text(row, 10));
    }
    (void)track_changes(track, device, stream);
    stream_name(p, name, sizeof(name), row);
    slice.tid = stream != 0 ? stream : NO_STREAM_TID;
    gmt_lanes_place(&track->lanes, p->events, &slice, name, stream);
    open_slice(p, &slice);
    argument_integer(p, "id", row, 6);
    argument_text(p, "what", column_text(row, 7));
    argument_integer(p, "bytes", row, 8);
    gmt_events_close_slice(p->events);
    if (sqlite3_column_type(row, 9) != SQLITE_NULL) {
        flow(p, 'f', &slice, integer_of(p, row, 9));
    }
}

struct memory {
    int64_t device, bytes;
    bool begun;
};

static void put_memory(struct gmt_export_rows *p, sqlite3_stmt *row, void *state)
{
    struct memory *memory = state;
    int64_t device = integer_of(p, row, 0);

    if (!memory->begun || memory->device != device) {
        *memory = (struct memory){.device = device, .begun = true};
    }
    if (__builtin_add_overflow(memory->bytes, integer_of(p, row, 2), &memory->bytes)) {
        memory->bytes = 0;
    }
    gmt_events_open(p->events, 'C', pid_of(p, device), 0, integer_of(p, row, 1));
    fprintf(p->events->out, ",\"name\":\"%s\",\"args\":{\"bytes\":%" PRId64 "}",
            device < 0 ? "page-locked host memory" : "device memory", memory->bytes);
    gmt_events_close(p->events);
}

static void put_process(struct gmt_export_rows *p, sqlite3_stmt *row, void *state)
{
    char name[512];

    (void)state;
    snprintf(name, sizeof(name), "%s%s%s%s (%" PRId64 ")", p->label != NULL ? p->label : "",
             p->label != NULL ? ": " : "",
             column_text(row, 2) != NULL ? "software device, times of the CPU: " : "",
             column_text(row, 0) != NULL ? column_text(row, 0) : "process", integer_of(p, row, 1));
    gmt_events_name(p->events, "process_name", p->first_pid, 0, name);
    gmt_events_place(p->events, "process_sort_index", p->first_pid, 0, p->first_pid);
}

static void take_origin(struct gmt_export_rows *p, sqlite3_stmt *row, void *state)
{
    *(int64_t *)state = integer_of(p, row, 0);
}

int gmt_export_rows_origin(struct gmt_export_rows *p, int64_t *origin_ns)
{
    return for_rows(p, origin_sql, take_origin, origin_ns);
}

/* Ranges were written from version 2 on. */
static bool has_ranges(const struct gmt_export_rows *p)
{
    return sqlite3_table_column_metadata(p->db, NULL, "range", "id", NULL, NULL, NULL, NULL,
                                         NULL) == SQLITE_OK;
}

static int name_rows(struct gmt_export_rows *p)
{
    int rc = gmt_export_names(p->db, has_ranges(p));

    if (rc != 0) {
        gmt_say(stderr, "gmanalyze: %s: %s\n", p->trace, gmt_guard_reason(p->db));
    }
    p->complained |= rc != 0;
    return rc;
}

static int put_calls(struct gmt_export_rows *p)
{
    struct track threads = {0};
    char *sql = sqlite3_mprintf(calls_sql, has_ranges(p) ? RANGES : "",
                                gmt_trace_has_column(p->db, "own_time", "work") ? OWN_TIME : "");
    int rc = sql != NULL ? for_rows(p, sql, put_call, &threads) : -ENOMEM;

    sqlite3_free(sql);
    return rc;
}

int gmt_export_rows_write(struct gmt_export_rows *p)
{
    struct track streams = {0};
    struct memory memory = {0};
    int rc = for_rows(p, process_sql, put_process, NULL);

    if (rc == 0) {
        rc = name_rows(p);
    }
    if (rc == 0) {
        rc = put_calls(p);
    }
    if (rc == 0) {
        rc = for_rows(p, device_sql, put_device_work, &streams);
    }
    return rc == 0 ? for_rows(p, memory_sql, put_memory, &memory) : rc;
}

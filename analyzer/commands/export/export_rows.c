/* SPDX-License-Identifier: Apache-2.0 */
/* A trace as trace events: calls and ranges by thread, device work by stream, flows between them, memory, findings. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyzer/commands/commands.h"
#include "analyzer/commands/export/export.h"
#include "analyzer/commands/export/export_findings.h"
#include "analyzer/commands/validate_checks.h"
#include "analyzer/export/export_names.h"
#include "analyzer/export/trace_events.h"
#include "libtrace/base/file.h"
#include "libtrace/base/printable.h"
#include "libtrace/record/checked.h"
#include "libtrace/store/db/guard.h"
#include "libtrace/store/db/own_schema.h"
#include "libtrace/store/db/values.h"

enum {
    HOST_PID = 1, /* the traced process: its own number is in its name */
    FIRST_DEVICE_PID = 2,
    LANE_TIDS = 1 << 24, /* tids of lane n of a track are this many times n further on */
    NO_STREAM_TID = LANE_TIDS - 1,
};

struct perfetto {
    sqlite3 *db;
    const char *trace;
    struct gmt_events events;
    int64_t count;
    int arguments;            /* of the event that is open */
    bool complained, damaged; /* the latter: a row had something else than an integer */
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
static void note_damage(struct perfetto *p)
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
static int64_t integer_of(struct perfetto *p, sqlite3_stmt *row, int column)
{
    int64_t value = 0;

    if (!gmt_value_integer(row, column, &value) && !p->damaged) {
        note_damage(p);
    }
    return value;
}

/* Runs sql and gives every row to `each`. 0 or -EIO, complained about. */
static int for_rows(struct perfetto *p, const char *sql,
                    void (*each)(struct perfetto *p, sqlite3_stmt *row, void *state), void *state)
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

static void argument_key(struct perfetto *p, const char *key)
{
    fprintf(p->events.out, "%s\"%s\":", p->arguments++ > 0 ? "," : "", key);
}

/* "key": text, or nothing where it is not known. */
static void argument_text(struct perfetto *p, const char *key, const char *text)
{
    if (text == NULL) {
        return;
    }
    argument_key(p, key);
    gmt_events_text(&p->events, text);
}

static void argument_integer(struct perfetto *p, const char *key, sqlite3_stmt *row, int column)
{
    if (sqlite3_column_type(row, column) == SQLITE_NULL) {
        return;
    }
    argument_key(p, key);
    fprintf(p->events.out, "%" PRId64, integer_of(p, row, column));
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

/* The tid of the lane that takes an event; a lane that is used first gets the track's name. */
static int64_t lane_tid(struct perfetto *p, struct track *track, int pid, int64_t tid,
                        int64_t begin_ns, int64_t end_ns, const char *name)
{
    int known = track->lanes.count, lane = gmt_lanes_take(&track->lanes, begin_ns, end_ns);
    int64_t lane_tid = gmt_add_clamped(tid, (int64_t)lane * LANE_TIDS);

    if (lane == known) {
        gmt_events_name(&p->events, "thread_name", pid, lane_tid, name);
        gmt_events_place(&p->events, "thread_sort_index", pid, lane_tid,
                         gmt_add_clamped(gmt_mul_clamped(track->key, GMT_LANES), lane));
    }
    return lane_tid;
}

struct slice {
    int pid;
    int64_t tid, begin_ns, end_ns;
    const char *name, *category;
};

/* An event with beginning and length, whose arguments stay open. */
static void open_slice(struct perfetto *p, const struct slice *slice)
{
    int64_t length_ns;

    /* A call cannot end before it begins, except in a damaged trace. */
    if (__builtin_sub_overflow(slice->end_ns, slice->begin_ns, &length_ns) || length_ns < 0) {
        length_ns = 0;
    }
    gmt_events_open(&p->events, 'X', slice->pid, slice->tid, slice->begin_ns);
    gmt_events_time(&p->events, "dur", length_ns);
    fputs(",\"name\":", p->events.out);
    gmt_events_text(&p->events, slice->name != NULL ? slice->name : "unknown");
    fputs(",\"cat\":", p->events.out);
    gmt_events_text(&p->events, slice->category != NULL ? slice->category : "unknown");
    fputs(",\"args\":{", p->events.out);
    p->arguments = 0;
    p->count++;
}

static void close_slice(struct perfetto *p)
{
    fputc('}', p->events.out);
    gmt_events_close(&p->events);
}

/* 's' in a call, 'f' in what it made the device do. */
static void flow(struct perfetto *p, char phase, const struct slice *slice, int64_t id)
{
    gmt_events_open(&p->events, phase, slice->pid, slice->tid, slice->begin_ns);
    fprintf(p->events.out, ",\"id\":%" PRId64 ",\"name\":\"call\",\"cat\":\"call\"%s", id,
            phase == 'f' ? ",\"bp\":\"e\"" : "");
    gmt_events_close(&p->events);
}

static void put_call(struct perfetto *p, sqlite3_stmt *row, void *state)
{
    struct track *track = state;
    int64_t thread = integer_of(p, row, 0), tid = integer_of(p, row, 12);
    struct slice slice = {.pid = HOST_PID,
                          .begin_ns = integer_of(p, row, 1),
                          .end_ns = integer_of(p, row, 2),
                          .name = column_text(row, 3),
                          .category = column_text(row, 4)};

    (void)track_changes(track, HOST_PID, thread);
    track->lanes.nest = true;
    slice.tid = lane_tid(p, track, HOST_PID, tid, slice.begin_ns, slice.end_ns,
                         column_text(row, 13));
    open_slice(p, &slice);
    argument_integer(p, "id", row, 5);
    argument_text(p, "what", column_text(row, 6));
    argument_integer(p, "bytes", row, 7);
    argument_text(p, "where", column_text(row, 11));
    if (integer_of(p, row, 10) != 0) {
        argument_integer(p, "error", row, 10);
    }
    close_slice(p);
    if (integer_of(p, row, 9) != 0) {
        flow(p, 's', &slice, integer_of(p, row, 5));
    }
}

static void stream_name(struct perfetto *p, char *name, size_t bytes, sqlite3_stmt *row)
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

static void name_device(struct perfetto *p, int pid, int64_t device, const char *model)
{
    char name[256];

    snprintf(name, sizeof(name), "GPU %" PRId64 ": %s", device, model != NULL ? model : "");
    gmt_events_name(&p->events, "process_name", pid, 0, name);
    gmt_events_place(&p->events, "process_sort_index", pid, 0, pid);
}

static int pid_of(int64_t device)
{
    return device < 0 || device > 1 << 20 ? HOST_PID : FIRST_DEVICE_PID + (int)device;
}

static void put_device_work(struct perfetto *p, sqlite3_stmt *row, void *state)
{
    struct track *track = state;
    int64_t device = integer_of(p, row, 0), stream = integer_of(p, row, 1);
    char name[64];
    struct slice slice = {.pid = pid_of(device),
                          .begin_ns = integer_of(p, row, 2),
                          .end_ns = integer_of(p, row, 3),
                          .name = column_text(row, 4),
                          .category = column_text(row, 5)};

    if (!track->begun || track->group != device) {
        name_device(p, slice.pid, device, column_text(row, 10));
    }
    (void)track_changes(track, device, stream);
    stream_name(p, name, sizeof(name), row);
    slice.tid = lane_tid(p, track, slice.pid, stream != 0 ? stream : NO_STREAM_TID, slice.begin_ns,
                         slice.end_ns, name);
    open_slice(p, &slice);
    argument_integer(p, "id", row, 6);
    argument_text(p, "what", column_text(row, 7));
    argument_integer(p, "bytes", row, 8);
    close_slice(p);
    if (sqlite3_column_type(row, 9) != SQLITE_NULL) {
        flow(p, 'f', &slice, integer_of(p, row, 9));
    }
}

struct memory {
    int64_t device, bytes;
    bool begun;
};

static void put_memory(struct perfetto *p, sqlite3_stmt *row, void *state)
{
    struct memory *memory = state;
    int64_t device = integer_of(p, row, 0);

    if (!memory->begun || memory->device != device) {
        *memory = (struct memory){.device = device, .begun = true};
    }
    if (__builtin_add_overflow(memory->bytes, integer_of(p, row, 2), &memory->bytes)) {
        memory->bytes = 0;
    }
    gmt_events_open(&p->events, 'C', pid_of(device), 0, integer_of(p, row, 1));
    fprintf(p->events.out, ",\"name\":\"%s\",\"args\":{\"bytes\":%" PRId64 "}",
            device < 0 ? "page-locked host memory" : "device memory", memory->bytes);
    gmt_events_close(&p->events);
}

static void put_process(struct perfetto *p, sqlite3_stmt *row, void *state)
{
    char name[512];

    (void)state;
    snprintf(name, sizeof(name), "%s%s (%" PRId64 ")",
             column_text(row, 2) != NULL ? "software device, times of the CPU: " : "",
             column_text(row, 0) != NULL ? column_text(row, 0) : "process", integer_of(p, row, 1));
    gmt_events_name(&p->events, "process_name", HOST_PID, 0, name);
    gmt_events_place(&p->events, "process_sort_index", HOST_PID, 0, HOST_PID);
}

static void take_origin(struct perfetto *p, sqlite3_stmt *row, void *state)
{
    (void)state;
    p->events.origin_ns = integer_of(p, row, 0);
}

/* Ranges were written from version 2 on. */
static bool has_ranges(const struct perfetto *p)
{
    return sqlite3_table_column_metadata(p->db, NULL, "range", "id", NULL, NULL, NULL, NULL,
                                         NULL) == SQLITE_OK;
}

static int name_rows(struct perfetto *p)
{
    int rc = gmt_export_names(p->db, has_ranges(p));

    if (rc != 0) {
        gmt_say(stderr, "gmanalyze: %s: %s\n", p->trace, gmt_guard_reason(p->db));
    }
    p->complained |= rc != 0;
    return rc;
}

static int put_calls(struct perfetto *p)
{
    struct track threads = {0};
    char *sql = sqlite3_mprintf(calls_sql, has_ranges(p) ? RANGES : "",
                                gmt_trace_has_column(p->db, "own_time", "work") ? OWN_TIME : "");
    int rc = sql != NULL ? for_rows(p, sql, put_call, &threads) : -ENOMEM;

    sqlite3_free(sql);
    return rc;
}

static int write_events(void *context, FILE *out)
{
    struct perfetto *p = context;
    struct track streams = {0};
    struct memory memory = {0};

    p->events.out = out;
    int rc = for_rows(p, origin_sql, take_origin, NULL);
    if (rc != 0) {
        return rc;
    }
    fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"tool\":\"gmtrace " GMT_VERSION
          "\",\"trace\":",
          out);
    gmt_events_text(&p->events, p->trace);
    fputs("},\"traceEvents\":[", out);
    rc = for_rows(p, process_sql, put_process, NULL);
    if (rc == 0) {
        rc = name_rows(p);
    }
    if (rc == 0) {
        rc = put_calls(p);
    }
    if (rc == 0) {
        rc = for_rows(p, device_sql, put_device_work, &streams);
    }
    if (rc == 0) {
        rc = for_rows(p, memory_sql, put_memory, &memory);
    }
    if (rc == 0) {
        rc = gmt_export_findings(&p->events, p->trace);
    }
    fputs("\n]}\n", out);
    return rc == 0 && ferror(out) ? -EIO : rc;
}

int gmt_export_perfetto(sqlite3 *db, const char *trace, const char *output)
{
    struct perfetto p = {.db = db, .trace = trace};
    int rc = output != NULL ? gmt_file_write(output, write_events, &p) : write_events(&p, stdout);

    if (rc == 0 && output == NULL && fflush(stdout) != 0) {
        rc = -errno;
    }
    if (rc == 0) {
        gmt_say(stderr, "gmanalyze: wrote %s, %" PRId64 " events\n",
                output != NULL ? output : "standard output", p.count);
    } else if (!p.complained) {
        gmt_say(stderr, "gmanalyze: %s: %s\n", output != NULL ? output : "standard output",
                gmt_command_reason(rc));
    }
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What rows of a trace say, as events of steps. */
#include "libtrace/store/steps/steps_derive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/db/guard.h"
#include "libtrace/store/db/names.h"
#include "libtrace/store/db/own_schema.h"
#include "libtrace/store/live/step_finder.h"
#include "libtrace/store/steps/steps.h"

#define SETTLE_EVENTS 16384u

/* Of all these queries. `kind` is a word of step_call; of ranges one of range.kind; 'copy' of an operation has CUPTI's kind in
 * `key`. */
enum read_column {
    TYPE,
    KIND,
    BEGIN_NS,
    END_NS,
    BYTES,
    KEY,
    STREAM,
    STACK,
    THREAD,
    CONTEXT,
    DEVICE,
    KERNEL,
    NAME,
    DOMAIN_NAME,
    DEPTH,
    COUNTS,
    BLOCKING,
    BATCHED,
    GRID, /* and what follows of the shape; of a range: what NCCL said */
    COMMUNICATOR = GRID,
    SIZE,
    RANKS,
    CALL = GRID + 6 /* launch.id, of a launch and of what it executed */
};

#define NO_NAMES "NULL, NULL, 0, "
#define NO_SHAPE "0, 0, 0, 0, 0, 0, 0 "
#define CALLED \
    "t.stack_id, t.thread_id, t.context_id, NULL, 0, " NO_NAMES "t.result = 0 AND t.capturing = " \
    "0, "
#define PLAIN_CALL(kind, bytes, key) \
    "SELECT 0, " kind ", t.begin_ns AS at, t.end_ns, " bytes ", " key ", 0, " CALLED

/* In the order of their begin; an operation counts from its start. */
static const struct {
    const char *table, *sql;
} sources[] = {
    {"transfer", PLAIN_CALL("'copy_' || t.direction", "t.bytes",
                            "0") "t.blocking, ifnull(t.batch, 0) > 0, " NO_SHAPE "FROM transfer t"},
    {"memset", PLAIN_CALL("'memset'", "t.bytes", "0") "0, 0, " NO_SHAPE "FROM memset t"},
    {"sync", PLAIN_CALL("'wait_' || t.kind", "0", "0") "0, 0, " NO_SHAPE "FROM sync t"},
    {"api_call", PLAIN_CALL("'other'", "0", "t.api_id") "0, 0, " NO_SHAPE "FROM api_call t"},
    {"launch",
     "SELECT 0, CASE t.kind WHEN 'graph' THEN 'graph' ELSE 'kernel' END, t.begin_ns AS at, "
     "t.end_ns, 0, CASE "
     "t.kind WHEN 'graph' THEN t.graph ELSE t.kernel_id END, s.handle, t.stack_id, t.thread_id, "
     "t.context_id, NULL, t.kernel_id, " NO_NAMES
     "t.result = 0 AND t.capturing = 0, 0, 0, t.grid_x, t.grid_y, "
     "t.grid_z, t.block_x, t.block_y, t.block_z, t.id FROM launch t LEFT JOIN stream s ON s.id = "
     "t.stream_id"},
    {"allocation", "SELECT 1, 'allocation', begin_ns AS at, end_ns, bytes, id, 0, stack_id, "
                   "thread_id, context_id, NULL, 0, " NO_NAMES "1, 0, 0, " NO_SHAPE
                   "FROM allocation WHERE begin_ns IS NOT NULL"},
    {"host_allocation", "SELECT 1, 'page_locking', begin_ns AS at, end_ns, bytes, id, 0, stack_id, "
                        "thread_id, context_id, NULL, 0, " NO_NAMES "1, 0, 0, " NO_SHAPE
                        "FROM host_allocation WHERE begin_ns IS NOT NULL"},
    {"allocation",
     "SELECT 2, 'free', free_begin_ns AS at, free_end_ns, 0, id, 0, free_stack_id, free_thread_id, "
     "context_id, NULL, "
     "0, " NO_NAMES "1, 0, 0, " NO_SHAPE "FROM allocation WHERE free_begin_ns IS NOT NULL"},
    {"host_allocation",
     "SELECT 2, 'free', free_begin_ns AS at, free_end_ns, 0, id, 0, free_stack_id, free_thread_id, "
     "context_id, NULL, "
     "0, " NO_NAMES "1, 0, 0, " NO_SHAPE "FROM host_allocation WHERE free_begin_ns IS NOT NULL"},
    {"device_op",
     "SELECT 3, t.kind, t.start_ns AS at, t.end_ns, t.bytes, t.copy_kind, "
     "t.cupti_stream, 0, 0, 0, t.device_id, 0, "
     "n.text, NULL, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, CASE t.kind WHEN 'kernel' THEN t.call_id END "
     "FROM device_op t LEFT JOIN main.string n ON n.id = t.kernel_name_id "
     "WHERE t.start_ns IS NOT NULL AND t.end_ns IS NOT NULL"},
    {"range", "SELECT 4, t.kind, t.begin_ns AS at, t.end_ns, 0, 0, 0, 0, t.thread_id, 0, NULL, 0, "
              "n.text, d.text, "
              "t.depth, 1, 0, 0, t.communicator, t.bytes, t.ranks, 0, 0, 0, 0 "
              "FROM range t LEFT JOIN main.string n ON n.id = t.name_id LEFT JOIN "
              "main.string d ON d.id = t.domain_id WHERE t.end_ns IS NOT NULL"},
};

struct derivation {
    sqlite3 *db;
    struct gmt_steps *steps;
    struct gmt_step_writer *writer;
    sqlite3_stmt *find, *add; /* names */
};

bool gmt_steps_only(sqlite3 *db)
{
    int64_t found = 0;
    return gmt_database_integer(db,
                                "SELECT count(*) FROM meta WHERE key = 'aggregate' AND value = '1'",
                                0, &found) == 0 &&
           found == 1;
}

/* ---- names ------------------------------------------------------------------------------------ */

/* string.id in the trace, or behind its texts. */
static int string_id(void *context, const char *text, int64_t *id)
{
    struct derivation *own = context;
    sqlite3_reset(own->find);
    (void)sqlite3_bind_text(own->find, 1, text, -1, SQLITE_STATIC);
    int code = sqlite3_step(own->find);
    *id = code == SQLITE_ROW ? sqlite3_column_int64(own->find, 0) : 0;
    sqlite3_reset(own->find);
    if (code == SQLITE_ROW) {
        return 0;
    }
    sqlite3_reset(own->add);
    (void)sqlite3_bind_text(own->add, 1, text, -1, SQLITE_STATIC);
    code = code == SQLITE_DONE ? sqlite3_step(own->add) : code;
    sqlite3_reset(own->add);
    *id = sqlite3_last_insert_rowid(own->db);
    return code == SQLITE_DONE ? 0 : gmt_database_error(own->db);
}

static uint32_t name_of(struct derivation *own, sqlite3_stmt *row, int column, size_t most)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text != NULL ? gmt_step_names_put(gmt_steps_names(own->steps), text, most) : 0;
}

/* ---- events ----------------------------------------------------------------------------------- */

static unsigned kind_of(const char *word, uint64_t key)
{
    if (word == NULL) {
        return GMT_STEP_OTHER;
    }
    if (strcmp(word, "copy") == 0) {
        return GMT_STEP_COPY_UNKNOWN + gmt_cupti_copy_direction((unsigned)key);
    }
    unsigned kind = 0;
    while (kind < GMT_STEP_OTHER &&
           strcmp(word, gmt_step_kind_word((enum gmt_step_kind)kind)) != 0) {
        kind++;
    }
    return kind;
}

static unsigned range_kind_of(const char *word)
{
    return word == NULL || strcmp(word, "push") == 0 ? GMT_RANGE_PUSH
           : strcmp(word, "start") == 0              ? GMT_RANGE_START
                                                     : GMT_RANGE_PROFILER;
}

static uint32_t small(sqlite3_stmt *row, enum read_column column)
{
    return (uint32_t)sqlite3_column_int64(row, column);
}

static uint64_t large(sqlite3_stmt *row, enum read_column column)
{
    return (uint64_t)sqlite3_column_int64(row, column);
}

static void read_payload(sqlite3_stmt *row, struct gmt_step_event *event)
{
    static const struct {
        enum gmt_range_field field;
        enum read_column column;
    } said[] = {
        {GMT_RANGE_COMMUNICATOR, COMMUNICATOR}, {GMT_RANGE_BYTES, SIZE}, {GMT_RANGE_RANKS, RANKS}};
    struct gmt_range_payload payload = {0};
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        if (sqlite3_column_type(row, said[i].column) == SQLITE_INTEGER) {
            payload.value[said[i].field] = large(row, said[i].column);
            payload.known |= 1u << said[i].field;
        }
    }
    gmt_step_event_set_payload(event, &payload);
}

static void read_event(struct derivation *own, sqlite3_stmt *row, struct gmt_step_event *event)
{
    const char *word = (const char *)sqlite3_column_text(row, KIND);
    *event = (struct gmt_step_event){
        .type = (uint8_t)small(row, TYPE),
        .begin_ns = large(row, BEGIN_NS),
        .end_ns = large(row, END_NS),
        .bytes = large(row, BYTES),
        .key = large(row, KEY),
        .stream = large(row, STREAM),
        .stack = small(row, STACK),
        .thread = small(row, THREAD),
        .context = small(row, CONTEXT),
        .device = small(row, DEVICE),
        .kernel = small(row, KERNEL),
        .call = small(row, CALL),
        .depth = (uint16_t)small(row, DEPTH),
        .flags = (uint8_t)((small(row, COUNTS) != 0 ? GMT_STEP_COUNTS : 0) |
                           (small(row, BLOCKING) != 0 ? GMT_STEP_BLOCKING : 0) |
                           (small(row, BATCHED) != 0 ? GMT_STEP_BATCHED : 0))};
    if (event->type == GMT_STEP_EVENT_RANGE) {
        event->kind = (uint8_t)range_kind_of(word);
        event->name = name_of(own, row, NAME, GMT_LIVE_NAME_BYTES - 1);
        event->domain = name_of(own, row, DOMAIN_NAME, GMT_LIVE_NAME_BYTES - 1);
        read_payload(row, event);
        return;
    }
    event->kind = (uint8_t)kind_of(word, event->key);
    if (event->type == GMT_STEP_EVENT_OP) {
        event->key = 0;
        event->flags = 0;
        event->name = event->kind == GMT_STEP_KERNEL ? name_of(own, row, NAME, SIZE_MAX) : 0;
    } else if (event->kind == GMT_STEP_KERNEL || event->kind == GMT_STEP_GRAPH) {
        uint32_t shape[6];
        for (int i = 0; i < 6; i++) {
            shape[i] = (uint32_t)sqlite3_column_int64(row, GRID + i);
        }
        event->key = gmt_step_finder_key(event->key, shape, shape + 3);
    }
}

/* One query of all tables that the trace has. */
static int open_events(sqlite3 *db, sqlite3_stmt **events)
{
    sqlite3_str *sql = sqlite3_str_new(db);
    const char *before = "";
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        if (gmt_trace_has_column(db, sources[i].table, "id")) {
            sqlite3_str_appendf(sql, "%s%s", before, sources[i].sql);
            before = " UNION ALL ";
        }
    }
    sqlite3_str_appendall(sql, " ORDER BY at");
    char *text = sqlite3_str_finish(sql);
    int code = text != NULL ? sqlite3_prepare_v2(db, text, -1, events, NULL) : SQLITE_NOMEM;
    sqlite3_free(text);
    return code == SQLITE_OK ? 0 : gmt_database_error(db);
}

/* In the order of begin: what ended before this one began is complete. */
static int read_events(struct derivation *own)
{
    sqlite3_stmt *row = NULL;
    uint64_t read = 0;
    int error = open_events(own->db, &row), code = SQLITE_DONE;
    while (error == 0 && (code = sqlite3_step(row)) == SQLITE_ROW) {
        struct gmt_step_event event;
        read_event(own, row, &event);
        if (++read % SETTLE_EVENTS == 0) {
            error = gmt_steps_settle(own->steps, event.begin_ns, own->writer);
        }
        error = error == 0 ? gmt_steps_add(own->steps, &event, own->writer) : error;
    }
    if (error == 0 && code != SQLITE_DONE) {
        gmt_guard_note_failure(own->db);
        error = gmt_database_error(own->db);
    }
    sqlite3_finalize(row);
    return error == 0 ? gmt_steps_finish(own->steps, 0, own->writer) : error;
}

/* ---- what events refer to --------------------------------------------------------------------- */

static unsigned family_of(const char *word)
{
    unsigned family = GMT_FAMILY_STREAM;
    while (family > GMT_FAMILY_OTHER && strcmp(word, gmt_name_family(family)) != 0) {
        family--;
    }
    return family;
}

static int note_row(struct derivation *own, sqlite3_stmt *row)
{
    uint32_t id = (uint32_t)sqlite3_column_int64(row, 1);
    const char *text = (const char *)sqlite3_column_text(row, 2);
    switch (sqlite3_column_int(row, 0)) {
    case 0: return gmt_steps_context(own->steps, id, (uint32_t)sqlite3_column_int64(row, 2));
    case 1: gmt_steps_api(own->steps, id, family_of(text != NULL ? text : "")); return 0;
    default: return gmt_steps_kernel(own->steps, id, text != NULL ? text : "", SIZE_MAX);
    }
}

static int read_names(struct derivation *own)
{
    static const char sql[] =
        "SELECT 0, id, device_id FROM context WHERE device_id IS NOT NULL UNION ALL SELECT 1, id, "
        "family FROM api UNION ALL SELECT 2, id, mangled FROM kernel ORDER BY 1, 2";
    sqlite3_stmt *row = NULL;
    int code = sqlite3_prepare_v2(own->db, sql, -1, &row, NULL), error = 0;
    code = code == SQLITE_OK ? SQLITE_ROW : code;
    while (error == 0 && code == SQLITE_ROW && (code = sqlite3_step(row)) == SQLITE_ROW) {
        error = note_row(own, row);
    }
    if (error == 0 && code != SQLITE_DONE) {
        error = gmt_database_error(own->db);
    }
    sqlite3_finalize(row);
    return error;
}

/* ---- tables ----------------------------------------------------------------------------------- */

static int for_tables(sqlite3 *db, const char *sql_of_tables, const char *format)
{
    sqlite3 *model = NULL;
    sqlite3_stmt *rows = NULL;
    int error = gmt_own_schema(&model);
    if (error == 0 && sqlite3_prepare_v2(model, sql_of_tables, -1, &rows, NULL) != SQLITE_OK) {
        error = -ENOMEM;
    }
    while (error == 0 && sqlite3_step(rows) == SQLITE_ROW) {
        char *sql = sqlite3_mprintf(format, (const char *)sqlite3_column_text(rows, 0));
        error = sql != NULL ? gmt_database_exec(db, sql) : -ENOMEM;
        sqlite3_free(sql);
    }
    sqlite3_finalize(rows);
    sqlite3_close(model);
    return error;
}

static int make_tables(sqlite3 *db)
{
    int error = for_tables(
        db,
        "SELECT substr(sql, 14) FROM sqlite_master WHERE type = 'table' AND (name = 'step' "
        "OR name GLOB 'step_*')",
        "CREATE TEMP TABLE %s");
    return error == 0 ? gmt_database_exec(db, "CREATE TEMP TABLE gmt_step_string(id INTEGER "
                                              "PRIMARY KEY, text TEXT NOT NULL UNIQUE);"
                                              "CREATE TEMP VIEW string AS SELECT id, text FROM "
                                              "main.string UNION ALL SELECT id, "
                                              "text FROM temp.gmt_step_string;")
                      : error;
}

static void drop_tables(sqlite3 *db)
{
    (void)for_tables(
        db,
        "SELECT name FROM sqlite_master WHERE type = 'table' AND (name = 'step' OR name GLOB "
        "'step_*')",
        "DROP TABLE IF EXISTS temp.\"%w\"");
    (void)gmt_database_exec(
        db, "DROP VIEW IF EXISTS temp.string; DROP TABLE IF EXISTS temp.gmt_step_string");
}

static int open_names(struct derivation *own)
{
    static const char find[] = "SELECT id FROM main.string WHERE text = ?1";
    static const char add[] =
        "INSERT INTO temp.gmt_step_string SELECT 1 + max(coalesce((SELECT max(id) FROM "
        "main.string), 0), coalesce((SELECT max(id) FROM temp.gmt_step_string), 0)), ?1";
    return sqlite3_prepare_v2(own->db, find, -1, &own->find, NULL) == SQLITE_OK &&
                   sqlite3_prepare_v2(own->db, add, -1, &own->add, NULL) == SQLITE_OK
               ? 0
               : gmt_database_error(own->db);
}

static int derive(struct derivation *own, const char *name)
{
    const struct gmt_step_sink sink = {.context = own, .string = string_id};
    int64_t begin_ns = 0;
    int error = gmt_database_integer(own->db, "SELECT min(start_ns) FROM process", 0, &begin_ns);
    if (error == 0) {
        own->steps = gmt_steps_open(name, GMT_STEP_COLLECTIVES_OF_CALLS, (uint64_t)begin_ns);
        error = own->steps != NULL ? open_names(own) : -ENOMEM;
    }
    error = error == 0 ? gmt_step_writer_open(own->db, "temp", GMT_STEP_ROWS, &sink, &own->writer)
                       : error;
    error = error == 0 ? read_names(own) : error;
    return error == 0 ? read_events(own) : error;
}

int gmt_steps_derive(sqlite3 *db, const char *name)
{
    struct derivation own = {.db = db};
    int64_t rows = 0;
    if (gmt_trace_has_column(db, "step", "id") &&
        gmt_database_integer(db, "SELECT count(*) FROM main.step", 0, &rows) == 0 && rows != 0) {
        return 0;
    }
    int error = make_tables(db);
    error = error == 0 ? derive(&own, name) : error;
    gmt_step_writer_close(own.writer);
    gmt_steps_close(own.steps);
    sqlite3_finalize(own.find);
    sqlite3_finalize(own.add);
    if (error != 0) {
        drop_tables(db);
    }
    return error;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A trace as Parquet files: opened, written table by table, moved to their places. */
#include "analyzer/parquet/trace_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/exit_codes.h"
#include "analyzer/parquet/place.h"
#include "analyzer/parquet/rows.h"
#include "analyzer/trace/open.h"
#include "libtrace/base/memory_limit.h"
#include "libtrace/base/printable.h"
#include "libtrace/store/db/guard.h"
#include "libtrace/store/db/own_schema.h"
#include "libtrace/store/steps/steps_derive.h"

struct export
{
    const struct gmt_duckdb *duckdb;
    void *database, *connection;
    sqlite3 *db, *model;
    struct gmt_parquet_tables tables;
    struct gmt_parquet_place place;
    struct gmt_parquet_rows rows;
    int64_t row_count;
    char left_out[1024]; /* tables that the trace's version lacks */
    char why[1024];
};

static const char *clock_word(const struct export *export)
{
    return export->place.has_wall_clock ? "realtime" : "monotonic";
}

static void explain(struct export *export, int rc)
{
    if (export->why[0] == '\0') {
        snprintf(export->why, sizeof(export->why), "%s", strerror(-rc));
    }
}

/* A setting or query whose text belongs to sqlite3_free. */
static int run(struct export *export, char *sql)
{
    int rc = sql != NULL ? gmt_duckdb_run(export->duckdb, export->connection, sql, export->why,
                                          sizeof(export->why))
                         : -ENOMEM;

    sqlite3_free(sql);
    return rc;
}

static int start_engine(struct export *export)
{
    const struct gmt_duckdb *duckdb = export->duckdb;

    if (duckdb->open(NULL, &export->database) != 0 ||
        duckdb->connect(export->database, &export->connection) != 0) {
        snprintf(export->why, sizeof(export->why), "DuckDB does not start");
        return -EIO;
    }
    export->rows.duckdb = duckdb;
    int rc = gmt_parquet_rows_register(&export->rows, export->connection);
    if (rc == 0) {
        rc = run(export, sqlite3_mprintf("SET threads = 1; SET memory_limit = '" GMT_PARQUET_MEMORY
                                         "'; SET temp_directory = '%q/spill'; "
                                         "SET preserve_insertion_order = false; "
                                         "SET autoinstall_known_extensions = false",
                                         export->place.unfinished));
    }
    return rc;
}

/* Keys of the file: what it is, and the unit of each column. */
static char *copy_sql(const struct export *export, const struct gmt_parquet_table *table,
                      const char *path)
{
    sqlite3_str *sql = sqlite3_str_new(NULL);

    sqlite3_str_appendf(
        sql,
        "COPY (SELECT * FROM gmt_rows()) TO '%q' (FORMAT parquet, COMPRESSION zstd, "
        "ROW_GROUP_SIZE_BYTES '32MB', KV_METADATA {\"gmtrace.schema\": '%d', "
        "\"gmtrace.table\": '%q', \"gmtrace.version\": '%q', "
        "\"gmtrace.clock\": '%q'",
        path, GMT_PARQUET_SCHEMA, table->name, GMT_VERSION, clock_word(export));
    for (size_t i = 0; i < table->column_count; i++) {
        const struct gmt_parquet_column *column = &table->columns[i];
        /* Without a wall clock times count from the start of the machine. */
        bool is_monotonic = column->kind == GMT_PARQUET_TIME && !export->place.has_wall_clock;

        sqlite3_str_appendf(sql, ", \"unit.%w\": '%q'", column->name,
                            is_monotonic ? "ns of CLOCK_MONOTONIC" : column->unit);
    }
    sqlite3_str_appendf(sql, "})");
    return sqlite3_str_finish(sql);
}

static int sync_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int rc = fd >= 0 && fsync(fd) == 0 ? 0 : -errno;

    if (fd >= 0) {
        close(fd);
    }
    return rc;
}

static int write_rows(struct export *export, const struct gmt_parquet_table *table)
{
    char path[PATH_MAX];
    int rc = gmt_parquet_place_file(&export->place, table->name, path);

    if (rc == 0) {
        rc = run(export, copy_sql(export, table, path));
    }
    if (export->rows.failed) {
        snprintf(export->why, sizeof(export->why), "%s", export->rows.why);
        return -EBADMSG;
    }
    export->row_count += rc == 0 ? export->rows.count : 0;
    return rc != 0 ? rc : sync_file(path);
}

static int write_table(struct export *export, const struct gmt_parquet_table *table)
{
    size_t used = strlen(export->left_out);
    bool is_own = strcmp(table->name, "trace") == 0;

    bool is_derived = sqlite3_table_column_metadata(export->db, "temp", table->name, NULL, NULL,
                                                    NULL, NULL, NULL, NULL) == SQLITE_OK;

    if (!is_own && !is_derived && !gmt_trace_has_column(export->db, table->name, NULL)) {
        snprintf(export->left_out + used, sizeof(export->left_out) - used, "%s%s",
                 used > 0 ? ", " : "", table->name);
        return 0;
    }
    if (sqlite3_prepare_v2(export->db, table->sql, -1, &export->rows.statement, NULL) !=
        SQLITE_OK) {
        snprintf(export->why, sizeof(export->why), "%s", gmt_guard_reason(export->db));
        return -EBADMSG;
    }
    if (is_own) {
        sqlite3_bind_int(export->rows.statement, 1, GMT_PARQUET_SCHEMA);
        sqlite3_bind_text(export->rows.statement, 2, clock_word(export), -1, SQLITE_STATIC);
        sqlite3_bind_int64(export->rows.statement, 3, export->place.clock_offset_ns);
    }
    export->rows.table = table;
    int rc = write_rows(export, table);
    sqlite3_finalize(export->rows.statement);
    export->rows.statement = NULL;
    return rc;
}

/* The table `trace` comes last and goes first: what it names is whole. */
static int publish(struct export *export)
{
    int rc = 0;

    gmt_parquet_place_withdraw(&export->place, export->tables.tables[0].name);
    for (size_t i = export->tables.count; rc == 0 && i > 0; i--) {
        rc = gmt_parquet_place_take(&export->place, export->tables.tables[i - 1].name);
    }
    return rc;
}

static int write_all(struct export *export, const char *folder)
{
    int rc = gmt_parquet_place_begin(&export->place, folder);

    if (rc == 0) {
        rc = gmt_own_schema(&export->model);
    }
    if (rc == 0) {
        rc = gmt_parquet_tables_make(&export->tables, export->model);
    }
    if (rc == 0) {
        rc = start_engine(export);
    }
    export->rows.trace_id = export->place.trace_id;
    export->rows.clock_offset_ns = export->place.clock_offset_ns;
    for (size_t i = 0; rc == 0 && i < export->tables.count; i++) {
        rc = write_table(export, &export->tables.tables[i]);
    }
    return rc == 0 ? publish(export) : rc;
}

static void close_all(struct export *export)
{
    if (export->connection != NULL) {
        export->duckdb->disconnect(&export->connection);
    }
    if (export->database != NULL) {
        export->duckdb->close(&export->database);
    }
    gmt_parquet_tables_free(&export->tables);
    sqlite3_close(export->model);
    sqlite3_close(export->db);
    if (export->place.lock >= 0) {
        close(export->place.lock);
    }
}

static void report(const struct export *export, const char *trace, const char *folder, int rc)
{
    if (rc != 0) {
        gmt_say(stderr, "gmanalyze: %s: not exported: %s\n", trace, export->why);
        return;
    }
    gmt_say(stderr, "gmanalyze: %s: wrote %lld rows to %s, trace_id %lld\n", trace,
            (long long)export->row_count, folder, (long long)export->place.trace_id);
    if (export->left_out[0] != '\0') {
        gmt_say(stderr,
                "gmanalyze: %s: left out %s: the trace is of a version without these tables\n",
                trace, export->left_out);
    }
    if (!export->place.has_wall_clock) {
        gmt_say(
            stderr,
            "gmanalyze: %s: has no wall clock: its times cannot be compared with other hosts'\n",
            trace);
    }
}

int gmt_parquet_trace(const struct gmt_duckdb *duckdb, const char *trace, const char *folder,
                      const char *run_name)
{
    struct export export = {.duckdb = duckdb, .place = {.lock = -1}};
    char message[PATH_MAX + 512];

    if (gmt_open_trace(trace, &export.db, message, sizeof(message)) != 0) {
        gmt_say(stderr, "gmanalyze: %s\n", message);
        return GMT_EXIT_UNREADABLE;
    }
    /* From here on most of the memory is DuckDB's, which has a limit of its own. */
    gmt_memory_limit_lift();
    if (gmt_steps_derive(export.db, "") != 0) {
        gmt_say(stderr, "gmanalyze: %s: its steps could not be summed up: %s\n", trace,
                gmt_guard_reason(export.db));
    }
    int rc = gmt_parquet_place_find(&export.place, export.db, trace, run_name, export.why,
                                    sizeof(export.why));
    if (rc == 0) {
        rc = write_all(&export, folder);
    }
    if (rc != 0) {
        explain(&export, rc);
    }
    report(&export, trace, folder, rc);
    close_all(&export);
    return rc == 0 ? GMT_EXIT_OK : GMT_EXIT_UNREADABLE;
}

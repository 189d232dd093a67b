/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over steps of all traces of an exported folder, one query per table. */
#include "analyzer/parquet/read_ranks.h"

#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/fleet/rank_stream.h"
#include "analyzer/fleet/rank_sums.h"
#include "analyzer/parquet/tables.h"

enum { COLUMNS_MOST = 10 };

struct read_rank {
    int64_t trace_id;
    bool is_twice; /* its process is read, its sums are not */
    struct gmt_fleet_rank rank;
    struct gmt_rank_sums sums;
};

struct rank_reading {
    const struct gmt_duckdb *duckdb;
    void *database, *connection;
    const char *folder;
    struct gmt_arena arena;
    struct read_rank *ranks; /* by trace_id */
    size_t count, at;
    char *message;
    size_t bytes;
};

/* One row: what its columns hold, by their place. */
struct read_row {
    int64_t number[COLUMNS_MOST];
    const char *text[COLUMNS_MOST]; /* until the next row; NULL: unknown */
    struct gmt_arena *arena;
};

/* ---- tables ----------------------------------------------------------------------------------- */

static int take_process(struct read_rank *rank, const struct read_row *row)
{
    struct gmt_fleet_rank *of = &rank->rank;

    of->host = gmt_arena_copy(row->arena, row->text[1]);
    of->rank = gmt_arena_copy(row->arena, row->text[2]);
    of->traits[GMT_FLEET_TOOL] = gmt_arena_copy(row->arena, row->text[3]);
    of->end_reason = gmt_arena_copy(row->arena, row->text[4]);
    of->life.has_exit_status = row->number[5] >= 0;
    of->life.exit_status = row->number[5];
    if (of->has_wall_clock && row->number[7] > row->number[6]) {
        of->life.begin_ns = row->number[6];
        of->life.end_ns = row->number[7];
    }
    return 0;
}

static int take_device(struct read_rank *rank, const struct read_row *row)
{
    rank->rank.traits[GMT_FLEET_DEVICE] = gmt_arena_copy(row->arena, row->text[1]);
    rank->rank.traits[GMT_FLEET_DRIVER] = gmt_arena_copy(row->arena, row->text[2]);
    return 0;
}

static int take_step(struct read_rank *rank, const struct read_row *row)
{
    return gmt_rank_sums_step(&rank->sums, (int32_t)row->number[1], row->number[2],
                              row->number[3] != 0, row->number[4], row->number[5]);
}

static int take_call(struct read_rank *rank, const struct read_row *row)
{
    gmt_rank_sums_call(&rank->sums, (int32_t)row->number[1], row->text[2], row->number[3],
                       row->number[4], row->number[5]);
    return 0;
}

static int take_work(struct read_rank *rank, const struct read_row *row)
{
    gmt_rank_sums_work(&rank->sums, (int32_t)row->number[1], row->text[2], row->number[3],
                       row->number[4]);
    return 0;
}

static int take_time(struct read_rank *rank, const struct read_row *row)
{
    gmt_rank_sums_time(&rank->sums, (int32_t)row->number[1], row->number[2] != 0, row->number[3]);
    return 0;
}

static int take_own(struct read_rank *rank, const struct read_row *row)
{
    gmt_rank_sums_own(&rank->sums, row->number[1], row->number[2]);
    return 0;
}

static int take_memory(struct read_rank *rank, const struct read_row *row)
{
    gmt_rank_sums_memory(&rank->sums, (int32_t)row->number[1], row->number[2], row->number[3]);
    return 0;
}

/* Times of the files are of the wall clock where there is one. */
static int take_collective(struct read_rank *rank, const struct read_row *row)
{
    const struct gmt_collective_row of = {.name = row->text[1],
                                          .position = row->number[2],
                                          .begin_ns = row->number[3],
                                          .end_ns = row->number[4],
                                          .communicator = row->number[5],
                                          .number = row->number[6],
                                          .ranks = row->number[7],
                                          .bytes = row->number[8]};

    gmt_rank_sums_collectives(&rank->sums, row->number[9]);
    return gmt_rank_sums_collective(&rank->sums, &of, 0);
}

#define FILES \
    "read_parquet('%q/%s/*/*/*/*.parquet', hive_partitioning = false, union_by_name = true)"

/*
 * In this order. `columns`: a letter per column, n: number, t: text; the first is trace_id, by which rows come. %s stands for
 * the files of `table`, behind them of `second`, and of `capability`. Files of versions that lack a column of others have it as NULL by
 * union_by_name, which is also three times as fast (docs/measurements.md).
 */
static const struct rank_table {
    const char *table, *second, *columns, *sql;
    int (*take)(struct read_rank *rank, const struct read_row *row);
} tables[] = {
    {"process", NULL, "nttttnnn",
     "SELECT trace_id, hostname, process_rank, tool_version, end_reason, "
     "CAST(coalesce(exit_status, -1) AS BIGINT), start_ns, end_ns FROM %s QUALIFY row_number() "
     "OVER (PARTITION BY trace_id ORDER BY id) = 1 ORDER BY 1",
     take_process},
    {"device", NULL, "ntt",
     "SELECT trace_id, name, driver_version FROM %s QUALIFY row_number() OVER (PARTITION BY "
     "trace_id ORDER BY id) = 1 ORDER BY 1",
     take_device},
    {"step", NULL, "nnnnnn",
     "SELECT trace_id, id, steps, CAST(source = 'slice' AND bool_or(source <> 'slice') OVER "
     "(PARTITION BY trace_id) AS BIGINT), begin_ns, end_ns FROM %s ORDER BY 1, 2",
     take_step},
    {"step_call", NULL, "nntnnn",
     "SELECT trace_id, step_id, kind, CAST(sum(calls) AS BIGINT), CAST(sum(bytes) AS BIGINT), "
     "CAST(sum(host_ns) AS BIGINT) FROM %s GROUP BY ALL ORDER BY 1, 2",
     take_call},
    {"step_work", NULL, "nntnn",
     "SELECT trace_id, step_id, kind, CAST(sum(bytes) AS BIGINT), CAST(sum(device_ns) AS BIGINT) "
     "FROM %s GROUP BY ALL ORDER BY 1, 2",
     take_work},
    {"step_time", NULL, "nnnn",
     "SELECT trace_id, step_id, CAST(cause = 'host_code' AS BIGINT), CAST(sum(ns) AS BIGINT) FROM "
     "%s GROUP BY ALL ORDER BY 1, 2",
     take_time},
    {"own_time", "capability", "nnn",
     "SELECT trace_id, begin_ns, end_ns FROM %s WHERE beside = 0 AND trace_id NOT IN (SELECT "
     "trace_id "
     "FROM %s WHERE name = 'software_device') ORDER BY 1",
     take_own},
    {"step_memory", NULL, "nnnn",
     "SELECT trace_id, step_id, CAST(sum(live_bytes) AS BIGINT), CAST(sum(peak_bytes) AS BIGINT) "
     "FROM %s WHERE device_id IS NOT NULL GROUP BY ALL ORDER BY 1, 2",
     take_memory},
    /* Files of before format 12 lack columns. The same choice as gmt_fleet_collectives_choose makes of a trace. */
    {"step_collective", "string", "ntnnnnnnnn",
     "SELECT c.trace_id, n.text, c.position, c.begin_ns, c.end_ns, c.communicator, c.number, "
     "c.ranks, c.bytes, count(*) OVER (PARTITION BY c.trace_id) FROM (SELECT *, bool_or(source = "
     "'device') OVER (PARTITION BY trace_id) AS on_device FROM (SELECT * FROM %s UNION ALL BY NAME "
     "SELECT 0::BIGINT AS communicator, 0::BIGINT AS number, 0::BIGINT AS ranks, 0::BIGINT AS "
     "bytes, 0::BIGINT AS grouped WHERE false)) c LEFT JOIN %s n ON n.trace_id = c.trace_id AND "
     "n.id = c.name_id WHERE c.source = CASE WHEN c.on_device THEN 'device' ELSE 'range' END AND "
     "(c.on_device OR (c.number IS NOT NULL AND c.grouped IS NULL AND c.trace_id IN (SELECT "
     "trace_id FROM %s WHERE name = 'software_device'))) ORDER BY 1, 3",
     take_collective},
};

/* ---- rows ------------------------------------------------------------------------------------- */

static bool is_valid(const uint64_t *validity, uint64_t row)
{
    return validity == NULL || (validity[row / 64] >> (row % 64) & 1) != 0;
}

/* Of the arena, as it has no zero at its end. */
static const char *text_of(const union gmt_duckdb_text *text, struct gmt_arena *arena)
{
    size_t bytes = text->here.bytes;
    char *copy = gmt_arena_alloc(arena, bytes + 1);

    if (copy != NULL) {
        memcpy(copy, bytes <= sizeof(text->here.text) ? text->here.text : text->there.text, bytes);
    }
    return copy;
}

static void read_row(const struct rank_reading *reading, void *chunk, uint64_t at,
                     const char *columns, struct read_row *row)
{
    const struct gmt_duckdb *duckdb = reading->duckdb;

    for (uint64_t i = 0; columns[i] != '\0'; i++) {
        void *vector = duckdb->data_chunk_get_vector(chunk, i);
        void *data = duckdb->vector_get_data(vector);
        bool valid = is_valid(duckdb->vector_get_validity(vector), at);

        row->number[i] = columns[i] == 'n' && valid ? ((int64_t *)data)[at] : 0;
        row->text[i] = columns[i] == 't' && valid
                           ? text_of(&((union gmt_duckdb_text *)data)[at], row->arena)
                           : NULL;
    }
}

typedef int (*row_taker)(struct rank_reading *reading, const struct read_row *row,
                         const void *context);

/* Texts of the rows of one chunk are freed together. sql: sqlite3_free. */
static int ask(struct rank_reading *reading, char *sql, const char *columns, row_taker take,
               const void *context)
{
    const struct gmt_duckdb *duckdb = reading->duckdb;
    struct gmt_duckdb_result result = {0};
    int rc = sql != NULL ? 0 : -ENOMEM;

    if (rc == 0 && duckdb->query(reading->connection, sql, &result) != 0) {
        const char *error = duckdb->result_error(&result);

        snprintf(reading->message, reading->bytes, "%s", error != NULL ? error : "DuckDB failed");
        rc = -EIO;
    }
    for (void *chunk; rc == 0 && (chunk = duckdb->fetch_chunk(result)) != NULL;) {
        struct gmt_arena texts = {0};
        struct read_row row = {.arena = &texts};

        for (uint64_t at = 0; rc == 0 && at < duckdb->data_chunk_get_size(chunk); at++) {
            read_row(reading, chunk, at, columns, &row);
            rc = texts.failed ? -ENOMEM : take(reading, &row, context);
        }
        gmt_arena_free(&texts);
        duckdb->destroy_data_chunk(&chunk);
    }
    if (sql != NULL) {
        duckdb->destroy_result(&result);
    }
    sqlite3_free(sql);
    return rc;
}

/* "run=A" of "DIR/TABLE/run=A/host=H/rank=0/FILE", of the arena. */
static const char *run_of(const struct rank_reading *reading, const char *file,
                          struct gmt_arena *arena)
{
    const char *table = strncmp(file, reading->folder, strlen(reading->folder)) == 0
                            ? file + strlen(reading->folder)
                            : file;
    const char *run = strstr(table, "/run=");

    return run == NULL ? file : gmt_arena_text(arena, "%.*s", (int)strcspn(run + 1, "/"), run + 1);
}

/* Rows of both would be added up: tables are joined by trace_id alone. */
static int say_twice(struct rank_reading *reading, struct read_rank *rank, const char *one,
                     const char *two)
{
    const char *run = run_of(reading, one, &reading->arena);
    const char *other = run_of(reading, two, &reading->arena);

    if (run == NULL || other == NULL) {
        return -ENOMEM;
    }
    bool same = strcmp(run, other) == 0;
    rank->is_twice = true;
    rank->rank.trouble = gmt_arena_text(&reading->arena, "it is there twice, as %s and %s",
                                        same ? one : run, same ? two : other);
    return rank->rank.trouble != NULL ? 0 : -ENOMEM;
}

static int take_trace(struct rank_reading *reading, const struct read_row *row, const void *context)
{
    struct read_rank *last = reading->count > 0 ? &reading->ranks[reading->count - 1] : NULL;

    (void)context;
    if (last != NULL && last->trace_id == row->number[0]) {
        return say_twice(reading, last, last->rank.trace, row->text[1]);
    }
    struct read_rank *added = GMT_PUSH(&reading->arena, reading->ranks, reading->count);
    if (added == NULL) {
        return -ENOMEM;
    }
    *added = (struct read_rank){.trace_id = row->number[0]};
    added->rank.trace = gmt_arena_copy(&reading->arena, row->text[1]);
    added->rank.has_wall_clock = row->number[3] != 0;
    if (row->number[2] != GMT_PARQUET_SCHEMA) {
        added->rank.trouble = gmt_arena_text(
            &reading->arena, "its files have the form %lld, and this gmanalyze reads %d",
            (long long)row->number[2], GMT_PARQUET_SCHEMA);
    }
    return 0;
}

/* Two files of one name in one table: of a trace, though it may be in the table `trace` once, as its exporter was killed. */
static int take_twice(struct rank_reading *reading, const struct read_row *row, const void *context)
{
    const char *name = row->text[0];
    int64_t trace_id = name != NULL ? (int64_t)strtoull(name, NULL, 16) : 0;

    (void)context;
    for (size_t i = 0; i < reading->count; i++) {
        struct read_rank *rank = &reading->ranks[i];

        if (rank->trace_id == trace_id && rank->rank.trouble == NULL) {
            return say_twice(reading, rank, row->text[1], row->text[2]);
        }
    }
    return 0;
}

static int take_by_trace(struct rank_reading *reading, const struct read_row *row,
                         const void *context)
{
    const struct rank_table *table = context;

    while (reading->at < reading->count && reading->ranks[reading->at].trace_id < row->number[0]) {
        reading->at++;
    }
    if (reading->at >= reading->count || reading->ranks[reading->at].trace_id != row->number[0]) {
        return 0; /* of a trace that is being written */
    }
    struct read_rank *rank = &reading->ranks[reading->at];
    struct read_row own = *row;
    own.arena = &reading->arena;
    bool is_read = rank->rank.trouble == NULL || (rank->is_twice && table->take == take_process);
    return is_read ? table->take(rank, &own) : 0;
}

/* ---- all of it -------------------------------------------------------------------------------- */

static bool has_table(const struct rank_reading *reading, const char *table)
{
    char path[PATH_MAX];

    return snprintf(path, sizeof(path), "%s/%s", reading->folder, table) < (int)sizeof(path) &&
           access(path, F_OK) == 0;
}

static int read_table(struct rank_reading *reading, const struct rank_table *table)
{
    /* A table that none of the traces has, as they are of an earlier version. */
    if (!has_table(reading, table->table) ||
        (table->second != NULL && !has_table(reading, table->second))) {
        return 0;
    }
    char *first = sqlite3_mprintf(FILES, reading->folder, table->table);
    char *second = sqlite3_mprintf(FILES, reading->folder,
                                   table->second != NULL ? table->second : table->table);
    char *capability = has_table(reading, "capability")
                           ? sqlite3_mprintf(FILES, reading->folder, "capability")
                           : sqlite3_mprintf("(SELECT 0::BIGINT AS trace_id, '' AS name)");
    char *sql = first != NULL && second != NULL && capability != NULL
                    ? sqlite3_mprintf(table->sql, first, second, capability)
                    : NULL;

    sqlite3_free(first);
    sqlite3_free(second);
    sqlite3_free(capability);
    reading->at = 0;
    return ask(reading, sql, table->columns, take_by_trace, table);
}

static int open_engine(struct rank_reading *reading)
{
    const struct gmt_duckdb *duckdb = reading->duckdb;

    if (duckdb->open(NULL, &reading->database) != 0 ||
        duckdb->connect(reading->database, &reading->connection) != 0) {
        snprintf(reading->message, reading->bytes, "DuckDB does not start");
        return -EIO;
    }
    return gmt_duckdb_run(duckdb, reading->connection,
                          "SET memory_limit = '" GMT_PARQUET_READ_MEMORY
                          "'; SET temp_directory = ''; SET autoinstall_known_extensions = false",
                          reading->message, reading->bytes);
}

static int read_all(struct rank_reading *reading)
{
    int rc = open_engine(reading);

    if (rc == 0) {
        rc = ask(reading,
                 sqlite3_mprintf("SELECT trace_id, filename, schema, CAST(clock = 'realtime' AS "
                                 "BIGINT) FROM read_parquet('%q/trace/*/*/*/*.parquet', "
                                 "hive_partitioning = false, union_by_name = true, filename = "
                                 "true) ORDER BY 1, 2",
                                 reading->folder),
                 "ntnn", take_trace, NULL);
    }
    if (rc == 0) {
        rc = ask(reading,
                 sqlite3_mprintf(
                     "SELECT name, min(file), max(file) FROM (SELECT file, regexp_extract(file, "
                     "'([0-9a-f]+)[.]parquet$', 1) AS name, regexp_extract(file, "
                     "'([^/]+)/[^/]+/[^/]+/[^/]+/[^/]+$', 1) AS of FROM "
                     "glob('%q/*/*/*/*/*.parquet')) GROUP BY of, name HAVING count(*) > 1 AND name "
                     "<> ''",
                     reading->folder),
                 "ttt", take_twice, NULL);
    }
    for (size_t i = 0; rc == 0 && i < reading->count; i++) {
        struct read_rank *rank = &reading->ranks[i];

        rank->sums = (struct gmt_rank_sums){.rank = &rank->rank, .arena = &reading->arena};
    }
    for (size_t i = 0; rc == 0 && i < sizeof(tables) / sizeof(tables[0]); i++) {
        rc = read_table(reading, &tables[i]);
    }
    for (size_t i = 0; rc == 0 && i < reading->count; i++) {
        rc = gmt_rank_sums_finish(&reading->ranks[i].sums);
    }
    return rc;
}

int gmt_parquet_read_ranks(const struct gmt_duckdb *duckdb, const char *folder, FILE *out,
                           char *message, size_t bytes)
{
    struct rank_reading reading = {
        .duckdb = duckdb, .folder = folder, .message = message, .bytes = bytes};
    message[0] = '\0';
    int rc = read_all(&reading);

    for (size_t i = 0; rc == 0 && i < reading.count; i++) {
        rc = gmt_fleet_rank_send(&reading.ranks[i].rank, out);
    }
    if (rc != 0 && message[0] == '\0') {
        snprintf(message, bytes, "%s", strerror(-rc));
    }
    if (reading.connection != NULL) {
        duckdb->disconnect(&reading.connection);
    }
    if (reading.database != NULL) {
        duckdb->close(&reading.database);
    }
    gmt_arena_free(&reading.arena);
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Whether hooks and CUPTI agree: of each kind, the work that calls made and the records of it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/recording/coverage.h"
#include "libtrace/store/recording/coverage_internal.h"

/* Made while records of devices were off; a thread that overlaps the switching may have been either. Such times are apart, but for
 * one that another follows at once. */
#define IN_GAP \
    "EXISTS (SELECT 1 FROM (SELECT g.begin_ns AS opened, g.end_ns AS closed, " \
    "ifnull(g.switch_ns, 0) AS around FROM device_gap g WHERE g.begin_ns <= c.end_ns + 100000 " \
    "ORDER BY g.begin_ns DESC LIMIT 2) WHERE opened - around <= c.end_ns AND " \
    "ifnull(closed, c.begin_ns) + around >= c.begin_ns)"
#define WITHOUT_RECORD "device_end_ns IS NULL AND " IN_GAP
/* What a call leaves no record of: it failed, moved nothing, or went into a graph (GMT_CAPTURING_STEP did run). */
#define CALL_SUMS(optional) \
    "sum(result = 0 AND capturing IN (0, 3) AND bytes > 0 AND NOT (" optional \
    ") AND NOT (" WITHOUT_RECORD ")), " \
    "sum(result = 0 AND capturing IN (0, 3) AND bytes > 0 AND device_end_ns IS NOT NULL), " \
    "sum(result <> 0), sum(result = 0 AND bytes = 0), " \
    "sum(result = 0 AND bytes > 0 AND capturing = 1), " \
    "sum(result = 0 AND capturing IN (0, 3) AND bytes > 0 AND (" optional ")), " \
    "sum(result = 0 AND capturing IN (0, 3) AND bytes > 0 AND NOT (" optional \
    ") AND " WITHOUT_RECORD ")"
/* A copy within the host's memory may be done by the host. */
#define WITHIN_HOST "direction = 'h2h' AND device_end_ns IS NULL"

#define EXAMPLE_CALLS(table, what) \
    "SELECT c.id, a.name || " what " || coalesce(', stream ' || c.stream_id, '') FROM " table \
    " c LEFT JOIN api a ON a.id = c.api_id WHERE c.result = 0 AND c.capturing IN (0, 3) AND " \
    "c.device_end_ns IS NULL AND NOT " IN_GAP " AND "
#define EXAMPLE_RECORDS(kind, what) \
    "SELECT o.id, " what " || coalesce(', stream ' || o.cupti_stream || ' of CUPTI', '') " \
    "FROM device_op o LEFT JOIN string s ON s.id = o.kernel_name_id " \
    "WHERE o.call_id IS NULL AND o.graph IS NULL AND o.kind = '" kind "' ORDER BY o.id LIMIT "
#define EXAMPLES "3"

/* `sums`: expected, seen, failed, of zero bytes, captured, optional, made while records were off. */
static const struct record_kind {
    const char *what, *record, *sums, *optional, *calls, *records;
} kinds[] = {
    {"copies", "copy", "SELECT " CALL_SUMS(WITHIN_HOST) " FROM transfer c", "within host memory",
     EXAMPLE_CALLS("transfer",
                   "' of ' || c.bytes || ' bytes'") "c.bytes > 0 AND c.direction <> "
                                                    "'h2h' ORDER BY c.id LIMIT " EXAMPLES,
     EXAMPLE_RECORDS("copy", "'copy of ' || o.bytes || ' bytes'") EXAMPLES},
    {"memsets", "memset", "SELECT " CALL_SUMS("0") " FROM memset c", "",
     EXAMPLE_CALLS("memset", "' of ' || c.bytes || ' bytes'") "c.bytes > 0 ORDER BY c.id "
                                                              "LIMIT " EXAMPLES,
     EXAMPLE_RECORDS("memset", "'memset of ' || o.bytes || ' bytes'") EXAMPLES},
    {"kernels", "kernel",
     "SELECT sum(result = 0 AND capturing IN (0, 3) AND no_activity = 0), "
     "sum(result = 0 AND capturing IN (0, 3) AND no_activity = 0 AND device_end_ns IS NOT NULL), "
     "sum(result <> 0), 0, sum(result = 0 AND capturing = 1), "
     "sum(result = 0 AND capturing IN (0, 3) AND no_activity <> 0 AND NOT " IN_GAP "), "
     "sum(result = 0 AND capturing IN (0, 3) AND no_activity <> 0 AND " IN_GAP ") "
     "FROM launch c WHERE kind <> 'graph'",
     "while counters were measured",
     EXAMPLE_CALLS("launch", "' number ' || c.seq") "c.kind <> 'graph' AND c.no_activity = 0 "
                                                    "ORDER BY c.id LIMIT " EXAMPLES,
     EXAMPLE_RECORDS("kernel", "coalesce(s.text, 'kernel')") EXAMPLES},
};

static void add_part(char *text, size_t bytes, int64_t count, const char *what)
{
    size_t used = strlen(text);
    if (count != 0) {
        (void)snprintf(text + used, bytes - used, "%s%" PRId64 " %s", used != 0 ? ", " : "", count,
                       what);
    }
}

static int store_examples(sqlite3 *db, const char *what, const char *side, const char *sql)
{
    sqlite3_stmt *rows;
    int error = 0, code = SQLITE_DONE;
    if (sqlite3_prepare_v2(db, sql, -1, &rows, NULL) != SQLITE_OK) {
        return gmt_database_error(db);
    }
    while (error == 0 && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        error = gmt_coverage_put_example(db, what, side, sqlite3_column_int64(rows, 0),
                                         (const char *)sqlite3_column_text(rows, 1));
    }
    if (error == 0 && code != SQLITE_DONE) {
        error = gmt_database_error(db);
    }
    sqlite3_finalize(rows);
    return error;
}

/* The device records of a kind: all, those without a call, copies that share one, halves of copies. */
struct records {
    int64_t all, extra, merged, halves;
};

static int count_records(sqlite3 *db, const char *kind, struct records *records)
{
    sqlite3_stmt *row;
    int error = 0;
    if (sqlite3_prepare_v2(db,
                           "SELECT count(*), coalesce(sum(call_id IS NULL), 0), "
                           "coalesce(sum(call_id IS NOT NULL AND copy_count > 1), 0), "
                           "coalesce(sum(call_id IS NOT NULL AND copy_kind IN (1, 2) AND "
                           "src_kind = 3 AND dst_kind = 3), 0) "
                           "FROM device_op WHERE kind = ? AND graph IS NULL",
                           -1, &row, NULL) != SQLITE_OK) {
        return gmt_database_error(db);
    }
    sqlite3_bind_text(row, 1, kind, -1, SQLITE_STATIC);
    if (sqlite3_step(row) == SQLITE_ROW) {
        *records = (struct records){sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
                                    sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 3)};
    } else {
        error = gmt_database_error(db);
    }
    sqlite3_finalize(row);
    return error;
}

static int check_kind(sqlite3 *db, const struct record_kind *kind)
{
    sqlite3_stmt *sums;
    struct records records = {0};
    struct gmt_coverage_row row = {.what = kind->what};
    char *detail = row.detail;
    int error = count_records(db, kind->record, &records);
    if (error != 0 || sqlite3_prepare_v2(db, kind->sums, -1, &sums, NULL) != SQLITE_OK) {
        return error != 0 ? error : gmt_database_error(db);
    }
    if (sqlite3_step(sums) != SQLITE_ROW) {
        error = gmt_database_error(db);
    }
    row.expected = sqlite3_column_int64(sums, 0);
    row.seen = sqlite3_column_int64(sums, 1);
    row.extra = records.extra;
    add_part(detail, sizeof(row.detail), records.all, "records");
    add_part(detail, sizeof(row.detail), records.merged, "of these for several calls of a batch");
    add_part(detail, sizeof(row.detail), records.halves,
             "of these for copies between devices through the host");
    add_part(detail, sizeof(row.detail), sqlite3_column_int64(sums, 2), "calls failed");
    add_part(detail, sizeof(row.detail), sqlite3_column_int64(sums, 3), "of zero bytes");
    add_part(detail, sizeof(row.detail), sqlite3_column_int64(sums, 4), "into graphs");
    add_part(detail, sizeof(row.detail), sqlite3_column_int64(sums, 5), kind->optional);
    add_part(detail, sizeof(row.detail), sqlite3_column_int64(sums, 6), "while records were off");
    sqlite3_finalize(sums);
    if (error != 0 || (row.expected == 0 && row.extra == 0) ||
        (error = gmt_coverage_row(db, &row)) != 0) {
        return error;
    }
    if (row.seen < row.expected) {
        error = store_examples(db, kind->what, "call", kind->calls);
    }
    return error == 0 && row.extra > 0 ? store_examples(db, kind->what, "record", kind->records)
                                       : error;
}

int gmt_coverage_records(sqlite3 *db)
{
    static const char available[] = "SELECT 1 FROM capability WHERE name = 'timestamps' "
                                    "AND state = 'ok'";
    int64_t timestamps;
    int error = gmt_database_integer(db, available, 0, &timestamps);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && error == 0 && timestamps != 0; i++) {
        error = check_kind(db, &kinds[i]);
    }
    return error == 0 && timestamps != 0 ? gmt_coverage_graphs(db) : error;
}

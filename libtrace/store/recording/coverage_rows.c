/* SPDX-License-Identifier: Apache-2.0 */
/* Stores what the comparison of calls with device records found. */
#include <stddef.h>

#include "libtrace/store/db/run_sql.h"
#include "libtrace/store/recording/coverage_internal.h"

int gmt_coverage_row(sqlite3 *db, const struct gmt_coverage_row *row)
{
    sqlite3_stmt *insert;
    if (sqlite3_prepare_v2(db,
                           "INSERT INTO coverage(kind, what, expected, seen, extra, detail) "
                           "VALUES('records', ?, ?, ?, ?, nullif(?, ''))",
                           -1, &insert, NULL) != SQLITE_OK) {
        return gmt_database_error(db);
    }
    sqlite3_bind_text(insert, 1, row->what, -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 2, row->expected);
    sqlite3_bind_int64(insert, 3, row->seen);
    sqlite3_bind_int64(insert, 4, row->extra);
    sqlite3_bind_text(insert, 5, row->detail, -1, SQLITE_STATIC);
    int error = sqlite3_step(insert) == SQLITE_DONE ? 0 : gmt_database_error(db);
    sqlite3_finalize(insert);
    return error;
}

int gmt_coverage_put_example(sqlite3 *db, const char *what, const char *side, int64_t id,
                             const char *detail)
{
    sqlite3_stmt *insert;
    if (sqlite3_prepare_v2(db, "INSERT INTO coverage_example VALUES(?, ?, ?, ?)", -1, &insert,
                           NULL) != SQLITE_OK) {
        return gmt_database_error(db);
    }
    sqlite3_bind_text(insert, 1, what, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 2, side, -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 3, id);
    sqlite3_bind_text(insert, 4, detail, -1, SQLITE_STATIC);
    int error = sqlite3_step(insert) == SQLITE_DONE ? 0 : gmt_database_error(db);
    sqlite3_finalize(insert);
    return error;
}

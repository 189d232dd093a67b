/* SPDX-License-Identifier: Apache-2.0 */
/* A trace as CSV: each view a file of its own. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/commands/commands.h"
#include "analyzer/commands/export/export.h"
#include "analyzer/commands/views.h"
#include "libtrace/base/file.h"
#include "libtrace/base/printable.h"
#include "libtrace/store/db/guard.h"
#include "reports/csv.h"

/* Cells are written as they are, whatever their type: nothing is computed from them. */
int gmt_csv_rows(sqlite3_stmt *statement, FILE *out, long *rows)
{
    int columns = sqlite3_column_count(statement), rc;

    for (int i = 0; i < columns; i++) {
        fputs(i > 0 ? GMT_CSV_NEXT : "", out);
        gmt_csv_text(out, sqlite3_column_name(statement, i));
    }
    fputs(GMT_CSV_END, out);
    for (*rows = 0; (rc = sqlite3_step(statement)) == SQLITE_ROW; (*rows)++) {
        for (int i = 0; i < columns; i++) {
            fputs(i > 0 ? GMT_CSV_NEXT : "", out);
            gmt_csv_text(out, (const char *)sqlite3_column_text(statement, i));
        }
        /* A lone empty field would be an empty line, which readers pass over. */
        if (columns == 1 && sqlite3_column_type(statement, 0) == SQLITE_NULL) {
            fputs("\"\"", out);
        }
        fputs(GMT_CSV_END, out);
    }
    if (rc != SQLITE_DONE) {
        return -EIO;
    }
    return ferror(out) ? -EIO : 0;
}

struct view_file {
    sqlite3_stmt *statement;
    long rows;
};

static int write_view(void *context, FILE *out)
{
    struct view_file *view = context;

    return gmt_csv_rows(view->statement, out, &view->rows);
}

/* Whether it was the database or the file. */
static const char *reason(sqlite3 *db, int rc)
{
    int code = sqlite3_errcode(db);

    return code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE ? gmt_guard_reason(db)
                                                                          : gmt_command_reason(rc);
}

/* left_out: gets the name of a view that the trace cannot have. */
static int export_view(sqlite3 *db, const char *name, const char *folder, FILE *left_out)
{
    struct view_file view = {0};
    char path[PATH_MAX], *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", name);
    int prepared = sql != NULL ? sqlite3_prepare_v2(db, sql, -1, &view.statement, NULL)
                               : SQLITE_NOMEM;
    int rc = prepared == SQLITE_OK ? 0 : prepared == SQLITE_NOMEM ? -ENOMEM : -EIO;

    if (prepared == SQLITE_ERROR) {
        /* A view of this version over tables that came after the trace. */
        fprintf(left_out, "%s%s", ftell(left_out) > 0 ? ", " : "", name);
        sqlite3_free(sql);
        return 0;
    }
    if (rc == 0 &&
        (size_t)snprintf(path, sizeof(path), "%s/%s.csv", folder, name) >= sizeof(path)) {
        rc = -ENAMETOOLONG;
    }
    if (rc == 0) {
        rc = gmt_file_write(path, write_view, &view);
    }
    if (rc == 0) {
        gmt_say(stderr, "gmanalyze: wrote %s, %ld row%s\n", path, view.rows,
                view.rows == 1 ? "" : "s");
    } else {
        gmt_say(stderr, "gmanalyze: %s/%s.csv: %s\n", folder, name, reason(db, rc));
    }
    sqlite3_finalize(view.statement);
    sqlite3_free(sql);
    return rc;
}

int gmt_export_csv(sqlite3 *db, const char *trace, const char *output)
{
    sqlite3_stmt *names = NULL;
    char *text = NULL;
    size_t bytes = 0;
    int rc = 0;

    if (mkdir(output, 0777) != 0 && errno != EEXIST) {
        rc = -errno;
        gmt_say(stderr, "gmanalyze: %s: %s\n", output, strerror(-rc));
        return rc;
    }
    if (sqlite3_prepare_v2(db, GMT_VIEWS_SQL, -1, &names, NULL) != SQLITE_OK) {
        gmt_say(stderr, "gmanalyze: %s: %s\n", trace, gmt_guard_reason(db));
        return -EIO;
    }
    FILE *left_out = open_memstream(&text, &bytes);
    rc = left_out != NULL ? 0 : -ENOMEM;
    while (rc == 0 && sqlite3_step(names) == SQLITE_ROW) {
        rc = export_view(db, (const char *)sqlite3_column_text(names, 0), output, left_out);
    }
    if (left_out != NULL && fclose(left_out) == 0 && bytes > 0) {
        gmt_say(stderr, "gmanalyze: left out %s: the trace is of a version without their tables\n",
                text);
    }
    free(text);
    /* That the views came to an end is not known otherwise. */
    if (sqlite3_finalize(names) != SQLITE_OK && rc == 0) {
        gmt_say(stderr, "gmanalyze: %s: %s\n", trace, gmt_guard_reason(db));
        rc = -EIO;
    }
    return rc;
}

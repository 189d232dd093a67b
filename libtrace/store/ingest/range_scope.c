/* SPDX-License-Identifier: Apache-2.0 */
/* The name that a recording was limited to, and whether a range of that name ever came. */
#include "libtrace/store/ingest/range_scope.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "libtrace/record/range_scope.h"
#include "libtrace/store/db/database.h"

enum { MOST_NAMES = 8 };

static void take_name(const char *detail, char *name, size_t bytes)
{
    const char *begin = strstr(detail, GMT_RANGE_SCOPE_BEFORE), *end = NULL;

    if (begin == NULL) {
        return;
    }
    begin += strlen(GMT_RANGE_SCOPE_BEFORE);
    /* The last one: a name may hold a quote. */
    for (const char *at = begin; (at = strstr(at, GMT_RANGE_SCOPE_AFTER)) != NULL; at++) {
        end = at;
    }
    if (end != NULL && (size_t)(end - begin) < bytes) {
        memcpy(name, begin, (size_t)(end - begin));
        name[end - begin] = '\0';
    }
}

bool gmt_range_scope(sqlite3 *db, char *name, size_t bytes)
{
    sqlite3_stmt *statement = NULL;
    bool scoped = false;

    name[0] = '\0';
    if (sqlite3_prepare_v2(db,
                           "SELECT coalesce(detail, '') FROM main.capability "
                           "WHERE name = '" GMT_RANGE_SCOPE "'",
                           -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
        const char *detail = (const char *)sqlite3_column_text(statement, 0);

        scoped = true;
        take_name(detail != NULL ? detail : "", name, bytes);
    }
    sqlite3_finalize(statement);
    return scoped;
}

static int was_entered(sqlite3 *db, const char *name, bool *entered)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(db, "SELECT 1 FROM " GMT_RANGES_OF_NAME " LIMIT 1", -1, &statement,
                                NULL);

    if (rc == SQLITE_OK) {
        sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
        rc = sqlite3_step(statement);
    }
    *entered = rc == SQLITE_ROW;
    sqlite3_finalize(statement);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : gmt_database_error(db);
}

/* "load, compute, io@loader and 3 more"; the most frequent first. */
static int list_names(sqlite3 *db, char *text, size_t bytes)
{
    sqlite3_stmt *statement = NULL;
    size_t used = 0, count = 0;
    int rc = sqlite3_prepare_v2(
        db,
        "SELECT n.text || coalesce('@' || d.text, ''), count(*) FROM main.range r JOIN main.string "
        "n ON n.id = r.name_id LEFT JOIN main.string d ON d.id = r.domain_id WHERE n.text <> '' "
        "GROUP BY 1 ORDER BY 2 DESC, 1",
        -1, &statement, NULL);

    text[0] = '\0';
    while (rc == SQLITE_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        rc = SQLITE_OK;
        if (++count <= MOST_NAMES && used < bytes) {
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", count > 1 ? ", " : "",
                                     (const char *)sqlite3_column_text(statement, 0));
        }
    }
    sqlite3_finalize(statement);
    if (count > MOST_NAMES && used < bytes) {
        (void)snprintf(text + used, bytes - used, " and %zu more", count - MOST_NAMES);
    }
    return rc == SQLITE_DONE ? 0 : gmt_database_error(db);
}

static int say_never_entered(sqlite3 *db, const char *name)
{
    char names[2048];
    int error = list_names(db, names, sizeof(names));

    if (error != 0) {
        return error;
    }
    char *sql = sqlite3_mprintf(
        "UPDATE capability SET state = 'missing', remedy = '%q', detail = 'range ''%q'' was never "
        "entered while CUDA was in use; %s%q; ' || detail WHERE name = '" GMT_RANGE_SCOPE "'",
        names[0] != '\0'
            ? "name one of them"
            : "NVTX ranges need NVTX_INJECTION64_PATH, which gmtrace sets (see gmtrace(1))",
        name, names[0] != '\0' ? "the program''s ranges are: " : "the program named no range",
        names);
    if (sql == NULL) {
        return -ENOMEM;
    }
    error = gmt_database_exec(db, sql);
    sqlite3_free(sql);
    return error;
}

int gmt_range_scope_settle(sqlite3 *db)
{
    char name[512];
    bool entered = true;

    if (!gmt_range_scope(db, name, sizeof(name)) || name[0] == '\0') {
        return 0;
    }
    int error = was_entered(db, name, &entered);
    return error != 0 || entered ? error : say_never_entered(db, name);
}

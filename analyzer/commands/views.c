/* SPDX-License-Identifier: Apache-2.0 */
/* The views of a trace: its public interface, with those that later versions added. */
#include "analyzer/commands/views.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/store/database.h"

static bool has_view(sqlite3 *db, const char *name, size_t length)
{
    sqlite3_stmt *statement = NULL;
    bool found = false;

    if (sqlite3_prepare_v2(db, "SELECT 1 FROM sqlite_master WHERE type = 'view' AND name = ?1", -1,
                           &statement, NULL) == SQLITE_OK) {
        sqlite3_bind_text(statement, 1, name, (int)length, SQLITE_STATIC);
        found = sqlite3_step(statement) == SQLITE_ROW;
    }
    sqlite3_finalize(statement);
    return found;
}

/* A view over tables that the trace lacks can be made; using it says what is missing. */
void gmt_views_add(sqlite3 *db)
{
    static const char begin[] = "\nCREATE VIEW ";
    const char *at = gmt_schema_sql;

    while ((at = strstr(at, begin)) != NULL) {
        const char *name = at + sizeof(begin) - 1, *end = strstr(name, ";\n");
        size_t length = strcspn(name, " ");
        char *sql = NULL;

        if (end == NULL)
            return;
        if (!has_view(db, name, length) &&
            asprintf(&sql, "CREATE TEMP VIEW %.*s", (int)(end - name), name) > 0) {
            (void)sqlite3_exec(db, sql, NULL, NULL, NULL);
            free(sql);
        }
        at = end;
    }
}

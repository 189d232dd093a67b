/* SPDX-License-Identifier: Apache-2.0 */
/* The folders with debug files that the options of a recording name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/settings/labels.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/symbols/debug_files.h"
#include "libtrace/store/symbols/symbol_store.h"

static int add_dir(struct gmt_debug_dirs *dirs, const char *cwd, const char *dir, size_t length)
{
    char *path = NULL;
    const char **grown = realloc((void *)(uintptr_t)dirs->dirs, (dirs->count + 1) * sizeof(*grown));
    if (grown == NULL) {
        return -ENOMEM;
    }
    dirs->dirs = grown;
    /* The recorder does not run where the program did. */
    if (asprintf(&path, "%s%s%.*s", dir[0] != '/' ? cwd : "", dir[0] != '/' ? "/" : "", (int)length,
                 dir) < 0) {
        return -ENOMEM;
    }
    grown[dirs->count++] = path;
    return 0;
}

int gmt_symbol_dirs_read(sqlite3 *db, struct gmt_debug_dirs *dirs)
{
    sqlite3_stmt *row;
    int error = 0;
    *dirs = (struct gmt_debug_dirs){0};
    if (sqlite3_prepare_v2(db, "SELECT coalesce(options, ''), coalesce(cwd, '/') FROM process", -1,
                           &row, NULL) != SQLITE_OK) {
        return gmt_database_error(db);
    }
    if (sqlite3_step(row) == SQLITE_ROW) {
        size_t length = 0;
        const char *at = gmt_recorded_option((const char *)sqlite3_column_text(row, 0), "debug_dir",
                                             &length);
        const char *end = at != NULL ? at + length : NULL;
        while (error == 0 && at < end) {
            size_t part = strcspn(at, ":;");
            if (part != 0) {
                error = add_dir(dirs, (const char *)sqlite3_column_text(row, 1), at, part);
            }
            at += part + (at + part < end);
        }
    }
    sqlite3_finalize(row);
    return error;
}

void gmt_symbol_dirs_free(struct gmt_debug_dirs *dirs)
{
    for (size_t i = 0; i < dirs->count; i++) {
        free((void *)(uintptr_t)dirs->dirs[i]);
    }
    free((void *)(uintptr_t)dirs->dirs);
    *dirs = (struct gmt_debug_dirs){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Traits by name, of the one table that says them, for traces that do not. */
#include "libtrace/store/db/traits.h"

#include <errno.h>
#include <string.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/db/own_schema.h"

uint32_t gmt_traits_of(const char *name, size_t bytes)
{
    static const struct {
        const char *name;
        uint32_t traits;
    } functions[] = {
#define GMT_HOOK_UNRECORDED(symbol, family, runtime, traits, ...)
#define GMT_HOOK(symbol, family, runtime, traits, ...) {#symbol, traits},
#include "preload/driver/hooks.def"
#undef GMT_HOOK
    };
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (strlen(functions[i].name) == bytes && memcmp(functions[i].name, name, bytes) == 0) {
            return functions[i].traits;
        }
    }
    return 0;
}

static void traits_of(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    const char *name = (const char *)sqlite3_value_text(values[0]);
    sqlite3_result_int64(
        context, name != NULL ? gmt_traits_of(name, (size_t)sqlite3_value_bytes(values[0])) : 0);
}

int gmt_traits_register(sqlite3 *db)
{
    return sqlite3_create_function_v2(db, "gmt_traits", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                      traits_of, NULL, NULL, NULL) == SQLITE_OK
               ? 0
               : gmt_database_error(db);
}

const char *gmt_traits_column(sqlite3 *db)
{
    int64_t unsaid = 1;
    if (!gmt_trace_has_column(db, "api", "traits")) {
        return "gmt_traits(name)";
    }
    (void)gmt_database_integer(db, "SELECT EXISTS (SELECT 1 FROM main.api WHERE traits IS NULL)", 0,
                               &unsaid);
    return unsaid != 0 ? "coalesce(traits, gmt_traits(name))" : "traits";
}

int gmt_traits_complete(sqlite3 *db)
{
    const char *column = gmt_traits_column(db);
    if (!gmt_trace_has_column(db, "api", NULL) || strcmp(column, "traits") == 0) {
        return 0;
    }
    int error = gmt_traits_register(db);
    if (error != 0) {
        return error;
    }
    char *sql = sqlite3_mprintf("DROP VIEW IF EXISTS temp.api; CREATE TEMP VIEW api AS SELECT id, "
                                "name, runtime_name, family, %s AS traits FROM main.api",
                                column);
    error = sql != NULL ? gmt_database_exec(db, sql) : -ENOMEM;
    sqlite3_free(sql);
    return error;
}

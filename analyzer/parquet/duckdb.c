/* SPDX-License-Identifier: Apache-2.0 */
/* Finds DuckDB's C library and its functions. */
#include "analyzer/parquet/duckdb.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOW_TO_GET \
    "put libduckdb.so of DuckDB 1.2 or later (https://duckdb.org/install) where the loader " \
    "finds it, or name it: GMTRACE_DUCKDB=/path/libduckdb.so"

int gmt_duckdb_load(struct gmt_duckdb *duckdb, char *message, size_t bytes)
{
    static const struct {
        const char *name;
        size_t offset;
    } functions[] = {
#define GMT_DUCKDB(result, name, parameters) {"duckdb_" #name, offsetof(struct gmt_duckdb, name)},
#include "analyzer/parquet/duckdb.def"
#undef GMT_DUCKDB
    };
    const char *named = getenv("GMTRACE_DUCKDB");
    const char *file = named != NULL && named[0] != '\0' ? named : "libduckdb.so";
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);

    if (library == NULL) {
        const char *why = dlerror();

        snprintf(message, bytes,
                 "Parquet is written and read by DuckDB's C library: %s; " HOW_TO_GET,
                 why != NULL ? why : file);
        return -ENOENT;
    }
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *address = dlsym(library, functions[i].name);

        if (address == NULL) {
            snprintf(message, bytes, "%s has no %s; " HOW_TO_GET, file, functions[i].name);
            return -ENOSYS;
        }
        memcpy((char *)duckdb + functions[i].offset, &address, sizeof(address));
    }
    return 0;
}

int gmt_duckdb_run(const struct gmt_duckdb *duckdb, void *connection, const char *sql,
                   char *message, size_t bytes)
{
    struct gmt_duckdb_result result = {0};
    int rc = 0;

    if (duckdb->query(connection, sql, &result) != 0) {
        const char *error = duckdb->result_error(&result);

        snprintf(message, bytes, "%s", error != NULL ? error : "DuckDB failed");
        rc = -EIO;
    }
    duckdb->destroy_result(&result);
    return rc;
}

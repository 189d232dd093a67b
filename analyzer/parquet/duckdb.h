/* SPDX-License-Identifier: Apache-2.0 */
/* DuckDB's C library, loaded at run time: gmtrace neither brings it nor is linked with it. */
#ifndef GMT_ANALYZER_PARQUET_DUCKDB_H
#define GMT_ANALYZER_PARQUET_DUCKDB_H

#include <stddef.h>
#include <stdint.h>

/* Larger than the library's, of which nothing is looked at here. Where it is a parameter, it is passed in memory, and the library
 * looks at the beginning of it. */
struct gmt_duckdb_result {
    uint64_t words[32];
};

/* Numbers of the API's types. */
enum gmt_duckdb_type {
    GMT_DUCKDB_BIGINT = 5,
    GMT_DUCKDB_DOUBLE = 11,
    GMT_DUCKDB_VARCHAR = 17,
    GMT_DUCKDB_BLOB = 18
};

/* A text in a vector: of up to 12 bytes it is here. */
union gmt_duckdb_text {
    struct {
        uint32_t bytes;
        char text[12];
    } here;
    struct {
        uint32_t bytes;
        char prefix[4];
        const char *text;
    } there;
};

struct gmt_duckdb {
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define GMT_DUCKDB(result, name, parameters) result(*name) parameters;
#include "analyzer/parquet/duckdb.def"
#undef GMT_DUCKDB
    /* NOLINTEND(bugprone-macro-parentheses) */
};

/*
 * Loads the library that the environment's GMTRACE_DUCKDB names, else libduckdb.so as the loader finds it. It stays
 * loaded. 0; else -ENOENT where there is none, -ENOSYS where it lacks a function, and one line in message.
 */
int gmt_duckdb_load(struct gmt_duckdb *duckdb, char *message, size_t bytes);

/* Executes one statement. 0; else -EIO, and what DuckDB says in message. */
int gmt_duckdb_run(const struct gmt_duckdb *duckdb, void *connection, const char *sql,
                   char *message, size_t bytes);

#endif

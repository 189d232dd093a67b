/* SPDX-License-Identifier: Apache-2.0 */
/* Exports one trace. */
#ifndef GMT_ANALYZER_PARQUET_TRACE_FILES_H
#define GMT_ANALYZER_PARQUET_TRACE_FILES_H

#include "analyzer/parquet/duckdb.h"

/* Of the memory that the whole may take, 512 MB, what DuckDB may. */
#define GMT_PARQUET_MEMORY "256MB"

/*
 * Writes all tables of `trace` into `folder`, or none. Speaks on stderr: one line, what was written or what was wrong.
 * For a process of its own: its limits of time are those of one trace. Returns an exit code (analyzer/base/exit_codes.h).
 */
int gmt_parquet_trace(const struct gmt_duckdb *duckdb, const char *trace, const char *folder,
                      const char *run);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The ranks of an exported folder, asked of DuckDB. */
#ifndef GMT_ANALYZER_PARQUET_READ_RANKS_H
#define GMT_ANALYZER_PARQUET_READ_RANKS_H

#include <stdio.h>

#include "analyzer/parquet/duckdb.h"

/* What DuckDB may take for it, beside the values of the ranks. */
#define GMT_PARQUET_READ_MEMORY "2GB"

/*
 * Sends each trace of the folder as a rank (gmt_fleet_rank_send) to `out`: its sums over steps, and its file of the table `trace`
 * as its name. Only the tables of sums are read. 0; else negative errno and one line in message: nothing was sent then,
 * or not all.
 */
int gmt_parquet_read_ranks(const struct gmt_duckdb *duckdb, const char *folder, FILE *out,
                           char *message, size_t bytes);

#endif

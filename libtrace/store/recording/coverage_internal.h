/* SPDX-License-Identifier: Apache-2.0 */
/* What coverage_records.c and coverage_graphs.c share. */
#ifndef GMT_STORE_RECORDING_COVERAGE_INTERNAL_H
#define GMT_STORE_RECORDING_COVERAGE_INTERNAL_H

#include <sqlite3.h>
#include <stdint.h>

/* A row of kind 'records'. */
struct gmt_coverage_row {
    const char *what;
    int64_t expected, seen, extra;
    char detail[256];
};
int gmt_coverage_row(sqlite3 *db, const struct gmt_coverage_row *row);
int gmt_coverage_put_example(sqlite3 *db, const char *what, const char *side, int64_t id,
                             const char *detail);

/* Launches of graphs, and the nodes of each against the records that it left. */
int gmt_coverage_graphs(sqlite3 *db);

#endif

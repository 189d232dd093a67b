/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.db as a file that is being written: creation and opening.
 *
 * Rollback journal, not WAL: nothing is left beside the database at the end, network file systems
 * can hold it, and appending touches few old pages. synchronous=OFF: safe against the death of the
 * process at any moment, not against that of the machine.
 */
#ifndef GMT_STORE_DB_DATABASE_H
#define GMT_STORE_DB_DATABASE_H

#include <sqlite3.h>
#include <stdbool.h>

#include "libtrace/record/spool_names.h"
#include "libtrace/store/db/run_sql.h"

/* 2 added tables instruction, kernel_footprint and race, and counters of source 'simulated'. Traces of
 * earlier versions are read as they are: what reads those tables asks for them first. 4 made what was
 * inlined a frame of its own, and added coverage, coverage_example, device_gap, fingerprint and
 * source_file. 5 added inline_level, and instruction.chain_id. 6 added
 * graph_switch and graph.made_id. 7 added own_time and fingerprint.hash_ns. 8 added
 * tensor_map, tensor_map_encoding and launch_tensor_map. 9 added api.traits, and stores
 * coverage.kind 'lookup_path', which had another name before. 10 added managed_op. 11 added
 * step, the tables step_..., overhead, and stack_one_in of calls. 12 added device_gap.reason, what of overhead is about
 * records of devices, and what payloads of NCCL's ranges say (range, step_collective). 13 added heap and region. 14 added memory_handle. */
#define GMT_TRACE_USER_VERSION 14

/* schema.sql and indexes.sql, embedded by the build. */
extern const char gmt_schema_sql[];
extern const char gmt_indexes_sql[];

/* Create the schema in `path`, which does not exist or is empty, and run `first_rows` in the same
 * transaction; no link is followed. *db is the caller's (gmt_database_close). Returns 0 or negative errno. */
int gmt_database_create(const char *path, const char *first_rows, sqlite3 **db);

/* The same for one that was begun: no link is followed to it. */
int gmt_database_continue(const char *path, sqlite3 **db);

/* Give back to the file system what deleted rows took, where that is worth it (over 1 MiB). Outside of a
 * transaction. 0 or negative errno; after an error the database is as it was. */
int gmt_database_shrink(sqlite3 *db);

/* Its name stands for another file now, or for none. */
bool gmt_database_is_moved(sqlite3 *db);

/* Open an existing trace for writing; -EBADMSG: also if its rollback journal would have SQLite remove
 * another file. */
int gmt_database_open(const char *path, sqlite3 **db);

/* Bring a trace that an earlier version began or made to this schema: tables and columns that it lacks
 * are made, empty but for api.traits, and its views are this version's. */
int gmt_database_upgrade(sqlite3 *db);

/* Close; statements must be finalized. NULL is fine. */
void gmt_database_close(sqlite3 *db);

#endif

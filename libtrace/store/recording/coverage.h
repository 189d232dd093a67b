/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recording's check of itself, in tables coverage and coverage_example: which lookup paths to the driver were
 * used, what was called behind the hooks' backs, where each module has its CUDA runtime from, and whether
 * the hooks and CUPTI agree. All are run once, in the transaction that finishes a trace;
 * the caller owns it. They return 0 or negative errno.
 */
#ifndef GMT_STORE_RECORDING_COVERAGE_H
#define GMT_STORE_RECORDING_COVERAGE_H

#include <sqlite3.h>

#include "libtrace/store/ingest/ingest.h"

/* Lookup paths, and entry points without a hook, from the file of the spool (layout_coverage.h). A spool without
 * one adds nothing; calls that were missed become losses, too, and so do calls of NVTX that were not understood. */
int gmt_coverage_store(sqlite3 *db, struct gmt_ingest *ingest, int spool_folder);

/* What the files of table module import of the driver and of the CUDA runtime. A file that is gone, or
 * another one than was loaded, is said to be unknown. */
int gmt_coverage_modules(sqlite3 *db);

/* Calls that must have left a device record, against the device records; after gmt_join_run, with indexes.
 * Nothing where there were no device timestamps, or not all the time. */
int gmt_coverage_records(sqlite3 *db);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns records into rows.
 *
 * Records of different threads may come in any order; only the order within a chunk is relied upon
 * (an allocation and its free meet by UPSERT, a stream is created on first mention). Everything that
 * an ingest keeps in memory can be rebuilt from the database by gmt_ingest_open, so it can stop after
 * any committed transaction and go on in another process. The caller owns the transactions.
 */
#ifndef GMT_STORE_INGEST_INGEST_H
#define GMT_STORE_INGEST_INGEST_H

#include <sqlite3.h>
#include <stdint.h>

#include "libtrace/record/layout.h"
#include "libtrace/store/spool/spool_reader.h"
#include "libtrace/store/spool/timebase.h"

struct gmt_ingest;

/* Both arguments must outlive the ingest. Returns 0 or negative errno. */
int gmt_ingest_open(sqlite3 *db, struct gmt_timebase *time, struct gmt_ingest **out);
void gmt_ingest_close(struct gmt_ingest *ingest);

/* Returns 0 (also for a record that is malformed or of unknown type: that is counted as a loss), or
 * negative errno when the database cannot be written. */
int gmt_ingest_record(struct gmt_ingest *ingest, const struct gmt_spool_record *record);

/* Count something that is not in the trace; equal kind and detail are added up. */
int gmt_ingest_loss(struct gmt_ingest *ingest, const char *kind, const char *detail,
                    uint64_t count);

/* string.id of a text, stored if it is new. 0 or negative errno. */
int gmt_ingest_name(struct gmt_ingest *ingest, const char *text, int64_t *id);

/* Before a commit: write what is kept in memory. */
int gmt_ingest_flush(struct gmt_ingest *ingest);

/* When the last record is in and committed to this transaction: fill in what records alone could
 * not say (placeholders for names that were lost, occupancy, modules of frames). */
int gmt_ingest_settle(sqlite3 *db);

#endif

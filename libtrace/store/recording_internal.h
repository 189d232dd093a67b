/* SPDX-License-Identifier: Apache-2.0 */
/* One drain of a spool into a database; private to recording*.c. */
#ifndef GMT_STORE_RECORDING_INTERNAL_H
#define GMT_STORE_RECORDING_INTERNAL_H

#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "libtrace/store/ingest.h"
#include "libtrace/store/process_watch.h"
#include "libtrace/store/spool_reader.h"
#include "libtrace/store/timebase.h"

struct gmt_recording {
    char directory[PATH_MAX];
    char output[PATH_MAX];
    int lock_fd; /* -1: not held                                               */
    struct gmt_spool_reader *reader;
    struct gmt_control *control; /* the reader's                                               */
    struct gmt_process_watch watch;
    struct gmt_timebase time;
    sqlite3 *db;
    struct gmt_ingest *ingest;
    bool complete;   /* the database was finished already                          */
    bool was_failed; /* an earlier attempt on this spool said FAILED               */
    bool in_transaction;
    uint64_t transaction_began_ns;
    uint64_t transaction_records;
};

/* Open or create the database of `recording` (lock held, reader open), continue where it stands. */
int gmt_recording_open_database(struct gmt_recording *recording);

/* Read one pass into the database; *records says how many there were. Commits when enough rows have
 * gathered. */
int gmt_recording_pass(struct gmt_recording *recording, bool writer_gone, uint64_t *records);

/* Commit what has been read. */
int gmt_recording_commit(struct gmt_recording *recording);

/* All is read and committed, the process is gone: the finish work, in one transaction. */
int gmt_recording_finish(struct gmt_recording *recording, enum gmt_process_fate fate);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* One drain of a spool into a database; private to recording*.c. */
#ifndef GMT_STORE_RECORDING_RECORDING_INTERNAL_H
#define GMT_STORE_RECORDING_RECORDING_INTERNAL_H

#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "libtrace/store/ingest/ingest.h"
#include "libtrace/store/recording/held_up.h"
#include "libtrace/store/recording/process_watch.h"
#include "libtrace/store/spool/spool_reader.h"
#include "libtrace/store/spool/timebase.h"

/* Kind of loss: chunks that were read into a trace which is not there any more. */
#define GMT_LOST_TRACE "chunk lost"

struct gmt_recording {
    char directory[PATH_MAX];
    int folder; /* `directory`, open; -1: not                                  */
    char output[PATH_MAX];
    bool is_copy;    /* the spool is left as it is; `output` lies in a folder of our own       */
    bool is_foreign; /* GMT_RECORDING_SOURCE_FOREIGN                                           */
    bool is_dump;    /* GMT_RECORDING_SOURCE_DUMP                                              */
    int lock_fd;     /* -1: not held                                               */
    struct gmt_spool_reader *reader;
    struct gmt_control *control; /* the reader's                                               */
    struct gmt_process_watch watch;
    struct gmt_held_up held_up; /* while the process lives                                     */
    struct gmt_timebase time;
    sqlite3 *db;
    struct gmt_ingest *ingest;
    struct gmt_recording_live
        *live; /* NULL: nobody asks for numbers, since the program does not run */
    struct gmt_recording_aggregate *aggregate; /* NULL: calls become rows                      */
    bool complete;   /* the database was finished already                          */
    bool was_failed; /* an earlier attempt on this spool said FAILED               */
    bool in_transaction;
    uint64_t transaction_began_ns;
    uint64_t transaction_records;
};

/* Whose spool it is. All but the first are left as they are, and make a new file. */
enum gmt_recording_source {
    GMT_RECORDING_SOURCE_LIVE, /* the recorder's own                                          */
    GMT_RECORDING_SOURCE_OWN,  /* left by a recorder of this user, since this machine was booted */
    GMT_RECORDING_SOURCE_FOREIGN, /* of anybody: no file that it names is looked into            */
    GMT_RECORDING_SOURCE_DUMP, /* of this user, since this boot; its recorder may be at work: ring.h */
};

/* What the control page shows the traced process, which is woken. */
void gmt_recording_set_state(struct gmt_control *control, enum gmt_recorder_state state);

/* Until something is likely to be there: exit() of the program wakes us at once. *idle counts passes
 * without records. */
void gmt_recording_rest(struct gmt_recording *recording, bool ended, uint64_t records,
                        unsigned *idle);

/* Lock a spool, map its control page, begin to watch its writer; -EPERM and -EREMOTE: see
 * gmt_recording_prove. gmt_recording_close in any case. */
int gmt_recording_begin(struct gmt_recording *recording, const char *directory,
                        enum gmt_recording_source source);
void gmt_recording_close(struct gmt_recording *recording);
void gmt_recording_close_database(struct gmt_recording *recording);

/* Begin to read once more, under the same lock, for another database. */
int gmt_recording_reopen(struct gmt_recording *recording);

/* 0: the spool was made by this user on the kernel that runs now. -EPERM: by another user; -EREMOTE: on
 * another machine, before the last boot, or by a gmtrace that does not say. */
int gmt_recording_prove(int folder);

/* `<output>.spool`. */
int gmt_recording_spool_of(const char *output, char *directory, size_t bytes);

/* Its control file may just be about to be filled in. */
bool gmt_recording_spool_is_young(int folder);

/* How many chunks were read into a database and taken away. */
uint64_t gmt_recording_chunks_read(const struct gmt_recording *recording);

/* Read until the writer is gone and everything is read and committed. */
int gmt_recording_drain(struct gmt_recording *recording, enum gmt_process_fate *fate);

/* 1: `db` was begun from this spool; 0: it is something else; negative errno. */
int gmt_recording_is_ours(struct gmt_recording *recording);

/* Open or create the database of `recording` (lock held, reader open), continue where it stands. */
int gmt_recording_open_database(struct gmt_recording *recording);

/* Read one pass into the database; *records says how many there were. Commits when enough rows have
 * gathered. */
int gmt_recording_pass(struct gmt_recording *recording, bool writer_gone, uint64_t *records);

/* Commit what has been read. */
int gmt_recording_commit(struct gmt_recording *recording);

/* All is read and committed, the process is gone: the finish work, in one transaction. */
int gmt_recording_finish(struct gmt_recording *recording, enum gmt_process_fate fate);

/* In place of it: did the process, which has ended well, only ask the driver what there is, beside another one of the same run
 * that has the name which was asked for? */
bool gmt_recording_is_needless(const struct gmt_recording *recording, enum gmt_process_fate fate);

/* Take away the trace that was begun, and the spool. 0 or negative errno. */
int gmt_recording_discard(struct gmt_recording *recording);

#endif

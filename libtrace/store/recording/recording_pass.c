/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the database of a recording, and moves records into it, transaction by transaction. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/record/clock.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/recording/recording_aggregate.h"
#include "libtrace/store/recording/recording_internal.h"
#include "libtrace/store/recording/recording_live.h"
#include "libtrace/store/recording/ring.h"
#include "libtrace/store/spool/spool_files.h"

#define COMMIT_RECORDS 65536u

/* Names this spool for ever: stored in meta, so that a database is only continued from the spool it
 * was begun from. */
static void identify(const struct gmt_control *control, char *text, size_t bytes)
{
    (void)snprintf(text, bytes, "%" PRIu32 "-%" PRIu64 "-%" PRIu64 "-%" PRIu64, control->pid,
                   control->pid_start, control->first_pair.ticks, control->first_pair.monotonic_ns);
}

/* The name of a run goes into SQL, and may come from a damaged file. */
static bool is_plain(const char *run)
{
    size_t length = strspn(run, "0123456789abcdef-");
    return length > 0 && length < sizeof(((struct gmt_control *)0)->run) && run[length] == '\0';
}

/* Of our own: nothing is written to what another has put there, nor where a link leads. */
static int make_file(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0) {
        return -errno;
    }
    close(fd);
    return 0;
}

uint64_t gmt_recording_chunks_read(const struct gmt_recording *recording)
{
    const struct gmt_control *control = recording->control;
    if (control->version >= 8) {
        return __atomic_load_n(&control->chunks_read, __ATOMIC_RELAXED);
    }
    uint64_t made = control->chunk_count, found = gmt_spool_chunks_present(recording->folder, made);
    return made - found;
}

static int create(struct gmt_recording *recording)
{
    char spool[96], created[32], rows[1536];
    /* Of the last seconds only, the others were given up as they were meant to be. */
    uint64_t read = gmt_ring_is_on(recording->control) ? 0 : gmt_recording_chunks_read(recording);
    time_t now = time(NULL);
    struct tm utc;
    identify(recording->control, spool, sizeof(spool));
    (void)strftime(created, sizeof(created), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    (void)snprintf(rows, sizeof(rows),
                   "INSERT INTO meta VALUES ('format','1'),('tool_version','%s'),('created','%s'),"
                   "('clock','%s'),('complete','0'),('spool','%s');",
                   GMT_VERSION, created,
                   recording->control->ticks_are_ns != 0 ? "CLOCK_MONOTONIC" : "TSC", spool);
    size_t used = strlen(rows);
    if (is_plain(recording->control->run)) {
        used += (size_t)snprintf(rows + used, sizeof(rows) - used,
                                 "INSERT INTO meta VALUES ('run','%s');", recording->control->run);
    }
    if (read != 0) {
        (void)snprintf(rows + used, sizeof(rows) - used,
                       "INSERT INTO loss VALUES ('" GMT_LOST_TRACE
                       "','the trace was removed or moved while it was written',%" PRIu64 ");",
                       read);
    }
    int error = recording->is_copy ? 0 : make_file(recording->output);
    return error != 0 ? error : gmt_database_create(recording->output, rows, &recording->db);
}

int gmt_recording_is_ours(struct gmt_recording *recording)
{
    char spool[96], sql[192];
    int64_t id, found;
    identify(recording->control, spool, sizeof(spool));
    int error = gmt_database_integer(recording->db, "PRAGMA application_id", 0, &id);
    if (error != 0 || id != GMT_TRACE_APPLICATION_ID) {
        return error == -EBADMSG ? 0 : error;
    }
    (void)snprintf(sql, sizeof(sql),
                   "SELECT count(*) FROM meta WHERE key = 'spool' AND value = '%s'", spool);
    error = gmt_database_integer(recording->db, sql, 0, &found);
    return error == 0 ? found == 1 : error == -EBADMSG ? 0 : error;
}

/* An empty file of ours is what a failure of an earlier attempt left. */
static int move_aside(struct gmt_recording *recording, const struct stat *info)
{
    char old[PATH_MAX + 8];
    if (S_ISREG(info->st_mode) && info->st_size == 0 && info->st_uid == geteuid()) {
        return unlink(recording->output) == 0 ? 0 : -errno;
    }
    (void)snprintf(old, sizeof(old), "%s.old", recording->output);
    return rename(recording->output, old) == 0 ? 0 : -errno;
}

static int open_or_create(struct gmt_recording *recording)
{
    struct stat info;
    if (lstat(recording->output, &info) != 0) {
        return errno == ENOENT ? create(recording) : -errno;
    }
    if (S_ISDIR(info.st_mode)) {
        return -EISDIR;
    }
    if (S_ISREG(info.st_mode) && info.st_size > 0) {
        int error = gmt_database_continue(recording->output, &recording->db);
        int ours = error == 0 ? gmt_recording_is_ours(recording) : error == -EBADMSG ? 0 : error;
        if (ours != 0) {
            return ours < 0 ? ours : gmt_database_upgrade(recording->db);
        }
        gmt_database_close(recording->db);
        recording->db = NULL;
        /* Its journal may have taken all of it back. */
        if (lstat(recording->output, &info) != 0) {
            return -errno;
        }
    }
    if (recording->is_copy) {
        return info.st_size == 0 ? create(recording) : -EEXIST;
    }
    int error = move_aside(recording, &info);
    return error == 0 ? create(recording) : error;
}

/* Where each chunk stands, and the latest clock pair. */
static int resume(struct gmt_recording *recording)
{
    sqlite3_stmt *rows;
    int64_t ticks = 0, ns = 0;
    int error = gmt_database_state_get(recording->db, "pair_ticks", 0, &ticks);
    if (error == 0) {
        error = gmt_database_state_get(recording->db, "pair_ns", 0, &ns);
    }
    gmt_timebase_init(&recording->time, recording->control->ticks_are_ns != 0);
    gmt_timebase_add(&recording->time, recording->control->first_pair);
    gmt_timebase_add(&recording->time, (struct gmt_clock_pair){(uint64_t)ticks, (uint64_t)ns});
    gmt_timebase_add_control(&recording->time, recording->control);
    if (error != 0 ||
        sqlite3_prepare_v2(recording->db, "SELECT chunk, offset, finished FROM ingest_chunk", -1,
                           &rows, NULL) != SQLITE_OK) {
        return error != 0 ? error : gmt_database_error(recording->db);
    }
    int code = SQLITE_DONE;
    while (error == 0 && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        int64_t chunk = sqlite3_column_int64(rows, 0), offset = sqlite3_column_int64(rows, 1);
        int64_t status = sqlite3_column_int64(rows, 2);
        struct gmt_chunk_position position = {
            .chunk = (uint32_t)chunk,
            .offset = (uint64_t)offset,
            .status = (enum gmt_chunk_status)status,
        };
        bool sane = chunk >= 0 && chunk <= UINT32_MAX && offset >= 0 &&
                    status >= GMT_CHUNK_READING && status <= GMT_CHUNK_FINISHED;
        error = sane ? gmt_spool_reader_resume(recording->reader, &position) : -EBADMSG;
    }
    if (error == 0 && code != SQLITE_DONE) {
        error = gmt_database_error(recording->db);
    }
    sqlite3_finalize(rows);
    return error;
}

int gmt_recording_open_database(struct gmt_recording *recording)
{
    int64_t complete;
    int error = open_or_create(recording);
    if (error == 0) {
        error = gmt_database_integer(
            recording->db,
            "SELECT NOT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'ingest_chunk')", 0,
            &complete);
    }
    if (error != 0) {
        return error;
    }
    recording->complete = complete != 0;
    if (recording->complete) {
        return 0; /* only the removal of the spool is left to do */
    }
    error = resume(recording);
    if (error == 0) {
        error = gmt_ingest_open(recording->db, &recording->time, &recording->ingest);
    }
    if (error == 0 && gmt_recording_aggregates(recording) && !gmt_ring_is_on(recording->control)) {
        error = gmt_recording_aggregate_open(recording);
    }
    if (error == 0 && recording->was_failed) {
        error = gmt_database_exec(
            recording->db,
            "INSERT OR REPLACE INTO capability(name,state,detail,remedy) VALUES('recorder storage',"
            "'partial','the trace could not be written for a while (disk full, quota or file size "
            "limit); it was completed from the spool','see \"loss\" for records that did not fit "
            "into the spool')");
    }
    return error;
}

static int begin(struct gmt_recording *recording)
{
    int error = gmt_database_exec(recording->db, "BEGIN IMMEDIATE");
    if (error == 0) {
        recording->in_transaction = true;
        recording->transaction_began_ns = gmt_clock_monotonic_ns();
        recording->transaction_records = 0;
    }
    return error;
}

static int store_positions(struct gmt_recording *recording)
{
    struct gmt_chunk_position position;
    size_t cursor = 0;
    int error = 0;
    while (error == 0 && gmt_spool_reader_changed(recording->reader, &cursor, &position)) {
        char sql[128];
        (void)snprintf(sql, sizeof(sql),
                       "INSERT OR REPLACE INTO ingest_chunk VALUES (%" PRIu32 ", %" PRIu64 ", %d)",
                       position.chunk, position.offset, (int)position.status);
        error = gmt_database_exec(recording->db, sql);
    }
    return error;
}

static int store_losses(struct gmt_recording *recording)
{
    uint64_t corrupt, truncated;
    int error = 0;
    gmt_spool_reader_take_losses(recording->reader, &corrupt, &truncated);
    if (corrupt != 0) {
        error = gmt_ingest_loss(recording->ingest, "corrupt record", "rest of a chunk", corrupt);
    }
    if (error == 0 && truncated != 0) {
        error = gmt_ingest_loss(recording->ingest, "truncated chunk", "", truncated);
    }
    return error;
}

int gmt_recording_commit(struct gmt_recording *recording)
{
    struct gmt_clock_pair pair = gmt_timebase_latest(&recording->time);
    struct gmt_chunk_position position;
    size_t cursor = 0;
    int error = 0;
    if (!recording->in_transaction) {
        if (!gmt_spool_reader_changed(recording->reader, &cursor, &position)) {
            return 0;
        }
        error = begin(recording);
    }
    if (error == 0 && recording->aggregate != NULL) {
        error = gmt_recording_aggregate_settle(recording);
    }
    if (error != 0 || (error = store_losses(recording)) != 0 ||
        (error = gmt_ingest_flush(recording->ingest)) != 0 ||
        (error = store_positions(recording)) != 0 ||
        (error = gmt_database_state_set(recording->db, "pair_ticks", (int64_t)pair.ticks)) != 0 ||
        (error = gmt_database_state_set(recording->db, "pair_ns", (int64_t)pair.monotonic_ns)) !=
            0 ||
        (error = gmt_database_exec(recording->db, "COMMIT")) != 0) {
        return error;
    }
    recording->in_transaction = false;
    gmt_spool_reader_release(recording->reader);
    return 0;
}

int gmt_recording_pass(struct gmt_recording *recording, bool writer_gone, uint64_t *records)
{
    struct gmt_spool_record record;
    char cause[128]; /* of a dump, which a recording as a whole has none of */
    uint64_t began_ns = gmt_clock_monotonic_ns();
    *records = 0;
    gmt_timebase_add_control(&recording->time, recording->control);
    if (!recording->is_foreign) {
        gmt_timebase_add_now(&recording->time);
    }
    int error = gmt_spool_reader_begin_pass(recording->reader, writer_gone);
    while (error == 0 && gmt_spool_reader_next(recording->reader, &record)) {
        ++*records;
        if (!recording->in_transaction && (error = begin(recording)) != 0) {
            break;
        }
        error = recording->aggregate != NULL ? gmt_recording_aggregate_record(recording, &record)
                                             : gmt_ingest_record(recording->ingest, &record);
        (void)gmt_recording_live_record(recording, &record, cause);
        if (error == 0 && ++recording->transaction_records >= COMMIT_RECORDS) {
            error = gmt_recording_commit(recording);
        }
    }
    if (error == 0 && recording->aggregate != NULL) {
        gmt_recording_aggregate_pass(recording, began_ns);
    }
    gmt_recording_live_pass(recording, writer_gone);
    /* While the program runs there is another pass. */
    return error == 0 && writer_gone ? gmt_spool_reader_shortage(recording->reader) : error;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a trace.db before anyone reads from it. */
#include "libtrace/store/finished/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/db/guard.h"
#include "libtrace/store/db/own_schema.h"
#include "libtrace/store/db/traits.h"
#include "libtrace/store/recording/recording.h"
#include "libtrace/store/steps/steps_derive.h"

#define SQLITE_HEADER "SQLite format 3"
/* Of the file: the versions of its format for writing and for reading, 2 for a write-ahead log. */
enum { WRITE_VERSION = 18, READ_VERSION = 19, HEADER_BYTES = 20 };

/* Where a failure's one line goes. */
struct complaint {
    const char *path;
    char *text;
    size_t bytes;
};

/* How a trace is to be opened. */
struct opening {
    unsigned flags;
    sqlite3 *model; /* the caller's; NULL: none */
};

__attribute__((format(printf, 3, 4))) static int complain(const struct complaint *complaint,
                                                          int error, const char *format, ...)
{
    va_list arguments;
    int length = snprintf(complaint->text, complaint->bytes, "%s: ", complaint->path);
    if (length > 0 && (size_t)length < complaint->bytes) {
        va_start(arguments, format);
        (void)vsnprintf(complaint->text + length, complaint->bytes - (size_t)length, format,
                        arguments);
        va_end(arguments);
    }
    return error;
}

static int complain_missing(const struct complaint *complaint)
{
    enum gmt_recording_state state;
    if (gmt_recording_state(complaint->path, &state) != 0) {
        state = GMT_RECORDING_NONE;
    }
    if (state == GMT_RECORDING_LIVE) {
        return complain(complaint, -EINPROGRESS,
                        "still being recorded; wait for the program to end");
    }
    if (state == GMT_RECORDING_LEFTOVER) {
        return complain(
            complaint, -EAGAIN,
            "not made yet, but its spool is there: gmanalyze recover -o NEW.db %s.spool",
            complaint->path);
    }
    return complain(complaint, -ENOENT, "no such file; record one with: gmtrace -o %s ./app",
                    complaint->path);
}

/* The command that unpacks a file which begins so, and keeps it; NULL: it is not compressed. */
static const char *unpacker_of(const char header[static HEADER_BYTES])
{
    static const struct {
        const char *magic, *command;
    } forms[] = {{"\x1f\x8b", "gunzip -k"},
                 {"\x28\xb5\x2f\xfd", "unzstd"},
                 {"\xfd"
                  "7zXZ",
                  "unxz -k"}};

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (memcmp(header, forms[i].magic, strlen(forms[i].magic)) == 0) {
            return forms[i].command;
        }
    }
    return NULL;
}

/* What the file alone shows. */
static int check_file(const struct complaint *complaint, int64_t *file_bytes)
{
    struct stat info;
    char header[HEADER_BYTES] = "";
    if (stat(complaint->path, &info) != 0) {
        if (errno == ENOENT) {
            return complain_missing(complaint);
        }
        return complain(complaint, -errno, "%s", strerror(errno));
    }
    if (S_ISDIR(info.st_mode)) {
        return complain(complaint, -EISDIR, "is a directory; name the trace.db inside it");
    }
    if (!S_ISREG(info.st_mode)) {
        return complain(complaint, -EINVAL, "is not a regular file");
    }
    int fd = open(complaint->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return complain(complaint, -errno, "cannot be read: %s", strerror(errno));
    }
    ssize_t got = read(fd, header, sizeof(header));
    close(fd);
    if (got < 0) {
        return complain(complaint, -errno, "cannot be read: %s", strerror(errno));
    }
    if (info.st_size == 0) {
        enum gmt_recording_state state;
        if (gmt_recording_state(complaint->path, &state) == 0 && state != GMT_RECORDING_NONE) {
            return complain_missing(complaint);
        }
        return complain(complaint, -ENODATA, "is empty; the recording never began");
    }
    const char *unpack = unpacker_of(header);
    if (unpack != NULL) {
        return complain(complaint, -EMEDIUMTYPE, "is compressed; unpack it first: %s %s", unpack,
                        complaint->path);
    }
    if (memcmp(header, SQLITE_HEADER, sizeof(SQLITE_HEADER)) != 0) {
        return complain(complaint, -EMEDIUMTYPE, "is not a trace of gmtrace");
    }
    if (header[WRITE_VERSION] > 1 || header[READ_VERSION] > 1) {
        return complain(complaint, -EBADMSG,
                        "has a write-ahead log, which reading would write to; run: sqlite3 FILE "
                        "'PRAGMA journal_mode = DELETE'");
    }
    *file_bytes = info.st_size;
    return 0;
}

static int complain_sqlite(const struct complaint *complaint, sqlite3 *db)
{
    int error = gmt_database_error(db);
    if (error == -EBADMSG) {
        return complain(complaint, error,
                        "is damaged or cut short (%s); copy it again or record anew",
                        sqlite3_errmsg(db));
    }
    if (sqlite3_extended_errcode(db) == SQLITE_READONLY_ROLLBACK ||
        sqlite3_extended_errcode(db) == SQLITE_READONLY_CANTLOCK) {
        return complain(complaint, -EAGAIN,
                        "was left in the middle of a write, and is not changed by reading; with "
                        "its spool: gmanalyze recover -o NEW.db %s.spool",
                        complaint->path);
    }
    if (error == -EBUSY) {
        return complain(complaint, -EINPROGRESS, "is being written just now; try again");
    }
    return complain(complaint, error != 0 ? error : -EIO, "cannot be opened: %s",
                    sqlite3_errmsg(db));
}

/* The file has as many pages as its header says: quick, and finds the usual damage. */
static int check_length(const struct complaint *complaint, sqlite3 *db)
{
    int64_t pages, page_bytes;
    struct stat info;
    if (gmt_database_integer(db, "PRAGMA page_count", 0, &pages) != 0 ||
        gmt_database_integer(db, "PRAGMA page_size", 0, &page_bytes) != 0) {
        return complain_sqlite(complaint, db);
    }
    int64_t bytes = pages * page_bytes; /* at most 2^32 pages of 2^16 bytes */
    if (stat(complaint->path, &info) == 0 && (int64_t)info.st_size < bytes) {
        return complain(complaint, -EBADMSG,
                        "is cut short: %lld of %lld bytes; copy it again or record anew",
                        (long long)info.st_size, (long long)bytes);
    }
    return 0;
}

static int check_finished(const struct complaint *complaint, sqlite3 *db, unsigned flags)
{
    int64_t complete;
    enum gmt_recording_state state;
    if (gmt_database_integer(db, "SELECT value = '1' FROM meta WHERE key = 'complete'", 0,
                             &complete) != 0) {
        return complain_sqlite(complaint, db);
    }
    if (complete != 0 || (flags & GMT_TRACE_ALLOW_INCOMPLETE) != 0) {
        return 0;
    }
    if (gmt_recording_state(complaint->path, &state) != 0) {
        state = GMT_RECORDING_NONE;
    }
    switch (state) {
    case GMT_RECORDING_LIVE:
        return complain(complaint, -EINPROGRESS,
                        "still being recorded; wait for the program to end");
    case GMT_RECORDING_LEFTOVER:
        return complain(complaint, -EAGAIN,
                        "not finished by its recorder: gmanalyze recover -o NEW.db "
                        "%s.spool",
                        complaint->path);
    default:
        return complain(complaint, -EAGAIN,
                        "not finished, and %s.spool is gone: what came last is "
                        "lost",
                        complaint->path);
    }
}

enum gmt_schema_part gmt_trace_part(sqlite3 *db, unsigned flags)
{
    return (flags & GMT_TRACE_SUMS) != 0 && gmt_steps_only(db) ? GMT_SCHEMA_SUMS : GMT_SCHEMA_WHOLE;
}

static int use_schema(sqlite3 *db, sqlite3 *model, unsigned flags, char *why, size_t why_bytes)
{
    int error = gmt_own_schema_check(db, model, why, why_bytes);
    if (error != 0) {
        return error;
    }
    enum gmt_schema_part part = gmt_trace_part(db, flags);
    error = gmt_own_schema_texts(db, model, part, why, why_bytes);
    if (error == 0) {
        error = gmt_own_schema_views(db, model, part);
    }
    return error == 0 && part == GMT_SCHEMA_WHOLE ? gmt_traits_complete(db) : error;
}

/* Nothing of the file is executed: its tables are plain ones, and the views are ours. */
static int use_own_schema(const struct complaint *complaint, sqlite3 *db,
                          const struct opening *opening)
{
    char why[256] = "";
    sqlite3 *model = opening->model;
    int error = model == NULL ? gmt_own_schema(&model) : 0;
    if (error != 0) {
        return complain(complaint, error, "%s",
                        error == -ENOMEM ? gmt_guard_memory_reason() : strerror(-error));
    }
    error = use_schema(db, model, opening->flags, why, sizeof(why));
    if (opening->model == NULL) {
        sqlite3_close(model);
    }
    if (error == -ETIME || error == -ENOMEM) {
        return complain(complaint, error, "%s", gmt_guard_reason(db));
    }
    if (error != 0) {
        return why[0] != '\0' ? complain(complaint, error, "%s", why)
                              : complain_sqlite(complaint, db);
    }
    return 0;
}

static int check_trace(const struct complaint *complaint, sqlite3 *db,
                       const struct opening *opening)
{
    int64_t application, version;
    /* The length first: SQLite calls a short file malformed and says no more. */
    int error = check_length(complaint, db);
    if (error != 0) {
        return error;
    }
    if (gmt_database_integer(db, "PRAGMA application_id", 0, &application) != 0 ||
        gmt_database_integer(db, "PRAGMA user_version", 0, &version) != 0) {
        return complain_sqlite(complaint, db);
    }
    if (application != GMT_TRACE_APPLICATION_ID) {
        return complain(complaint, -EMEDIUMTYPE, "is an SQLite database, but no trace of gmtrace");
    }
    if (version > GMT_TRACE_USER_VERSION) {
        return complain(complaint, -EPROTONOSUPPORT,
                        "has format %lld, this gmanalyze reads formats up to %d; use a newer one",
                        (long long)version, GMT_TRACE_USER_VERSION);
    }
    error = use_own_schema(complaint, db, opening);
    return error == 0 ? check_finished(complaint, db, opening->flags) : error;
}

int gmt_trace_open_by(const char *path, unsigned flags, sqlite3 *model, sqlite3 **db, char *message,
                      size_t message_bytes)
{
    struct complaint complaint = {path, message, message_bytes};
    struct opening opening = {flags, model};
    *db = NULL;
    if (message_bytes > 0) {
        message[0] = '\0';
    }
    int64_t file_bytes = 0;
    int error = check_file(&complaint, &file_bytes);
    if (error != 0) {
        return error;
    }
    if (sqlite3_open_v2(path, db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
        error = *db != NULL ? complain_sqlite(&complaint, *db)
                            : complain(&complaint, -ENOMEM, "%s", gmt_guard_memory_reason());
    } else {
        sqlite3_extended_result_codes(*db, 1);
        (void)sqlite3_busy_timeout(*db, 2000);
        error = gmt_guard_reading(*db, file_bytes) == 0 ? check_trace(&complaint, *db, &opening)
                                                        : complain_sqlite(&complaint, *db);
    }
    if (error != 0) {
        sqlite3_close(*db);
        *db = NULL;
    }
    return error;
}

int gmt_trace_open(const char *path, unsigned flags, sqlite3 **db, char *message,
                   size_t message_bytes)
{
    return gmt_trace_open_by(path, flags, NULL, db, message, message_bytes);
}

/* Takes the lock of a reader: from here on the rows are what they are now. 0 or a negative errno. */
static int begin_reading(sqlite3 *db)
{
    int64_t entries;
    int error = gmt_database_exec(db, "BEGIN");
    return error == 0 ? gmt_database_integer(db, "SELECT count(*) FROM sqlite_master", 0, &entries)
                      : error;
}

static int make_views(sqlite3 *db)
{
    sqlite3 *model = NULL;
    int error = gmt_own_schema(&model);
    if (error == 0) {
        error = gmt_own_schema_views(db, model, GMT_SCHEMA_WHOLE);
    }
    sqlite3_close(model);
    return error;
}

int64_t gmt_trace_bytes(sqlite3 *db)
{
    int64_t pages = 0, page_bytes = 0;
    if (gmt_database_integer(db, "PRAGMA page_count", 0, &pages) != 0 ||
        gmt_database_integer(db, "PRAGMA page_size", 0, &page_bytes) != 0) {
        return 0;
    }
    return pages * page_bytes; /* at most 2^32 pages of 2^16 bytes */
}

/* The name may stand for another file by now. */
static int open_same(sqlite3 *db, sqlite3 **beside)
{
    const char *path = sqlite3_db_filename(db, "main");
    int64_t bytes = gmt_trace_bytes(db);
    if (path == NULL || path[0] == '\0' ||
        sqlite3_open_v2(path, beside, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) !=
            SQLITE_OK) {
        return -EIO;
    }
    sqlite3_extended_result_codes(*beside, 1);
    (void)sqlite3_busy_timeout(*beside, 2000);
    int error = gmt_guard_reading_beside(*beside, bytes);
    if (error == 0) {
        error = begin_reading(*beside);
    }
    if (error == 0 && (gmt_database_is_moved(*beside) || gmt_database_is_moved(db))) {
        error = -EIO;
    }
    return error == 0 ? make_views(*beside) : error;
}

/* Built or configured for one thread, SQLite has no locks where connections of several threads meet, and one stand-in for all of them. */
static bool connections_can_meet(void)
{
    return sqlite3_threadsafe() != 0 && sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_MEM) !=
                                            sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_PRNG);
}

sqlite3 *gmt_trace_open_beside(sqlite3 *db)
{
    sqlite3 *beside = NULL;
    if (!connections_can_meet()) {
        return NULL;
    }
    if (begin_reading(db) != 0 || open_same(db, &beside) != 0) {
        gmt_trace_close_beside(db, beside);
        return NULL;
    }
    return beside;
}

void gmt_trace_close_beside(sqlite3 *db, sqlite3 *beside)
{
    (void)sqlite3_close(beside);
    if (!sqlite3_get_autocommit(db)) {
        (void)gmt_database_exec(db, "COMMIT");
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a trace.db before anyone reads from it. */
#include "libtrace/store/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/store/database.h"
#include "libtrace/store/recording.h"

#define SQLITE_HEADER "SQLite format 3"

/* Where a failure's one line goes. */
struct complaint {
    const char *path;
    char *text;
    size_t bytes;
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
        return complain(complaint, -EAGAIN,
                        "not made yet, but its spool is there: run gmanalyze "
                        "where it may write beside it");
    }
    return complain(complaint, -ENOENT, "no such file; record one with: gmtrace -o %s ./app",
                    complaint->path);
}

/* What can be told from the file alone. */
static int check_file(const struct complaint *complaint)
{
    struct stat info;
    char header[16] = "";
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
    if (memcmp(header, SQLITE_HEADER, sizeof(SQLITE_HEADER)) != 0) {
        return complain(complaint, -EMEDIUMTYPE, "is not a trace of gmtrace");
    }
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
                        "its recorder was killed in the middle of a write; run "
                        "gmanalyze where it may write to it");
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
    int64_t bytes = pages * page_bytes;
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
                        "not finished, its recorder was killed: run gmanalyze "
                        "where it may write to it and to its spool");
    default:
        return complain(complaint, -EAGAIN,
                        "not finished, and %s.spool is gone: what came last is "
                        "lost",
                        complaint->path);
    }
}

static int check_trace(const struct complaint *complaint, sqlite3 *db, unsigned flags)
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
                        "has format %lld, this gmanalyze knows formats up to %d; use a newer one",
                        (long long)version, GMT_TRACE_USER_VERSION);
    }
    return check_finished(complaint, db, flags);
}

int gmt_trace_open(const char *path, unsigned flags, sqlite3 **db, char *message,
                   size_t message_bytes)
{
    struct complaint complaint = {path, message, message_bytes};
    *db = NULL;
    if (message_bytes > 0) {
        message[0] = '\0';
    }
    int error = check_file(&complaint);
    if (error != 0) {
        return error;
    }
    if (sqlite3_open_v2(path, db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) {
        error = *db != NULL ? complain_sqlite(&complaint, *db)
                            : complain(&complaint, -ENOMEM, "%s", strerror(ENOMEM));
    } else {
        sqlite3_extended_result_codes(*db, 1);
        (void)sqlite3_busy_timeout(*db, 2000);
        error = check_trace(&complaint, *db, flags);
    }
    if (error != 0) {
        sqlite3_close(*db);
        *db = NULL;
    }
    return error;
}

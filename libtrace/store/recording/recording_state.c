/* SPDX-License-Identifier: Apache-2.0 */
/* What lies beside a trace. Nothing is changed: anybody may have put it there. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/record/clock.h"
#include "libtrace/record/proc.h"
#include "libtrace/record/spool_folder.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/db/guard.h"
#include "libtrace/store/recording/recording.h"
#include "libtrace/store/recording/recording_internal.h"
#include "libtrace/store/spool/spool_files.h"

#define YOUNG_SPOOL_S 2 /* a control file is filled in within microseconds */
#define WAIT_STEP_NS 20000000

int gmt_recording_spool_of(const char *output, char *directory, size_t bytes)
{
    int length = snprintf(directory, bytes, "%s.spool", output);
    return length > 0 && (size_t)length < bytes ? 0 : -ENAMETOOLONG;
}

static bool is_of_this_boot(const struct gmt_control *control)
{
    char boot_id[sizeof(control->boot_id)];
    gmt_proc_boot_id(boot_id, sizeof(boot_id));
    return control->version >= 8 && boot_id[0] != '\0' && strcmp(boot_id, control->boot_id) == 0;
}

int gmt_recording_prove(int folder)
{
    struct gmt_control control;
    struct stat info;
    int error = gmt_spool_control_read(folder, &control);
    if (error != 0) {
        return error;
    }
    if (!gmt_spool_folder_is_own(folder) ||
        fstatat(folder, "control", &info, AT_SYMLINK_NOFOLLOW) != 0 || info.st_uid != geteuid()) {
        return -EPERM;
    }
    return is_of_this_boot(&control) ? 0 : -EREMOTE;
}

bool gmt_recording_spool_is_young(int folder)
{
    struct stat info;
    return (fstatat(folder, "control", &info, AT_SYMLINK_NOFOLLOW) == 0 ||
            fstat(folder, &info) == 0) &&
           time(NULL) - info.st_mtime < YOUNG_SPOOL_S;
}

static bool writer_lives(int folder, const char *directory, const struct gmt_control *control)
{
    struct gmt_process_watch watch;
    if (control->version >= 8 && !is_of_this_boot(control)) {
        return false; /* its process id means another process here */
    }
    int fd = gmt_spool_file_open(folder, "control", O_RDONLY);
    gmt_process_watch_open(&watch, control, fd, directory);
    bool lives = gmt_process_watch_check(&watch) == GMT_PROCESS_ALIVE;
    gmt_process_watch_close(&watch);
    if (fd >= 0) {
        close(fd);
    }
    return lives;
}

static int look(int folder, const char *directory, enum gmt_recording_state *state)
{
    struct gmt_control control;
    int held = gmt_spool_lock_held(folder);
    if (held == -ENOENT) {
        return 0;
    }
    if (held != 0) {
        *state = held > 0 ? GMT_RECORDING_LIVE : *state;
        return held < 0 ? held : 0;
    }
    int error = gmt_spool_control_read(folder, &control);
    if (error == -ENOENT || error == -ENODATA) {
        /* Its process died before the first record, or is about to make it. */
        *state = error == -ENODATA && gmt_recording_spool_is_young(folder) ? GMT_RECORDING_LIVE
                                                                           : GMT_RECORDING_NONE;
        return 0;
    }
    if (error == 0) {
        *state = writer_lives(folder, directory, &control) ? GMT_RECORDING_LIVE
                                                           : GMT_RECORDING_LEFTOVER;
    }
    return error;
}

int gmt_recording_state(const char *output, enum gmt_recording_state *state)
{
    char directory[PATH_MAX];
    *state = GMT_RECORDING_NONE;
    int error = gmt_recording_spool_of(output, directory, sizeof(directory));
    if (error != 0) {
        return error;
    }
    int folder = gmt_spool_folder_open(directory);
    if (folder < 0) {
        return folder == -ENOENT || folder == -ENOTDIR || folder == -ELOOP ? 0 : folder;
    }
    error = look(folder, directory, state);
    close(folder);
    return error;
}

/* Is `meta` a table that computes nothing? A comparison with our whole schema takes milliseconds for each of
 * the files, of which there may be thousands. */
static bool has_plain_meta(sqlite3 *db)
{
    int64_t is_plain = 0;
    return gmt_database_integer(db,
                                "SELECT count(*) = 1 AND min(type = 'table' AND sql LIKE 'CREATE "
                                "TABLE meta (%' AND sql NOT LIKE '% AS %') FROM main.sqlite_master "
                                "WHERE name = 'meta' COLLATE NOCASE",
                                0, &is_plain) == 0 &&
           is_plain != 0;
}

/* What the launcher of a finished trace called its run. The file may be anybody's. */
static int run_of_trace(const char *output, char *run, size_t bytes)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    struct stat info;
    int found = -ENOENT;
    /* A pipe of that name would be waited for. */
    if (stat(output, &info) != 0 || !S_ISREG(info.st_mode)) {
        return found;
    }
    if (sqlite3_open_v2(output, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) ==
            SQLITE_OK &&
        gmt_guard_reading(db, info.st_size) == 0 && has_plain_meta(db) &&
        sqlite3_prepare_v2(db, "SELECT value FROM main.meta WHERE key = 'run'", -1, &row, NULL) ==
            SQLITE_OK &&
        sqlite3_step(row) == SQLITE_ROW && sqlite3_column_type(row, 0) == SQLITE_TEXT) {
        const char *value = (const char *)sqlite3_column_text(row, 0);
        found = value != NULL ? 0 : -ENOMEM;
        (void)snprintf(run, bytes, "%s", value != NULL ? value : "");
    }
    sqlite3_finalize(row);
    (void)sqlite3_close(db);
    return found;
}

int gmt_recording_run_of(const char *output, char *run, size_t bytes)
{
    char directory[PATH_MAX];
    struct gmt_control control;
    run[0] = '\0';
    int error = gmt_recording_spool_of(output, directory, sizeof(directory));
    int folder = error == 0 ? gmt_spool_folder_open(directory) : error;
    if (folder >= 0) {
        error = gmt_spool_control_read(folder, &control);
        close(folder);
        if (error == 0) {
            (void)snprintf(run, bytes, "%s", control.run);
            return 0;
        }
    }
    /* A recorder takes the spool away when the trace is finished: now there is nothing to wait for. */
    return run_of_trace(output, run, bytes);
}

int gmt_recording_wait(const char *output, uint64_t timeout_ns)
{
    uint64_t until_ns = gmt_clock_monotonic_ns() + timeout_ns;
    for (;;) {
        enum gmt_recording_state state;
        int error = gmt_recording_state(output, &state);
        if (error != 0 || state != GMT_RECORDING_LIVE) {
            return error;
        }
        if (gmt_clock_monotonic_ns() >= until_ns) {
            return -ETIMEDOUT;
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = WAIT_STEP_NS}, NULL);
    }
}

const char *gmt_recording_explain(int error)
{
    switch (error) {
    case 0: return "finished";
    case -EBUSY: return "the traced program is still running, or its recorder is still at work";
    case -ENOENT: return "there is no such recording";
    case -EBADMSG: return "the spool is damaged, or is not one of gmtrace";
    case -EILSEQ: return "the spool was written on a machine of other byte order; finish it there";
    case -EPROTONOSUPPORT:
        return "the spool was written by another version of gmtrace; use that one";
    case -ENOSPC:
    case -EDQUOT: return "no space left on the disk";
    case -EFBIG: return "the file would exceed the file size limit (ulimit -f)";
    case -EROFS:
    case -EACCES: return "no permission to read the spool or to write beside the trace";
    case -EPERM: return "the spool or the trace belongs to another user";
    case -EREMOTE:
        return "the spool was made on another machine, before the last boot, or by an older "
               "gmtrace";
    case -ELOOP: return "a symbolic link is in the place of the trace or of its spool";
    case -EEXIST: return "the file there is of something else";
    case -ESTALE: return "the trace was removed or moved while it was written";
    case -ETIMEDOUT: return "the recorder is still at work";
    default: return strerror(-error);
    }
}

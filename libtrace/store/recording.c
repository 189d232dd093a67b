/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a recorder, and of whoever finishes what a recorder left. */
#include "libtrace/store/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/record/clock.h"
#include "libtrace/store/database.h"
#include "libtrace/store/recording_internal.h"
#include "libtrace/store/spool_files.h"

#define BUSY_RECORDS 4096u /* a pass with so many is followed by the next at once        */
#define NORMAL_SLEEP_MS 10
#define IDLE_SLEEP_MS 50
#define IDLE_PASSES 100u
#define ENDED_SLEEP_MS 5
#define COMMIT_NS UINT64_C(500000000)
#define YOUNG_SPOOL_S 2 /* a control file is filled in within microseconds            */
#define WAIT_STEP_NS 20000000

static void set_state(struct gmt_control *control, enum gmt_recorder_state state)
{
    __atomic_store_n(&control->recorder_state, (uint32_t)state, __ATOMIC_RELEASE);
    (void)syscall(SYS_futex, &control->recorder_state, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static void close_recording(struct gmt_recording *recording)
{
    gmt_ingest_close(recording->ingest);
    gmt_database_close(recording->db);
    if (recording->reader != NULL) {
        gmt_process_watch_close(&recording->watch);
        gmt_spool_reader_close(recording->reader);
    }
    if (recording->lock_fd >= 0) {
        close(recording->lock_fd);
    }
}

/* Lock the spool, map its control page, begin to watch its writer. */
static int open_spool(struct gmt_recording *recording, const char *directory)
{
    *recording = (struct gmt_recording){.lock_fd = -1};
    int length = snprintf(recording->directory, sizeof(recording->directory), "%s", directory);
    if (length < 0 || (size_t)length >= sizeof(recording->directory)) {
        return -ENAMETOOLONG;
    }
    if (gmt_spool_lock_held(directory) == -ENOENT) {
        return -ENOENT; /* do not make a lock file where there is no spool */
    }
    int fd = gmt_spool_lock(directory);
    if (fd < 0) {
        return fd;
    }
    recording->lock_fd = fd;
    int error = gmt_spool_reader_open(directory, &recording->reader);
    if (error != 0) {
        return error;
    }
    gmt_clock_init();
    recording->control = gmt_spool_reader_control(recording->reader);
    recording->was_failed = __atomic_load_n(&recording->control->recorder_state,
                                            __ATOMIC_ACQUIRE) == GMT_RECORDER_FAILED;
    gmt_process_watch_open(&recording->watch, recording->control,
                           gmt_spool_reader_control_fd(recording->reader), directory);
    (void)snprintf(recording->output, sizeof(recording->output), "%.*s",
                   (int)sizeof(recording->control->output) - 1, recording->control->output);
    return 0;
}

/* Until something is likely to be there: exit() of the program wakes us at once. */
static void rest(struct gmt_recording *recording, bool ended, uint64_t records, unsigned *idle)
{
    *idle = records > 0 ? 0 : *idle + 1;
    if (records >= BUSY_RECORDS) {
        return;
    }
    if (ended) {
        gmt_process_watch_sleep(&recording->watch, ENDED_SLEEP_MS);
        return;
    }
    struct timespec timeout = {.tv_nsec = 1000000L *
                                          (*idle > IDLE_PASSES ? IDLE_SLEEP_MS : NORMAL_SLEEP_MS)};
    (void)syscall(SYS_futex, &recording->control->ended, FUTEX_WAIT, 0, &timeout, NULL, 0);
}

/* Read until the writer is gone and everything is read and committed. */
static int drain(struct gmt_recording *recording, enum gmt_process_fate *fate)
{
    bool told = false;
    unsigned idle = 0;
    for (;;) {
        /* In this order: what was written before either became true is seen by the pass. */
        bool ended = __atomic_load_n(&recording->control->ended, __ATOMIC_ACQUIRE) != 0;
        *fate = gmt_process_watch_check(&recording->watch);
        uint64_t records;
        int error = gmt_recording_pass(recording, *fate != GMT_PROCESS_ALIVE, &records);
        if (error != 0) {
            return error;
        }
        bool gone = *fate != GMT_PROCESS_ALIVE;
        bool old = recording->in_transaction &&
                   gmt_clock_monotonic_ns() - recording->transaction_began_ns > COMMIT_NS;
        if (gone || old || (ended && !told)) {
            error = gmt_recording_commit(recording);
            if (error != 0) {
                return error;
            }
        }
        if (gone) {
            return 0;
        }
        if (ended && !told) {
            set_state(recording->control, GMT_RECORDER_DONE);
            told = true;
        }
        rest(recording, ended, records, &idle);
    }
}

static int run(struct gmt_recording *recording, bool *writer_gone)
{
    /* SQLite takes and gives back page-sized blocks all the time; without this glibc returns them to
     * the system each time, which costs more than all the rest. */
    (void)mallopt(M_TRIM_THRESHOLD, 64 << 20);
    (void)mallopt(M_TOP_PAD, 1 << 20);
    enum gmt_process_fate fate = GMT_PROCESS_ALIVE;
    int error = gmt_recording_open_database(recording);
    if (error == 0 && !recording->complete) {
        error = drain(recording, &fate);
        /* The writer is gone, or there may be no room for the trace. */
        gmt_spool_free_remove(recording->directory, recording->control);
        if (error == 0) {
            error = gmt_recording_finish(recording, gmt_process_watch_learn(&recording->watch));
        }
    }
    *writer_gone = fate != GMT_PROCESS_ALIVE || recording->complete ||
                   gmt_process_watch_check(&recording->watch) != GMT_PROCESS_ALIVE;
    if (error != 0) {
        set_state(recording->control, GMT_RECORDER_FAILED);
        return error;
    }
    set_state(recording->control, GMT_RECORDER_DONE);
    /* The database first: whoever sees no spool finds it closed. */
    gmt_ingest_close(recording->ingest);
    recording->ingest = NULL;
    gmt_database_close(recording->db);
    recording->db = NULL;
    gmt_spool_remove(recording->directory);
    return 0;
}

int gmt_recording_run(const char *spool_directory, bool *writer_gone)
{
    struct gmt_recording recording;
    *writer_gone = true;
    int error = open_spool(&recording, spool_directory);
    if (error == 0) {
        __atomic_store_n(&recording.control->recorder_pid, (uint32_t)getpid(), __ATOMIC_RELEASE);
        set_state(recording.control, GMT_RECORDER_READING);
        error = run(&recording, writer_gone);
    }
    close_recording(&recording);
    return error;
}

static int spool_of(const char *output, char *directory, size_t bytes)
{
    int length = snprintf(directory, bytes, "%s.spool", output);
    return length > 0 && (size_t)length < bytes ? 0 : -ENAMETOOLONG;
}

int gmt_recording_recover(const char *output)
{
    struct gmt_recording recording;
    enum gmt_recording_state state;
    char directory[PATH_MAX];
    bool writer_gone;
    int error = spool_of(output, directory, sizeof(directory));
    if (error == 0) {
        error = gmt_recording_state(output, &state);
    }
    if (error != 0 || state == GMT_RECORDING_NONE) {
        return error;
    }
    if (state == GMT_RECORDING_LIVE) {
        return -EBUSY;
    }
    error = open_spool(&recording, directory);
    if (error == -ENODATA) {
        /* Its process died before the first record. */
        gmt_spool_remove(directory);
        error = 0;
    } else if (error == 0) {
        (void)snprintf(recording.output, sizeof(recording.output), "%s", output);
        error = run(&recording, &writer_gone);
    } else if (error == -ENOENT) {
        error = 0; /* someone else has just finished it */
    }
    close_recording(&recording);
    return error;
}

/* State of a spool whose lock nobody holds. */
static int state_of_unlocked(const char *directory, enum gmt_recording_state *state)
{
    struct gmt_spool_reader *reader;
    struct gmt_process_watch watch;
    int error = gmt_spool_reader_open(directory, &reader);
    if (error == -ENOENT) {
        *state = GMT_RECORDING_NONE;
        return 0;
    }
    if (error == -ENODATA) {
        char path[PATH_MAX + 16];
        struct stat info;
        (void)snprintf(path, sizeof(path), "%s/control", directory);
        bool young = stat(path, &info) == 0 && time(NULL) - info.st_mtime < YOUNG_SPOOL_S;
        *state = young ? GMT_RECORDING_LIVE : GMT_RECORDING_LEFTOVER;
        return 0;
    }
    if (error != 0) {
        return error;
    }
    gmt_process_watch_open(&watch, gmt_spool_reader_control(reader),
                           gmt_spool_reader_control_fd(reader), directory);
    *state = gmt_process_watch_check(&watch) == GMT_PROCESS_ALIVE ? GMT_RECORDING_LIVE
                                                                  : GMT_RECORDING_LEFTOVER;
    gmt_process_watch_close(&watch);
    gmt_spool_reader_close(reader);
    return 0;
}

/* An empty folder: its recorder was killed while it took the spool away. A young one may just begin. */
static void remove_what_is_left(const char *directory)
{
    struct stat info;
    if (stat(directory, &info) == 0 && time(NULL) - info.st_mtime >= YOUNG_SPOOL_S) {
        (void)rmdir(directory);
    }
}

int gmt_recording_state(const char *output, enum gmt_recording_state *state)
{
    char directory[PATH_MAX];
    int error = spool_of(output, directory, sizeof(directory));
    if (error != 0) {
        return error;
    }
    int held = gmt_spool_lock_held(directory);
    if (held == -ENOENT || held == -ENOTDIR) {
        remove_what_is_left(directory);
        *state = GMT_RECORDING_NONE;
        return 0;
    }
    if (held < 0) {
        return held;
    }
    if (held == 1) {
        *state = GMT_RECORDING_LIVE;
        return 0;
    }
    return state_of_unlocked(directory, state);
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
    case -EDQUOT: return "the disk is full; free some space and open the trace again";
    case -EFBIG: return "the file would exceed the file size limit (ulimit -f)";
    case -EROFS:
    case -EACCES: return "no permission to write the trace and its spool";
    case -ETIMEDOUT: return "the recorder is still at work";
    default: return strerror(-error);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a recorder. */
#include "libtrace/store/recording/recording.h"

#include <errno.h>
#include <linux/futex.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/record/clock.h"
#include "libtrace/record/spool_folder.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/recording/recording_internal.h"
#include "libtrace/store/spool/spool_files.h"

#define BUSY_RECORDS 4096u /* a pass with so many is followed by the next at once        */
#define NORMAL_SLEEP_MS 10
#define IDLE_SLEEP_MS 50
#define IDLE_PASSES 100u
#define ENDED_SLEEP_MS 5
#define COMMIT_NS UINT64_C(500000000)

static void set_state(struct gmt_control *control, enum gmt_recorder_state state)
{
    __atomic_store_n(&control->recorder_state, (uint32_t)state, __ATOMIC_RELEASE);
    (void)syscall(SYS_futex, &control->recorder_state, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static void close_database(struct gmt_recording *recording)
{
    gmt_ingest_close(recording->ingest);
    recording->ingest = NULL;
    gmt_database_close(recording->db);
    recording->db = NULL;
}

static void close_reader(struct gmt_recording *recording)
{
    if (recording->reader != NULL) {
        gmt_process_watch_close(&recording->watch);
        gmt_spool_reader_close(recording->reader);
    }
    recording->reader = NULL;
}

void gmt_recording_close(struct gmt_recording *recording)
{
    close_database(recording);
    close_reader(recording);
    if (recording->lock_fd >= 0) {
        close(recording->lock_fd);
    }
    if (recording->folder >= 0) {
        close(recording->folder);
    }
}

/* A spool that is left as it is gets no file: another's lock is looked at only. */
static int lock(struct gmt_recording *recording)
{
    int held = gmt_spool_lock_held(recording->folder);
    if (held != 0) {
        return held < 0 ? held : -EBUSY; /* -ENOENT: no lock is made where there is no spool */
    }
    if (recording->is_foreign) {
        return 0;
    }
    int fd = gmt_spool_lock(recording->folder);
    recording->lock_fd = fd;
    return fd < 0 ? fd : 0;
}

static void watch(struct gmt_recording *recording)
{
    if (recording->is_foreign) {
        /* Its process id means another process here. */
        recording->watch = (struct gmt_process_watch){
            .pidfd = -1, .control_fd = -1, .fate = GMT_PROCESS_GONE, .exit_status = -1};
        return;
    }
    gmt_process_watch_open(&recording->watch, recording->control,
                           gmt_spool_reader_control_fd(recording->reader), recording->directory);
}

static int open_reader(struct gmt_recording *recording, uid_t owner)
{
    int error = gmt_spool_reader_open_at(recording->folder, recording->is_copy, owner,
                                         &recording->reader);
    if (error == 0) {
        recording->control = gmt_spool_reader_control(recording->reader);
        watch(recording);
    }
    return error;
}

int gmt_recording_begin(struct gmt_recording *recording, const char *directory,
                        enum gmt_recording_source source)
{
    *recording = (struct gmt_recording){.lock_fd = -1,
                                        .is_copy = source != GMT_RECORDING_SOURCE_LIVE,
                                        .is_foreign = source == GMT_RECORDING_SOURCE_FOREIGN};
    int length = snprintf(recording->directory, sizeof(recording->directory), "%s", directory);
    recording->folder = gmt_spool_folder_open(directory);
    if (length < 0 || (size_t)length >= sizeof(recording->directory) || recording->folder < 0) {
        return recording->folder < 0 ? recording->folder : -ENAMETOOLONG;
    }
    int error = source == GMT_RECORDING_SOURCE_OWN ? gmt_recording_prove(recording->folder) : 0;
    if (error == 0) {
        error = lock(recording);
    }
    if (error == 0) {
        gmt_clock_init();
        error = open_reader(recording, source == GMT_RECORDING_SOURCE_OWN ? geteuid() : (uid_t)-1);
    }
    if (error != 0) {
        return error;
    }
    recording->was_failed = __atomic_load_n(&recording->control->recorder_state,
                                            __ATOMIC_ACQUIRE) == GMT_RECORDER_FAILED;
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

int gmt_recording_drain(struct gmt_recording *recording, enum gmt_process_fate *fate)
{
    bool reported = false;
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
        if (gone || old || (ended && !reported)) {
            error = gmt_recording_commit(recording);
            if (error != 0) {
                return error;
            }
        }
        if (gone) {
            return 0;
        }
        if (ended && !reported) {
            set_state(recording->control, GMT_RECORDER_DONE);
            reported = true;
        }
        rest(recording, ended, records, &idle);
    }
}

/* Somebody removed or replaced the trace, and there was one (ESTALE is also what a lost file server says). */
static bool is_without_trace(const struct gmt_recording *recording, int error)
{
    return error == -ESTALE && recording->db != NULL;
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
        error = gmt_recording_drain(recording, &fate);
        /* The writer is gone, or there may be no room for the trace. */
        gmt_spool_free_remove(recording->folder, recording->control);
        if (error == 0) {
            error = gmt_recording_finish(recording, gmt_process_watch_learn(&recording->watch));
        }
        if (error == 0 && gmt_database_is_moved(recording->db)) {
            error = -ESTALE; /* what is in the spool still is worth a trace of its own */
        }
    }
    *writer_gone = fate != GMT_PROCESS_ALIVE || recording->complete ||
                   gmt_process_watch_check(&recording->watch) != GMT_PROCESS_ALIVE;
    if (error != 0) {
        if (!is_without_trace(recording, error)) { /* else it is begun anew at once */
            set_state(recording->control, GMT_RECORDER_FAILED);
        }
        return error;
    }
    set_state(recording->control, GMT_RECORDER_DONE);
    /* The database first: whoever sees no spool finds it closed. */
    close_database(recording);
    gmt_spool_folder_remove(recording->folder, recording->directory);
    return 0;
}

/* What is in the spool still comes into a new trace. Under the same lock: without it, whoever waits for the
 * trace would take this recorder for dead, and finish the spool in its place. */
static int begin_anew(struct gmt_recording *recording)
{
    close_database(recording);
    close_reader(recording);
    recording->in_transaction = false;
    return open_reader(recording, (uid_t)-1);
}

int gmt_recording_run(const char *spool_directory, bool *writer_gone)
{
    struct gmt_recording recording;
    *writer_gone = true;
    int error = gmt_recording_begin(&recording, spool_directory, GMT_RECORDING_SOURCE_LIVE);
    if (error == 0) {
        __atomic_store_n(&recording.control->recorder_pid, (uint32_t)getpid(), __ATOMIC_RELEASE);
        set_state(recording.control, GMT_RECORDER_READING);
        error = run(&recording, writer_gone);
        while (is_without_trace(&recording, error) && (error = begin_anew(&recording)) == 0) {
            error = run(&recording, writer_gone);
        }
        gmt_spool_leftovers_remove(recording.output);
    }
    gmt_recording_close(&recording);
    return error;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a spool for whoever drains it or makes a dump of it, and waits with it. */
#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/record/clock.h"
#include "libtrace/record/spool_folder.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/recording/recording_aggregate.h"
#include "libtrace/store/recording/recording_internal.h"
#include "libtrace/store/recording/recording_live.h"
#include "libtrace/store/spool/spool_files.h"

#define BUSY_RECORDS 4096u /* a pass with so many is followed by the next at once        */
#define NORMAL_SLEEP_MS 10
#define IDLE_SLEEP_MS 50
#define IDLE_PASSES 100u
#define ENDED_SLEEP_MS 5

void gmt_recording_set_state(struct gmt_control *control, enum gmt_recorder_state state)
{
    __atomic_store_n(&control->recorder_state, (uint32_t)state, __ATOMIC_RELEASE);
    (void)syscall(SYS_futex, &control->recorder_state, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void gmt_recording_close_database(struct gmt_recording *recording)
{
    gmt_recording_aggregate_close(recording);
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
    gmt_recording_close_database(recording);
    gmt_recording_live_close(recording);
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
                                        .is_dump = source == GMT_RECORDING_SOURCE_DUMP,
                                        .is_foreign = source == GMT_RECORDING_SOURCE_FOREIGN};
    int length = snprintf(recording->directory, sizeof(recording->directory), "%s", directory);
    recording->folder = gmt_spool_folder_open(directory);
    if (length < 0 || (size_t)length >= sizeof(recording->directory) || recording->folder < 0) {
        return recording->folder < 0 ? recording->folder : -ENAMETOOLONG;
    }
    bool is_own = source == GMT_RECORDING_SOURCE_OWN || source == GMT_RECORDING_SOURCE_DUMP;
    int error = is_own ? gmt_recording_prove(recording->folder) : 0;
    if (error == 0 && !recording->is_dump) {
        error = lock(recording);
    }
    if (error == 0) {
        gmt_clock_init();
        error = open_reader(recording, is_own ? geteuid() : (uid_t)-1);
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

void gmt_recording_rest(struct gmt_recording *recording, bool ended, uint64_t records,
                        unsigned *idle)
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

int gmt_recording_reopen(struct gmt_recording *recording)
{
    gmt_recording_close_database(recording);
    close_reader(recording);
    recording->in_transaction = false;
    return open_reader(recording, (uid_t)-1);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a recorder. */
#include "libtrace/store/recording/recording.h"

#include <errno.h>
#include <malloc.h>
#include <unistd.h>

#include "libtrace/record/clock.h"
#include "libtrace/record/spool_folder.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/recording/recording_internal.h"
#include "libtrace/store/recording/recording_live.h"
#include "libtrace/store/recording/ring.h"
#include "libtrace/store/recording/ring_internal.h"
#include "libtrace/store/spool/spool_files.h"

#define COMMIT_NS UINT64_C(500000000)

int gmt_recording_drain(struct gmt_recording *recording, enum gmt_process_fate *fate)
{
    bool reported = false;
    unsigned idle = 0;
    for (;;) {
        /* In this order: what was written before either became true is seen by the pass. */
        bool ended = __atomic_load_n(&recording->control->ended, __ATOMIC_ACQUIRE) != 0;
        *fate = gmt_process_watch_check(&recording->watch);
        uint64_t records;
        if (*fate == GMT_PROCESS_ALIVE) {
            gmt_held_up_look(&recording->held_up, recording->control);
        }
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
            gmt_recording_set_state(recording->control, GMT_RECORDER_DONE);
            reported = true;
        }
        gmt_recording_rest(recording, ended, records, &idle);
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
    bool is_needless = false;
    gmt_recording_live_open(recording);
    if (gmt_ring_is_on(recording->control)) {
        return gmt_ring_run(recording, writer_gone);
    }
    int error = gmt_recording_open_database(recording);
    if (error == 0 && !recording->complete) {
        error = gmt_recording_drain(recording, &fate);
        /* The writer is gone, or there may be no room for the trace. */
        gmt_spool_free_remove(recording->folder, recording->control);
        if (error == 0) {
            enum gmt_process_fate learnt = gmt_process_watch_learn(&recording->watch);
            is_needless = gmt_recording_is_needless(recording, learnt);
            error = is_needless ? 0 : gmt_recording_finish(recording, learnt);
        }
        if (error == 0 && !is_needless && gmt_database_is_moved(recording->db)) {
            error = -ESTALE; /* what is in the spool still is worth a trace of its own */
        }
    }
    *writer_gone = fate != GMT_PROCESS_ALIVE || recording->complete ||
                   gmt_process_watch_check(&recording->watch) != GMT_PROCESS_ALIVE;
    if (error != 0) {
        if (!is_without_trace(recording, error)) { /* else it is begun anew at once */
            gmt_recording_set_state(recording->control, GMT_RECORDER_FAILED);
        }
        return error;
    }
    if (is_needless) {
        return gmt_recording_discard(recording);
    }
    gmt_recording_set_state(recording->control, GMT_RECORDER_DONE);
    /* The database first: whoever sees no spool finds it closed. */
    gmt_recording_close_database(recording);
    gmt_spool_folder_remove(recording->folder, recording->directory);
    return 0;
}

int gmt_recording_run(const char *spool_directory, bool *writer_gone)
{
    struct gmt_recording recording;
    *writer_gone = true;
    int error = gmt_recording_begin(&recording, spool_directory, GMT_RECORDING_SOURCE_LIVE);
    if (error == 0) {
        __atomic_store_n(&recording.control->recorder_pid, (uint32_t)getpid(), __ATOMIC_RELEASE);
        gmt_recording_set_state(recording.control, GMT_RECORDER_READING);
        error = run(&recording, writer_gone);
        /* What is in the spool still comes into a new trace. Under the same lock: without it, whoever waits
         * for the trace would take this recorder for dead, and finish the spool in its place. */
        while (is_without_trace(&recording, error) &&
               (error = gmt_recording_reopen(&recording)) == 0) {
            error = run(&recording, writer_gone);
        }
        gmt_spool_leftovers_remove(recording.output);
    }
    gmt_recording_close(&recording);
    return error;
}

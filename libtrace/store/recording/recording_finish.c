/* SPDX-License-Identifier: Apache-2.0 */
/* What is done once, when all records are in: one transaction from "rows" to "a trace". */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/db/model_cache.h"
#include "libtrace/store/ingest/inlining.h"
#include "libtrace/store/ingest/join.h"
#include "libtrace/store/ingest/range_scope.h"
#include "libtrace/store/recording/coverage.h"
#include "libtrace/store/recording/held_up.h"
#include "libtrace/store/recording/recording_aggregate.h"
#include "libtrace/store/recording/recording_internal.h"
#include "libtrace/store/recording/ring.h"
#include "libtrace/store/recording/ring_internal.h"
#include "libtrace/store/sass/sass.h"
#include "libtrace/store/symbols/sources.h"
#include "libtrace/store/symbols/symbolize.h"

/* Why the last record was dropped that was not for the limit. */
static const char *drop_reason(const struct gmt_control *control)
{
    return control->io_errno == ESTALE ? "the spool was removed or moved while it was written"
                                       : strerror(control->io_errno);
}

/* Counters of the control page, and chunks that are not there -> loss rows. */
static int store_control_losses(struct gmt_recording *recording)
{
    const struct gmt_control *control = recording->control;
    uint64_t full = __atomic_load_n(&control->dropped_full, __ATOMIC_RELAXED);
    uint64_t io = __atomic_load_n(&control->dropped_io, __ATOMIC_RELAXED);
    uint64_t uncovered = __atomic_load_n(&control->uncovered, __ATOMIC_RELAXED);
    bool is_ring = gmt_ring_is_on(control); /* chunks are not read by the reader then */
    uint64_t missing = is_ring ? 0 : gmt_spool_reader_missing(recording->reader);
    int error = 0;
    if (full != 0) {
        error = gmt_ingest_loss(
            recording->ingest, "record dropped",
            is_ring ? "spool limit reached, since the program began" : "spool limit reached", full);
    }
    if (error == 0 && io != 0) {
        error = gmt_ingest_loss(recording->ingest, "record dropped", drop_reason(control), io);
    }
    if (error == 0 && missing != 0) {
        error = gmt_ingest_loss(recording->ingest, "truncated chunk", "removed before it was read",
                                missing);
    }
    if (error == 0 && uncovered != 0) {
        error = gmt_ingest_loss(recording->ingest, "entry point not covered", "", uncovered);
    }
    return error;
}

static const char *end_reason(enum gmt_process_fate fate, bool exited)
{
    switch (fate) {
    case GMT_PROCESS_EXITED: return "exit";
    case GMT_PROCESS_KILLED: return "killed";
    case GMT_PROCESS_EXECED: return "exec";
    default: return exited ? "exit" : "unknown";
    }
}

static int store_end(struct gmt_recording *recording, enum gmt_process_fate fate)
{
    /* Without a process record (it was dropped) the control page still knows the pid. */
    static const char sql[] =
        "INSERT OR IGNORE INTO process(id,pid,start_ns) VALUES(1,%" PRIu32 ",%" PRIu64 ");"
        "UPDATE process SET end_reason='%s', end_ns=max(coalesce(end_ns,0), start_ns) WHERE id=1;"
        "UPDATE process SET exit_status=%d WHERE id=1 AND %d >= 0;";
    char text[512];
    int64_t exited;
    int error = gmt_database_state_get(recording->db, "exited", 0, &exited);
    if (error != 0) {
        return error;
    }
    int status = recording->watch.exit_status;
    uint64_t start_ns = recording->control->first_pair.monotonic_ns;
    (void)snprintf(text, sizeof(text), sql, recording->control->pid,
                   start_ns < INT64_MAX ? start_ns : (uint64_t)INT64_MAX,
                   end_reason(fate, exited != 0), status, status);
    return gmt_database_exec(recording->db, text);
}

/* What is taken from files that the recording names. The text of sources only by the recorder, which the
 * program that named them has started: any file of the user can have a name in a spool. */
static int look_around(struct gmt_recording *recording)
{
    sqlite3 *db = recording->db;
    int error = recording->is_foreign
                    ? 0
                    : gmt_symbolize_run(db, recording->is_dump ? GMT_RING_NAMES_NS
                                                               : GMT_SYMBOLIZE_BUDGET_NS);
    bool is_whole = recording->aggregate == NULL;
    if (error == 0 && !recording->is_copy && is_whole) {
        error = gmt_sources_embed(db, GMT_SOURCE_BUDGET_NS);
    }
    if (error == 0 && !recording->is_foreign && is_whole) {
        error = gmt_model_cache_copy(db);
    }
    return error;
}

int gmt_recording_finish(struct gmt_recording *recording, enum gmt_process_fate fate)
{
    static const char last[] =
        "DROP TABLE ingest_chunk; DROP TABLE ingest_state; DROP TABLE ingest_cubin;"
        "DROP TABLE ingest_inlining;"
        "UPDATE meta SET value = '1' WHERE key = 'complete' AND NOT EXISTS (SELECT 1 FROM loss "
        "WHERE "
        "kind = '" GMT_LOST_TRACE "');"
        "COMMIT;";
    sqlite3 *db = recording->db;
    int error;
    /* Machine code that is needed for a while only is not to be found in what it leaves free. */
    if ((error = gmt_database_exec(db, "PRAGMA secure_delete = ON; BEGIN IMMEDIATE")) != 0 ||
        (error = store_control_losses(recording)) != 0 ||
        (error = gmt_held_up_store(recording)) != 0 ||
        (error = gmt_coverage_store(db, recording->ingest, recording->folder)) != 0 ||
        (error = store_end(recording, fate)) != 0 ||
        (error = recording->aggregate != NULL ? gmt_recording_aggregate_finish(recording) : 0) !=
            0 ||
        (error = gmt_ingest_flush(recording->ingest)) != 0) {
        return error;
    }
    gmt_ingest_close(recording->ingest);
    recording->ingest = NULL;
    if ((error = gmt_join_run(db)) != 0 || (error = gmt_join_forget_outside(db)) != 0 ||
        (error = gmt_ring_is_on(recording->control) ? gmt_ring_settle(recording) : 0) != 0 ||
        (error = gmt_range_scope_settle(db)) != 0 ||
        (error = recording->is_foreign ? 0 : gmt_coverage_modules(db)) != 0 ||
        (error = gmt_database_exec(db, gmt_indexes_sql)) != 0 ||
        (error = gmt_ingest_settle(db)) != 0 || (error = gmt_coverage_records(db)) != 0 ||
        (error = gmt_inlining_settle(db)) != 0 ||
        (error = gmt_sass_settle(db, recording->folder)) != 0 ||
        (error = gmt_sass_counters(db)) != 0 || (error = look_around(recording)) != 0) {
        return error;
    }
    error = gmt_database_exec(db, last);
    if (error == 0) {
        (void)gmt_database_shrink(db); /* the trace is as good without */
    }
    return error;
}

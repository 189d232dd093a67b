/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings that nobody wants: of a process that only asked the driver what there is, beside that of the program. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/record/spool_folder.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/db/guard.h"
#include "libtrace/store/db/values.h"
#include "libtrace/store/recording/recording.h"
#include "libtrace/store/recording/recording_internal.h"

/* No context, no call that needs one or failed, no work, no range or region, nothing lost. */
static const char is_empty_sql[] =
    "SELECT NOT (EXISTS (SELECT 1 FROM context) "
    "OR EXISTS (SELECT 1 FROM api_call WHERE result IS NOT 0 OR context_id IS NOT NULL) "
    "OR EXISTS (SELECT 1 FROM allocation) OR EXISTS (SELECT 1 FROM host_allocation) "
    "OR EXISTS (SELECT 1 FROM transfer) OR EXISTS (SELECT 1 FROM memset) "
    "OR EXISTS (SELECT 1 FROM launch) OR EXISTS (SELECT 1 FROM sync) "
    "OR EXISTS (SELECT 1 FROM graph) OR EXISTS (SELECT 1 FROM tensor_map_encoding) "
    "OR EXISTS (SELECT 1 FROM device_op) OR EXISTS (SELECT 1 FROM managed_op) "
    "OR EXISTS (SELECT 1 FROM range) OR EXISTS (SELECT 1 FROM heap) OR EXISTS (SELECT 1 FROM "
    "region) OR EXISTS (SELECT 1 FROM step) "
    "OR EXISTS (SELECT 1 FROM loss))";

static bool has_lost(const struct gmt_recording *recording)
{
    const struct gmt_control *control = recording->control;
    return __atomic_load_n(&control->dropped_full, __ATOMIC_RELAXED) != 0 ||
           __atomic_load_n(&control->dropped_io, __ATOMIC_RELAXED) != 0 ||
           __atomic_load_n(&control->uncovered, __ATOMIC_RELAXED) != 0 ||
           gmt_spool_reader_missing(recording->reader) != 0;
}

static bool has_ended_well(const struct gmt_recording *recording, enum gmt_process_fate fate)
{
    int64_t exited = 0;
    if (fate == GMT_PROCESS_EXITED) {
        return recording->watch.exit_status <= 0; /* -1: not known */
    }
    return fate == GMT_PROCESS_GONE &&
           gmt_database_state_get(recording->db, "exited", 0, &exited) == 0 && exited != 0;
}

/* The name that was asked for, where another process has it (capability "output"), which is of the same run. Without a
 * launcher it is not known what belongs together. */
static bool is_beside_another(const struct gmt_recording *recording)
{
    char wanted[PATH_MAX], run[sizeof(recording->control->run)];
    sqlite3_stmt *row = NULL;
    const char *text = NULL;
    wanted[0] = '\0';
    if (sqlite3_prepare_v2(recording->db,
                           "SELECT detail FROM capability WHERE name = 'output' AND state = "
                           "'partial' AND code = ?",
                           -1, &row, NULL) == SQLITE_OK &&
        sqlite3_bind_int(row, 1, EEXIST) == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW &&
        gmt_value_text(row, 0, &text) && text != NULL) {
        (void)snprintf(wanted, sizeof(wanted), "%s", text);
    }
    sqlite3_finalize(row);
    if (wanted[0] == '\0' || strcmp(wanted, recording->output) == 0 ||
        recording->control->run[0] == '\0') {
        return false;
    }
    int error = gmt_recording_run_of(wanted, run, sizeof(run));
    gmt_guard_lift_memory(); /* a trace may have been looked at: ours is not finished */
    return error == 0 && strncmp(run, recording->control->run, sizeof(run)) == 0;
}

bool gmt_recording_is_needless(const struct gmt_recording *recording, enum gmt_process_fate fate)
{
    int64_t is_empty = 0;
    if (recording->aggregate != NULL) {
        return false; /* no row says which calls failed */
    }
    return !has_lost(recording) && has_ended_well(recording, fate) &&
           gmt_database_integer(recording->db, is_empty_sql, 0, &is_empty) == 0 && is_empty != 0 &&
           is_beside_another(recording);
}

int gmt_recording_discard(struct gmt_recording *recording)
{
    bool is_moved = gmt_database_is_moved(recording->db);
    gmt_recording_set_state(recording->control, GMT_RECORDER_DONE);
    gmt_recording_close_database(recording);
    /* The database first: whoever sees no spool finds neither. */
    if (!is_moved && unlink(recording->output) != 0 && errno != ENOENT) {
        return -errno;
    }
    gmt_spool_folder_remove(recording->folder, recording->directory);
    return 0;
}

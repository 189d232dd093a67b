/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a trace for analysis: waits for a recorder at work, finishes what a killed one left. */
#include "analyzer/trace/open.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/base/time_limit.h"
#include "analyzer/trace/losses.h"
#include "libtrace/base/memory_limit.h"
#include "libtrace/base/printable.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/db/guard.h"
#include "libtrace/store/db/own_schema.h"
#include "libtrace/store/finished/reader.h"
#include "libtrace/store/recording/recording.h"

/* A recorder that is still draining needs seconds; a program still running is not waited for. */
#define GMT_OPEN_WAIT_NS UINT64_C(30000000000)
/* A second connection takes as much as what it takes over of 1.5 MB (docs/measurements.md). */
#define GMT_OPEN_BESIDE_BYTES (INT64_C(8) << 20)

struct gmt_recovered gmt_recovered_count(sqlite3 *db)
{
    static const char others[] =
        "SELECT (SELECT count(*) FROM memset) + (SELECT count(*) FROM sync) + "
        "(SELECT count(*) FROM api_call) + (SELECT count(*) FROM allocation) + "
        "(SELECT count(*) FROM host_allocation)";
    struct gmt_recovered count;
    struct gmt_lost_calls lost = gmt_lost_calls(db);
    int64_t copies, launches, rest;

    (void)gmt_database_integer(db, "SELECT count(*) FROM transfer", 0, &copies);
    (void)gmt_database_integer(db, "SELECT count(*) FROM launch", 0, &launches);
    (void)gmt_database_integer(db, others, 0, &rest);
    snprintf(count.text, sizeof(count.text), "%lld copies, %lld launches, %lld other calls%s%s",
             (long long)copies, (long long)launches, (long long)rest,
             lost.text[0] != '\0' ? "; " : "", lost.text);
    return count;
}

static int open_once(const char *path, unsigned flags, const struct gmt_open_how *how, sqlite3 **db,
                     char *message, size_t bytes)
{
    return gmt_trace_open_by(path, flags | how->flags, how->model, db, message, bytes);
}

/* A new file takes the place of the unfinished one. */
static int finish(const char *path, const struct gmt_open_how *how, sqlite3 **db, char *message,
                  size_t bytes)
{
    gmt_say(stderr, "gmanalyze: %s: its recorder did not finish it; finishing it from %s.spool\n",
            path, path);
    /* The trace that there is may be small, and the spool large. */
    gmt_guard_lift_memory();
    int rc = gmt_recording_recover(path);
    if (rc != 0) {
        snprintf(message, bytes,
                 "%s: not finished, what was recorded is in %s.spool still: %s; for a trace in "
                 "another place: gmanalyze recover -o NEW.db %s.spool",
                 path, path, gmt_recording_explain(rc), path);
        return rc;
    }
    rc = open_once(path, GMT_TRACE_ALLOW_INCOMPLETE, how, db, message, bytes);
    if (rc == 0) {
        gmt_say(stderr, "gmanalyze: %s: made anew: %s\n", path, gmt_recovered_count(*db).text);
    }
    return rc;
}

/* What has taken the name of the trace is none, and a recorder could not finish one beside it. */
static void point_at_spool(const char *path, char *message, size_t bytes)
{
    enum gmt_recording_state state = GMT_RECORDING_NONE;
    size_t used = strlen(message);

    if (gmt_recording_state(path, &state) == 0 && state == GMT_RECORDING_LEFTOVER) {
        snprintf(message + used, bytes - used,
                 "; for a trace of what was recorded: gmanalyze recover -o NEW.db %s.spool", path);
    }
}

static int open_or_finish(const char *path, const struct gmt_open_how *how, sqlite3 **db,
                          char *message, size_t bytes)
{
    enum gmt_recording_state state = GMT_RECORDING_NONE;
    int rc = open_once(path, 0, how, db, message, bytes);
    /* A recorder puts aside what has the name of its trace, but for a folder. */
    bool is_taken = rc == -EMEDIUMTYPE || rc == -EISDIR;

    if ((rc == -EINPROGRESS || is_taken) && gmt_recording_state(path, &state) == 0 &&
        state == GMT_RECORDING_LIVE) {
        gmt_say(stderr, "gmanalyze: %s: waiting for its recorder (at most 30 s)\n", path);
        gmt_recording_wait(path, GMT_OPEN_WAIT_NS);
        rc = open_once(path, 0, how, db, message, bytes);
    }
    if (is_taken && rc != 0) {
        point_at_spool(path, message, bytes);
    }
    if (rc != -EAGAIN) {
        return rc;
    }
    if (gmt_recording_state(path, &state) == 0 && state == GMT_RECORDING_LEFTOVER) {
        return finish(path, how, db, message, bytes);
    }
    /* There is no spool to finish it from: what is there is right. */
    return open_once(path, GMT_TRACE_ALLOW_INCOMPLETE, how, db, message, bytes);
}

static int check(sqlite3 *db, const struct gmt_open_how *how, char *why, size_t bytes)
{
    sqlite3 *model = how->model;
    int rc = model == NULL ? gmt_own_schema(&model) : 0;

    if (rc == 0) {
        rc = gmt_own_schema_values(db, model, gmt_trace_part(db, how->flags));
    }
    if (how->model == NULL) {
        sqlite3_close(model);
    }
    if (rc != 0) {
        snprintf(why, bytes, "%s",
                 rc == -ENOMEM ? gmt_guard_memory_reason() : gmt_guard_reason(db));
    }
    return rc;
}

int gmt_open_check(sqlite3 *db, char *why, size_t bytes)
{
    return check(db, &(struct gmt_open_how){0}, why, bytes);
}

static int open_checked(const char *path, const struct gmt_open_how *how, sqlite3 **db,
                        sqlite3 **beside, char *message, size_t bytes)
{
    char why[256];

    /* A recording that is finished here takes what its program's files need. */
    gmt_memory_limit_lift();
    int rc = open_or_finish(path, how, db, message, bytes);
    gmt_memory_limit(gmt_guard_memory_bytes());
    if (rc == 0) {
        gmt_time_limit(*db);
    }
    bool large = rc == 0 && beside != NULL && gmt_trace_bytes(*db) >= GMT_OPEN_BESIDE_BYTES;
    if (beside != NULL) {
        *beside = large ? gmt_trace_open_beside(*db) : NULL;
    }
    if (rc != 0 || (beside != NULL && *beside != NULL)) {
        return rc;
    }
    rc = check(*db, how, why, sizeof(why));
    if (rc != 0) {
        snprintf(message, bytes, "%s: %s", path, why);
        sqlite3_close(*db);
        *db = NULL;
    }
    return rc;
}

int gmt_open_trace_beside(const char *path, sqlite3 **db, sqlite3 **beside, char *message,
                          size_t bytes)
{
    return open_checked(path, &(struct gmt_open_how){0}, db, beside, message, bytes);
}

int gmt_open_trace(const char *path, sqlite3 **db, char *message, size_t bytes)
{
    return open_checked(path, &(struct gmt_open_how){0}, db, NULL, message, bytes);
}

int gmt_open_trace_how(const char *path, const struct gmt_open_how *how, sqlite3 **db,
                       char *message, size_t bytes)
{
    return open_checked(path, how, db, NULL, message, bytes);
}

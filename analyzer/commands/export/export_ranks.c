/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks of a fleet as one file of trace events: each trace's rows on one clock, and collectives by rank. */
#include "analyzer/commands/export/export_ranks.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/commands/commands.h"
#include "analyzer/commands/export/export_rows.h"
#include "analyzer/commands/export/ranks_collectives.h"
#include "analyzer/fleet/read.h"
#include "libtrace/base/file.h"
#include "libtrace/base/format.h"
#include "libtrace/base/printable.h"
#include "libtrace/record/checked.h"
#include "libtrace/store/db/guard.h"
#include "libtrace/store/steps/steps_derive.h"

/* pids: 1 has the collectives, and rank n of the file has those from 1000 n on; devices' ones are behind that of the process. */
enum { COLLECTIVES_PID = 1, PIDS = 1000, LAST_DEVICE = PIDS - 2 };

/* A day: a drift of it is exact to a nanosecond. */
#define LINE_NS INT64_C(86400000000000)

struct shown_rank {
    const struct gmt_fleet_rank *rank;
    const struct gmt_fleet_clock *clock;
    struct gmt_events_clock to_common;
    char label[256], track[320];
};

struct side_by_side {
    struct shown_rank *shown;
    size_t count;
    struct gmt_ranks_collectives collectives;
    struct gmt_events events;
    int64_t written; /* events */
    bool complained;
};

static int complain(struct side_by_side *file, const char *subject, const char *what)
{
    gmt_say(stderr, "gmanalyze: %s: %s\n", subject, what);
    file->complained = true;
    return -ECANCELED;
}

static bool is_known(const struct gmt_fleet_clock *clock)
{
    return clock->confidence != GMT_FLEET_NO_MATCH;
}

/* ---- before anything is written --------------------------------------------------------------- */

/* "rank 5 on node-3" */
static void label(struct shown_rank *shown)
{
    const struct gmt_fleet_rank *rank = shown->rank;
    char error[GMT_FORMAT_BYTES];

    snprintf(shown->label, sizeof(shown->label), "%s%.100s%s%.100s%s",
             rank->rank != NULL ? "rank " : "", gmt_fleet_rank_name(rank),
             rank->host != NULL ? " on " : "", rank->host != NULL ? rank->host : "",
             is_known(shown->clock) ? "" : ", clock as it is");
    snprintf(shown->track, sizeof(shown->track), "%s%s%s", shown->label,
             is_known(shown->clock) ? ", clock within " : "",
             is_known(shown->clock) ? gmt_format_ns(error, shown->clock->error_ns) : "");
}

/* As gmt_fleet_common_time does, of times of the trace: its line through two of them, at the middle of the run and later. */
static void set_clock(struct shown_rank *shown, int64_t to_wall_clock_ns)
{
    const struct gmt_fleet_clock *clock = shown->clock;

    shown->to_common = (struct gmt_events_clock){.shift_ns = to_wall_clock_ns};
    if (is_known(clock)) {
        int64_t wall_ns = gmt_sub_clamped(clock->middle_ns, gmt_integer_clamped(clock->offset_ns));
        int64_t later_ns = gmt_add_clamped(wall_ns, LINE_NS);
        int64_t offset_ns = gmt_sub_clamped(gmt_fleet_common_time(clock, wall_ns), wall_ns);
        int64_t later_offset_ns = gmt_sub_clamped(gmt_fleet_common_time(clock, later_ns), later_ns);

        shown->to_common = (struct gmt_events_clock){
            .shift_ns = gmt_add_clamped(to_wall_clock_ns, offset_ns),
            .middle_ns = gmt_sub_clamped(wall_ns, to_wall_clock_ns),
            .drift = (double)gmt_sub_clamped(later_offset_ns, offset_ns) / LINE_NS};
    }
}

static int open_trace(struct side_by_side *file, const struct shown_rank *shown, sqlite3 **db)
{
    if (gmt_command_open(shown->rank->trace, db) == GMT_EXIT_OK) {
        return 0;
    }
    file->complained = true;
    return -ECANCELED;
}

/* Can it be laid beside others, and when does it begin? */
static int look_at(struct side_by_side *file, struct shown_rank *shown)
{
    const char *trace = shown->rank->trace;
    struct gmt_export_rows rows = {.trace = trace};
    bool has_clock = false;
    int64_t to_wall_clock_ns = 0, origin_ns = 0;
    int rc = open_trace(file, shown, &rows.db);

    if (rc == 0 && gmt_steps_only(rows.db)) {
        rc = complain(file, trace,
                      "it has sums over steps alone, and no events that a timeline could show "
                      "(gmtrace without --aggregate records them)");
    }
    if (rc == 0 && gmt_fleet_wall_clock(rows.db, &has_clock, &to_wall_clock_ns) != 0) {
        rc = complain(file, trace, gmt_guard_reason(rows.db));
    }
    if (rc == 0 && !has_clock) {
        rc = complain(file, trace,
                      "it has no wall clock: nobody knows where it lies beside other ranks");
    }
    if (rc == 0) {
        rc = gmt_export_rows_origin(&rows, &origin_ns);
        file->complained |= rows.complained;
    }
    sqlite3_close(rows.db);
    if (rc == 0) {
        label(shown);
        set_clock(shown, to_wall_clock_ns);
        origin_ns = gmt_events_common(&shown->to_common, origin_ns);
        if (origin_ns < file->events.origin_ns) {
            file->events.origin_ns = origin_ns;
        }
    }
    return rc;
}

/* ---- the file --------------------------------------------------------------------------------- */

static void put_number(FILE *out, const char *key, bool known, double number)
{
    if (known && isfinite(number)) {
        fprintf(out, ",\"%s\":%.15g", key, number);
    } else {
        fprintf(out, ",\"%s\":null", key);
    }
}

/* What is true of the whole file. Times of day have more digits than a number of JavaScript. */
static void put_head(struct side_by_side *file)
{
    FILE *out = file->events.out;

    fprintf(out,
            "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"tool\":\"gmtrace " GMT_VERSION
            "\",\"zero_wall_clock_ns\":\"%" PRId64 "\",\"ranks\":[",
            file->events.origin_ns);
    for (size_t i = 0; i < file->count; i++) {
        const struct shown_rank *shown = &file->shown[i];
        bool known = is_known(shown->clock);

        fprintf(out, "%s\n{\"pid\":%d,\"rank\":", i > 0 ? "," : "", (int)(i + 1) * PIDS);
        gmt_events_text(&file->events, shown->rank->rank);
        fputs(",\"host\":", out);
        gmt_events_text(&file->events, shown->rank->host);
        fputs(",\"trace\":", out);
        gmt_events_text(&file->events, shown->rank->trace);
        put_number(out, "offset_ns", known, shown->clock->offset_ns);
        put_number(out, "drift_ppm", known, shown->clock->drift_ppm);
        put_number(out, "error_ns", known, shown->clock->error_ns);
        fputc('}', out);
    }
    fputs("]},\"traceEvents\":[", out);
}

/* What SQLite says of its own file. */
static int complain_kept(struct side_by_side *file)
{
    return complain(file, "the temporary file of collectives",
                    file->collectives.kept != NULL ? sqlite3_errmsg(file->collectives.kept)
                                                   : strerror(ENOMEM));
}

static int put_rank(struct side_by_side *file, size_t i)
{
    const struct shown_rank *shown = &file->shown[i];
    struct gmt_export_rows rows = {.trace = shown->rank->trace,
                                   .events = &file->events,
                                   .label = shown->label,
                                   .first_pid = (int)(i + 1) * PIDS,
                                   .last_device = LAST_DEVICE,
                                   .number = (int)i + 1};
    bool of_trace = true;
    int rc = open_trace(file, shown, &rows.db);

    if (rc == 0) {
        file->events.clock = shown->to_common;
        rc = gmt_export_rows_write(&rows);
        file->complained |= rows.complained;
        file->written += rows.count;
    }
    /* Last, since the tables of steps hide those of the trace. */
    if (rc == 0) {
        rc = gmt_ranks_collectives_take(&file->collectives, rows.db, (int)i, &shown->to_common,
                                        is_known(shown->clock), &of_trace);
        if (rc != 0 && rc != -ENOMEM) {
            rc = of_trace ? complain(file, shown->rank->trace, gmt_guard_reason(rows.db))
                          : complain_kept(file);
        }
    }
    sqlite3_close(rows.db);
    return rc;
}

static const char *track_name(const void *context, int rank)
{
    const struct side_by_side *file = context;

    return file->shown[rank].track;
}

static int write_events(void *context, FILE *out)
{
    struct side_by_side *file = context;
    int rc = gmt_ranks_collectives_open(&file->collectives);

    file->events.out = out;
    if (rc != 0) {
        return complain_kept(file);
    }
    put_head(file);
    for (size_t i = 0; i < file->count && rc == 0; i++) {
        rc = put_rank(file, i);
        rc = rc == 0 && ferror(out) ? -EIO : rc; /* a full disk need not wait for the last rank */
    }
    if (rc == 0 && gmt_ranks_collectives_write(&file->collectives, &file->events, COLLECTIVES_PID,
                                               track_name, file, &file->written) != 0) {
        rc = complain_kept(file);
    }
    fputs("\n]}\n", out);
    return rc == 0 && ferror(out) ? -EIO : rc;
}

/* ---- all of it -------------------------------------------------------------------------------- */

static void say_written(const struct side_by_side *file, const char *output)
{
    size_t unknown = 0;

    for (size_t i = 0; i < file->count; i++) {
        unknown += !is_known(file->shown[i].clock);
    }
    gmt_say(stderr, "gmanalyze: wrote %s, %" PRId64 " events of %zu rank%s\n", output,
            file->written, file->count, file->count == 1 ? "" : "s");
    if (unknown > 0) {
        gmt_say(
            stderr,
            "gmanalyze: %s: %zu of these ranks %s too few collectives in common with others: as "
            "their hosts' clocks have them\n",
            output, unknown, unknown == 1 ? "has" : "have");
    }
}

int gmt_export_ranks(const struct gmt_fleet *fleet, const struct gmt_fleet_clocks *clocks,
                     const struct gmt_fleet_chosen *chosen, const char *output)
{
    struct side_by_side file = {.shown = calloc(chosen->count + 1, sizeof(*file.shown)),
                                .count = chosen->count,
                                .events = {.origin_ns = INT64_MAX}};
    int rc = file.shown != NULL ? 0 : -ENOMEM;

    for (size_t i = 0; i < file.count && rc == 0; i++) {
        file.shown[i].rank = &fleet->ranks[chosen->ranks[i]];
        file.shown[i].clock = &clocks->ranks[chosen->ranks[i]];
        rc = look_at(&file, &file.shown[i]);
    }
    if (rc == 0) {
        rc = gmt_file_write(output, write_events, &file);
    }
    if (rc == 0) {
        say_written(&file, output);
    } else if (!file.complained) {
        gmt_say(stderr, "gmanalyze: %s: %s\n", output, gmt_command_reason(rc));
    }
    gmt_ranks_collectives_close(&file.collectives);
    free(file.shown);
    return rc == 0 ? GMT_EXIT_OK : GMT_EXIT_UNREADABLE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* From the tables of steps of a trace to values by step. */
#include "analyzer/fleet/read.h"

#include <errno.h>
#include <stdio.h>

#include "analyzer/fleet/rank_sums.h"
#include "analyzer/trace/query.h"
#include "libtrace/store/db/own_schema.h"

struct step_reading {
    sqlite3 *db;
    struct gmt_fleet_rank *rank;
    struct gmt_arena *arena;
    struct gmt_rank_sums sums;
    int64_t to_wall_clock_ns;
};

int gmt_fleet_wall_clock(sqlite3 *db, bool *has, int64_t *to_wall_clock_ns)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, db,
                            "SELECT realtime_ns, start_ns FROM process ORDER BY id LIMIT 1");

    *has = false;
    if (rc == 0 && gmt_query_next(&query)) {
        int64_t wall = gmt_query_known(&query, 0), start = gmt_query_time(&query, 1);

        *has = sqlite3_column_type(query.statement, 0) == SQLITE_INTEGER &&
               !__builtin_sub_overflow(wall, start, to_wall_clock_ns);
    }
    return gmt_query_close(&query, rc);
}

static int read_process(struct step_reading *reading)
{
    struct gmt_query query;
    struct gmt_fleet_rank *rank = reading->rank;
    int rc = gmt_query_open(&query, reading->db,
                            "SELECT hostname, rank, tool_version, end_reason, exit_status, "
                            "start_ns, end_ns FROM process ORDER BY id LIMIT 1");
    int64_t start_ns = 0, end_ns = 0;

    if (rc == 0 && gmt_query_next(&query)) {
        rank->host = gmt_query_text(&query, 0, reading->arena);
        rank->rank = gmt_query_text(&query, 1, reading->arena);
        rank->traits[GMT_FLEET_TOOL] = gmt_query_text(&query, 2, reading->arena);
        rank->end_reason = gmt_query_text(&query, 3, reading->arena);
        rank->life.has_exit_status = sqlite3_column_type(query.statement, 4) == SQLITE_INTEGER;
        rank->life.exit_status = gmt_query_int(&query, 4);
        start_ns = gmt_query_time(&query, 5);
        end_ns = gmt_query_time(&query, 6);
    }
    rc = gmt_query_close(&query, rc);
    if (rc == 0) {
        rc = gmt_fleet_wall_clock(reading->db, &rank->has_wall_clock, &reading->to_wall_clock_ns);
    }
    if (rc == 0 && rank->has_wall_clock && end_ns > start_ns &&
        (__builtin_add_overflow(start_ns, reading->to_wall_clock_ns, &rank->life.begin_ns) ||
         __builtin_add_overflow(end_ns, reading->to_wall_clock_ns, &rank->life.end_ns))) {
        rank->life.begin_ns = rank->life.end_ns = 0;
    }
    if (rc == 0) {
        rc = gmt_query_open(&query, reading->db,
                            "SELECT name, driver_version FROM device ORDER BY id LIMIT 1");
        if (rc == 0 && gmt_query_next(&query)) {
            rank->traits[GMT_FLEET_DEVICE] = gmt_query_text(&query, 0, reading->arena);
            rank->traits[GMT_FLEET_DRIVER] = gmt_query_text(&query, 1, reading->arena);
        }
        rc = gmt_query_close(&query, rc);
    }
    return rc;
}

static int read_steps(struct step_reading *reading)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, reading->db,
                            "SELECT id, steps, source = 'slice' AND EXISTS (SELECT 1 FROM step "
                            "WHERE source <> 'slice'), begin_ns, end_ns FROM step ORDER BY id");

    while (rc == 0 && reading->rank->trouble == NULL && gmt_query_next(&query)) {
        rc = gmt_rank_sums_step(&reading->sums, gmt_query_id(&query, 0), gmt_query_count(&query, 1),
                                gmt_query_int(&query, 2) != 0, gmt_query_time(&query, 3),
                                gmt_query_time(&query, 4));
    }
    return gmt_query_close(&query, rc);
}

static int read_calls(struct step_reading *reading)
{
    struct gmt_query query;
    int rc = gmt_query_open(
        &query, reading->db,
        "SELECT step_id, kind, calls, bytes, host_ns FROM step_call ORDER BY step_id");

    while (rc == 0 && gmt_query_next(&query)) {
        gmt_rank_sums_call(&reading->sums, gmt_query_id(&query, 0), gmt_query_text_here(&query, 1),
                           gmt_query_int(&query, 2), gmt_query_int(&query, 3),
                           gmt_query_int(&query, 4));
    }
    return gmt_query_close(&query, rc);
}

static int read_work(struct step_reading *reading)
{
    struct gmt_query query;
    int rc = gmt_query_open(
        &query, reading->db,
        "SELECT step_id, kind, bytes, device_ns FROM step_work ORDER BY step_id");

    while (rc == 0 && gmt_query_next(&query)) {
        gmt_rank_sums_work(&reading->sums, gmt_query_id(&query, 0), gmt_query_text_here(&query, 1),
                           gmt_query_int(&query, 2), gmt_query_int(&query, 3));
    }
    return gmt_query_close(&query, rc);
}

static int read_idle(struct step_reading *reading)
{
    struct gmt_query query;
    int rc = gmt_query_open(
        &query, reading->db,
        "SELECT step_id, cause = 'host_code', ns FROM step_time ORDER BY step_id");

    while (rc == 0 && gmt_query_next(&query)) {
        gmt_rank_sums_time(&reading->sums, gmt_query_id(&query, 0), gmt_query_int(&query, 1) != 0,
                           gmt_query_int(&query, 2));
    }
    return gmt_query_close(&query, rc);
}

static int read_memory(struct step_reading *reading)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, reading->db,
                            "SELECT step_id, live_bytes, peak_bytes FROM step_memory "
                            "WHERE device_id IS NOT NULL ORDER BY step_id");

    while (rc == 0 && gmt_query_next(&query)) {
        gmt_rank_sums_memory(&reading->sums, gmt_query_id(&query, 0), gmt_query_int(&query, 1),
                             gmt_query_int(&query, 2));
    }
    return gmt_query_close(&query, rc);
}

/* The software device counts while it executes: gmtrace has no time of its own there that is known. A row may lie within another
 * one, as a counted launch in a repeat, and threads may lose the same time: it counts once. */
static int read_own(struct step_reading *reading)
{
    struct gmt_query query;
    int64_t is_software = 0, counted_to_ns = INT64_MIN;
    int rc = gmt_query_int64(reading->db,
                             "SELECT count(*) FROM capability WHERE name = 'software_device'",
                             &is_software);

    if (rc != 0 || is_software != 0 || !gmt_trace_has_column(reading->db, "own_time", "beside")) {
        return rc;
    }
    rc = gmt_query_open(&query, reading->db,
                        "SELECT begin_ns, end_ns FROM own_time WHERE beside = 0 ORDER BY begin_ns");
    while (rc == 0 && gmt_query_next(&query)) {
        int64_t begin_ns = gmt_query_time(&query, 0), end_ns = gmt_query_time(&query, 1);

        begin_ns = begin_ns > counted_to_ns ? begin_ns : counted_to_ns;
        if (end_ns > begin_ns) {
            gmt_rank_sums_own(&reading->sums, begin_ns, end_ns);
            counted_to_ns = end_ns;
        }
    }
    return gmt_query_close(&query, rc);
}

int gmt_fleet_collectives_choose(sqlite3 *db, struct gmt_fleet_rows *rows)
{
    static const char host[] = "source = 'range' AND number IS NOT NULL AND grouped IS NULL";
    int64_t is_software = 0;
    int rc = gmt_query_int64(db, "SELECT count(*) FROM step_collective WHERE source = 'device'",
                             &rows->count);

    rows->which = "source = 'device'";
    if (rc == 0 && rows->count == 0) {
        rc = gmt_query_int64(db, "SELECT count(*) FROM capability WHERE name = 'software_device'",
                             &is_software);
    }
    if (rc == 0 && is_software != 0) {
        rows->which = host;
        rc = gmt_query_int64(db,
                             "SELECT count(*) FROM step_collective WHERE source = 'range' AND "
                             "number IS NOT NULL AND grouped IS NULL",
                             &rows->count);
    }
    return rc;
}

int gmt_fleet_collectives_each(sqlite3 *db, const struct gmt_fleet_rows *rows,
                               int (*take)(void *context, const struct gmt_collective_row *row),
                               void *context)
{
    struct gmt_query query;
    char sql[512];

    snprintf(sql, sizeof(sql),
             "SELECT n.text, c.position, c.begin_ns, c.end_ns, c.communicator, c.number, c.ranks, "
             "c.bytes FROM step_collective c LEFT JOIN string n ON n.id = c.name_id WHERE %s ORDER "
             "BY c.position",
             rows->which);
    int rc = gmt_query_open(&query, db, sql);
    while (rc == 0 && gmt_query_next(&query)) {
        const struct gmt_collective_row row = {.name = gmt_query_text_here(&query, 0),
                                               .position = gmt_query_count(&query, 1),
                                               .begin_ns = gmt_query_time(&query, 2),
                                               .end_ns = gmt_query_time(&query, 3),
                                               .communicator = gmt_query_int(&query, 4),
                                               .number = gmt_query_count(&query, 5),
                                               .ranks = gmt_query_count(&query, 6),
                                               .bytes = gmt_query_bytes(&query, 7)};

        rc = take(context, &row);
    }
    return gmt_query_close(&query, rc);
}

static int take_collective(void *context, const struct gmt_collective_row *row)
{
    struct step_reading *reading = context;

    return gmt_rank_sums_collective(&reading->sums, row, reading->to_wall_clock_ns);
}

static int read_collectives(struct step_reading *reading)
{
    struct gmt_fleet_rows rows = {0};
    int rc = gmt_fleet_collectives_choose(reading->db, &rows);

    if (rc != 0 || rows.count == 0) {
        return rc;
    }
    gmt_rank_sums_collectives(&reading->sums, rows.count);
    return gmt_fleet_collectives_each(reading->db, &rows, take_collective, reading);
}

int gmt_fleet_read(struct gmt_fleet_rank *rank, sqlite3 *db, struct gmt_arena *arena)
{
    static int (*const parts[])(struct step_reading *) = {
        read_steps, read_calls, read_work, read_idle, read_own, read_memory, read_collectives};
    struct step_reading reading = {
        .db = db, .rank = rank, .arena = arena, .sums = {.rank = rank, .arena = arena}};
    int rc = read_process(&reading);

    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && rc == 0 && rank->trouble == NULL;
         i++) {
        rc = parts[i](&reading);
    }
    return rc == 0 ? gmt_rank_sums_finish(&reading.sums) : rc;
}

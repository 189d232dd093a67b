/* SPDX-License-Identifier: Apache-2.0 */
/* From the tables of steps to values by step. */
#include "analyzer/fleet/read.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/trace/query.h"

/* Nobody records more; a number beyond is damage. */
#define STEPS_MOST 10000000

struct read_step {
    int32_t id;
    size_t first, count; /* steps of the rank, from 0; count 0: is left out */
    double step_ns, in_calls_ns;
    double h2d_bytes, d2h_bytes, h2d_ns, d2h_ns;
    bool has_time;
    double values[GMT_FLEET_MEASURES]; /* sums; LEAK and PEAK as they are */
};

struct step_reading {
    sqlite3 *db;
    struct gmt_fleet_rank *rank;
    struct gmt_arena *arena;
    struct read_step *rows; /* by id */
    size_t row_count, used;
    int64_t to_wall_clock_ns;
};

/* Rows of a query come by step, so the search goes on from the last one. NULL: no such step. */
static struct read_step *step_of(struct step_reading *reading, int32_t id)
{
    if (reading->used >= reading->row_count || reading->rows[reading->used].id > id) {
        reading->used = 0;
    }
    while (reading->used < reading->row_count && reading->rows[reading->used].id < id) {
        reading->used++;
    }
    struct read_step *row = reading->used < reading->row_count ? &reading->rows[reading->used]
                                                               : NULL;
    return row != NULL && row->id == id ? row : NULL;
}

static int read_process(struct step_reading *reading)
{
    struct gmt_query query;
    struct gmt_fleet_rank *rank = reading->rank;
    int rc = gmt_query_open(
        &query, reading->db,
        "SELECT hostname, rank, tool_version, realtime_ns, start_ns FROM process "
        "ORDER BY id LIMIT 1");

    if (rc == 0 && gmt_query_next(&query)) {
        rank->host = gmt_query_text(&query, 0, reading->arena);
        rank->rank = gmt_query_text(&query, 1, reading->arena);
        rank->traits[GMT_FLEET_TOOL] = gmt_query_text(&query, 2, reading->arena);
        int64_t wall = gmt_query_known(&query, 3), start = gmt_query_time(&query, 4);

        rank->has_wall_clock = sqlite3_column_type(query.statement, 3) == SQLITE_INTEGER &&
                               !__builtin_sub_overflow(wall, start, &reading->to_wall_clock_ns);
    }
    rc = gmt_query_close(&query, rc);
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
    size_t next = 0;
    int rc = gmt_query_open(&query, reading->db,
                            "SELECT id, steps, source = 'slice' AND EXISTS (SELECT 1 FROM step "
                            "WHERE source <> 'slice'), begin_ns, end_ns FROM step ORDER BY id");

    while (rc == 0 && gmt_query_next(&query)) {
        struct read_step row = {.id = gmt_query_id(&query, 0)};
        int64_t steps = gmt_query_count(&query, 1);
        bool left_out = gmt_query_int(&query, 2) != 0;

        row.step_ns = (double)(gmt_query_time(&query, 4) - gmt_query_time(&query, 3));
        row.first = next;
        row.count = left_out || steps < 1 ? 0 : (size_t)steps;
        next += row.count;
        if (next > STEPS_MOST || row.step_ns < 0) {
            reading->rank->trouble = "its steps are damaged";
            break;
        }
        struct read_step *added = GMT_PUSH(reading->arena, reading->rows, reading->row_count);
        if (added == NULL) {
            rc = -ENOMEM;
            break;
        }
        *added = row;
    }
    reading->rank->step_count = next;
    return gmt_query_close(&query, rc);
}

static bool is(const char *kind, const char *word)
{
    return kind != NULL && strcmp(kind, word) == 0;
}

static void add_calls(struct read_step *row, const char *kind, double calls, double bytes,
                      double host_ns)
{
    double *values = row->values;

    row->in_calls_ns += host_ns;
    if (is(kind, "kernel") || is(kind, "graph")) {
        values[GMT_FLEET_LAUNCHES] += calls;
        values[GMT_FLEET_CALLS] += host_ns;
    } else if (is(kind, "copy_h2d") || is(kind, "copy_d2h")) {
        values[GMT_FLEET_COPIES] += calls;
        values[GMT_FLEET_COPY_BYTES] += bytes;
    } else if (is(kind, "allocation") || is(kind, "free") || is(kind, "page_locking") ||
               is(kind, "page_unlocking")) {
        values[GMT_FLEET_ALLOC_CALLS] += calls;
        values[GMT_FLEET_ALLOC_NS] += host_ns;
    } else if (is(kind, "collective")) {
        /* Until the device's time is known. */
        values[GMT_FLEET_COLLECTIVES] += host_ns;
    } else if (is(kind, "module_loading") || is(kind, "other") || is(kind, "memset")) {
        values[GMT_FLEET_CALLS] += host_ns;
    }
}

static int read_calls(struct step_reading *reading)
{
    struct gmt_query query;
    int rc = gmt_query_open(
        &query, reading->db,
        "SELECT step_id, kind, calls, bytes, host_ns FROM step_call ORDER BY step_id");

    while (rc == 0 && gmt_query_next(&query)) {
        struct read_step *row = step_of(reading, gmt_query_id(&query, 0));

        if (row != NULL) {
            add_calls(row, gmt_query_text_here(&query, 1), (double)gmt_query_int(&query, 2),
                      (double)gmt_query_int(&query, 3), (double)gmt_query_int(&query, 4));
        }
    }
    return gmt_query_close(&query, rc);
}

static void add_work(struct read_step *row, const char *kind, double bytes, double device_ns)
{
    if (is(kind, "kernel")) {
        row->values[GMT_FLEET_KERNELS] += device_ns;
    } else if (is(kind, "collective")) {
        row->values[GMT_FLEET_COLLECTIVES] += device_ns;
    } else if (is(kind, "copy_h2d")) {
        row->h2d_bytes += bytes;
        row->h2d_ns += device_ns;
    } else if (is(kind, "copy_d2h")) {
        row->d2h_bytes += bytes;
        row->d2h_ns += device_ns;
    }
}

static int read_work(struct step_reading *reading)
{
    struct gmt_query query;
    int rc = gmt_query_open(
        &query, reading->db,
        "SELECT step_id, kind, bytes, device_ns FROM step_work ORDER BY step_id");

    while (rc == 0 && gmt_query_next(&query)) {
        struct read_step *row = step_of(reading, gmt_query_id(&query, 0));

        if (!reading->rank->has_device_times) {
            reading->rank->has_device_times = true;
            for (size_t i = 0; i < reading->row_count; i++) {
                reading->rows[i].values[GMT_FLEET_COLLECTIVES] = 0;
            }
        }
        if (row != NULL) {
            add_work(row, gmt_query_text_here(&query, 1), (double)gmt_query_int(&query, 2),
                     (double)gmt_query_int(&query, 3));
        }
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
        struct read_step *row = step_of(reading, gmt_query_id(&query, 0));

        if (row != NULL) {
            row->has_time = true;
            row->values[GMT_FLEET_HOST] += gmt_query_int(&query, 1) != 0
                                               ? (double)gmt_query_int(&query, 2)
                                               : 0;
        }
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
        struct read_step *row = step_of(reading, gmt_query_id(&query, 0));

        if (row != NULL) {
            row->values[GMT_FLEET_LEAK] += (double)gmt_query_int(&query, 1);
            row->values[GMT_FLEET_PEAK] += (double)gmt_query_int(&query, 2);
        }
    }
    return gmt_query_close(&query, rc);
}

static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325); /* FNV-1a */

    for (; text != NULL && *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001B3);
    }
    return hash;
}

/* Only what the device reports ends at one moment for all: a call returns when it likes. */
static int read_collectives(struct step_reading *reading)
{
    struct gmt_query query;
    struct gmt_fleet_rank *rank = reading->rank;
    int64_t count = 0;
    int rc = gmt_query_int64(
        reading->db, "SELECT count(*) FROM step_collective WHERE source = 'device'", &count);

    if (rc != 0 || count == 0) {
        return rc;
    }
    /* By their positions, which are the same in all ranks. */
    int64_t every = 1 + count / GMT_FLEET_COLLECTIVES_MOST;
    rc = gmt_query_open(
        &query, reading->db,
        "SELECT n.text, c.position, c.end_ns FROM step_collective c LEFT JOIN string n "
        "ON n.id = c.name_id WHERE c.source = 'device' ORDER BY c.position");
    while (rc == 0 && gmt_query_next(&query)) {
        struct gmt_fleet_collective one = {.key = hash_of(gmt_query_text_here(&query, 0)),
                                           .position = gmt_query_count(&query, 1)};

        one.end_ns = gmt_query_time(&query, 2);
        if (one.position % every != 0 ||
            __builtin_add_overflow(one.end_ns, reading->to_wall_clock_ns, &one.end_ns)) {
            continue;
        }
        struct gmt_fleet_collective *added = GMT_PUSH(reading->arena, rank->collectives,
                                                      rank->collective_count);
        if (added == NULL) {
            rc = -ENOMEM;
            break;
        }
        *added = one;
    }
    return gmt_query_close(&query, rc);
}

/* Values of one row, by step. */
static void spread_row(struct gmt_fleet_rank *rank, struct read_step *row)
{
    double steps = (double)row->count, *values = row->values;

    for (int m = 0; m < GMT_FLEET_MEASURES; m++) {
        values[m] /= m == GMT_FLEET_LEAK || m == GMT_FLEET_PEAK ? 1 : steps;
    }
    values[GMT_FLEET_STEP] = row->step_ns / steps;
    values[GMT_FLEET_H2D] = row->h2d_bytes > 0 ? row->h2d_ns / row->h2d_bytes * 1e6 : NAN;
    values[GMT_FLEET_D2H] = row->d2h_bytes > 0 ? row->d2h_ns / row->d2h_bytes * 1e6 : NAN;
    if (!rank->has_device_times) {
        values[GMT_FLEET_KERNELS] = NAN;
        values[GMT_FLEET_HOST] = fmax(row->step_ns - row->in_calls_ns, 0) / steps;
    } else if (!row->has_time) {
        values[GMT_FLEET_HOST] = NAN;
    }
    for (size_t i = 0; i < row->count; i++) {
        memcpy(rank->values + (row->first + i) * GMT_FLEET_MEASURES, values, sizeof(row->values));
    }
}

static int fill_values(struct step_reading *reading)
{
    struct gmt_fleet_rank *rank = reading->rank;

    rank->values = gmt_arena_alloc(reading->arena, (rank->step_count + 1) * GMT_FLEET_MEASURES *
                                                       sizeof(*rank->values));
    if (rank->values == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < reading->row_count; i++) {
        if (reading->rows[i].count > 0) {
            spread_row(rank, &reading->rows[i]);
        }
    }
    return 0;
}

int gmt_fleet_read(struct gmt_fleet_rank *rank, sqlite3 *db, struct gmt_arena *arena)
{
    static int (*const parts[])(struct step_reading *) = {read_calls, read_work, read_idle,
                                                          read_memory, read_collectives};
    struct step_reading reading = {.db = db, .rank = rank, .arena = arena};
    int rc = read_process(&reading);

    if (rc == 0) {
        rc = read_steps(&reading);
    }
    if (rc != 0 || rank->trouble != NULL) {
        return rc;
    }
    if (rank->step_count == 0) {
        rank->trouble = rank->traits[GMT_FLEET_DEVICE] == NULL ? "it has used no GPU"
                                                               : "its trace has no steps";
        return 0;
    }
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && rc == 0; i++) {
        rc = parts[i](&reading);
    }
    return rc == 0 ? fill_values(&reading) : rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps collectives of several ranks in a file, and writes them as trace events, by rank, with arrows. */
#include "analyzer/commands/export/ranks_collectives.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "analyzer/fleet/collectives.h"
#include "analyzer/fleet/read.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/steps/steps_derive.h"

/*
 * Matched are those of ranks whose clocks are known: by communicator and number, or, where NCCL names no communicator in any of
 * them, by kernel and position, as clocks.h does.
 */
static const char make_sql[] =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
    "CREATE TABLE collective (id INTEGER PRIMARY KEY, rank, begin_ns, end_ns, name, key, position, "
    "communicator, ranks, bytes, clock_known); BEGIN";
static const char insert_sql[] =
    "INSERT INTO collective VALUES (NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
enum row_column {
    RANK,
    BEGIN_NS,
    END_NS,
    NAME,
    POSITION,
    COMMUNICATOR,
    RANKS,
    BYTES,
    PLACE, /* among those that it is matched with, from 1, in the order in which their ranks came */
    TOGETHER, /* how many these are */
    ARROW     /* one number for all of them */
};
static const char rows_sql[] =
    "WITH matched AS (SELECT *, clock_known AND (communicator <> 0 OR NOT EXISTS (SELECT 1 FROM "
    "collective WHERE communicator <> 0)) AS serves FROM collective) "
    "SELECT rank, begin_ns, end_ns, name, position, communicator, ranks, bytes, "
    "row_number() OVER (PARTITION BY serves, key, position ORDER BY begin_ns, rank), "
    "serves * count(*) OVER (PARTITION BY serves, key, position), "
    "min(id) OVER (PARTITION BY serves, key, position) "
    "FROM matched ORDER BY rank, begin_ns, end_ns DESC";

int gmt_ranks_collectives_open(struct gmt_ranks_collectives *all)
{
    *all = (struct gmt_ranks_collectives){0};
    if (sqlite3_open_v2("", &all->kept,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK) {
        return all->kept != NULL ? gmt_database_error(all->kept) : -ENOMEM;
    }
    int rc = gmt_database_exec(all->kept, make_sql);

    return rc != 0 || sqlite3_prepare_v2(all->kept, insert_sql, -1, &all->insert, NULL) == SQLITE_OK
               ? rc
               : gmt_database_error(all->kept);
}

void gmt_ranks_collectives_close(struct gmt_ranks_collectives *all)
{
    sqlite3_finalize(all->insert);
    sqlite3_close(all->kept);
    *all = (struct gmt_ranks_collectives){0};
}

struct taking {
    struct gmt_ranks_collectives *all;
    const struct gmt_events_clock *clock;
    int rank;
    bool clock_known, failed; /* the latter: to keep one */
};

/* "AllReduce 17"; what is none of collectives.def has its own name. */
static void name_one(char *name, size_t bytes, const struct gmt_fleet_collective *one,
                     const struct gmt_collective_row *row)
{
    enum gmt_fleet_operation operation = (enum gmt_fleet_operation)one->operation;
    const char *word = operation != GMT_FLEET_OPERATION_OTHER || row->name == NULL
                           ? gmt_fleet_operation_word(operation)
                           : row->name;

    snprintf(name, bytes, "%.200s %" PRId64, word, one->position);
}

static int keep(void *context, const struct gmt_collective_row *row)
{
    struct taking *taking = context;
    sqlite3_stmt *insert = taking->all->insert;
    struct gmt_fleet_collective one;
    char name[256];

    (void)gmt_fleet_collective_of(&one, row, 0);
    name_one(name, sizeof(name), &one, row);
    const sqlite3_int64 values[] = {taking->rank,
                                    gmt_events_common(taking->clock, one.begin_ns),
                                    gmt_events_common(taking->clock, one.end_ns),
                                    0,
                                    (sqlite3_int64)one.key,
                                    one.position,
                                    (sqlite3_int64)one.communicator,
                                    one.ranks,
                                    (sqlite3_int64)one.bytes,
                                    taking->clock_known};
    for (int i = 0; i < (int)(sizeof(values) / sizeof(*values)); i++) {
        (void)sqlite3_bind_int64(insert, i + 1, values[i]);
    }
    (void)sqlite3_bind_text(insert, 4, name, -1, SQLITE_TRANSIENT);
    taking->failed = sqlite3_step(insert) != SQLITE_DONE;
    (void)sqlite3_reset(insert);
    return taking->failed ? gmt_database_error(taking->all->kept) : 0;
}

int gmt_ranks_collectives_take(struct gmt_ranks_collectives *all, sqlite3 *trace, int rank,
                               const struct gmt_events_clock *clock, bool clock_known,
                               bool *of_trace)
{
    struct taking taking = {.all = all, .clock = clock, .rank = rank, .clock_known = clock_known};
    struct gmt_fleet_rows rows = {0};
    int rc = gmt_steps_derive(trace, "");

    if (rc == 0) {
        rc = gmt_fleet_collectives_choose(trace, &rows);
    }
    if (rc == 0 && rows.count > 0) {
        rc = gmt_fleet_collectives_each(trace, &rows, keep, &taking);
    }
    *of_trace = !taking.failed;
    return rc;
}

/* ---- writing ---------------------------------------------------------------------------------- */

struct writing {
    struct gmt_events events; /* of times that are the common clock's already */
    struct gmt_lanes lanes;
    int rank; /* of the track that is written; -1: none */
    int pid;
    const char *(*name)(const void *context, int rank);
    const void *context;
};

static void put_arguments(FILE *out, sqlite3_stmt *row)
{
    int64_t communicator = sqlite3_column_int64(row, COMMUNICATOR);

    fprintf(out, "\"number\":%" PRId64, (int64_t)sqlite3_column_int64(row, POSITION));
    if (communicator != 0) {
        fprintf(out, ",\"communicator\":\"%016" PRIx64 "\",\"bytes\":%" PRId64,
                (uint64_t)communicator, (int64_t)sqlite3_column_int64(row, BYTES));
    }
    if (sqlite3_column_int64(row, RANKS) != 0) {
        fprintf(out, ",\"ranks\":%" PRId64, (int64_t)sqlite3_column_int64(row, RANKS));
    }
}

static void put_row(struct writing *writing, sqlite3_stmt *row)
{
    int rank = sqlite3_column_int(row, RANK);
    int64_t place = sqlite3_column_int64(row, PLACE),
            together = sqlite3_column_int64(row, TOGETHER);
    struct gmt_events_slice slice = {.pid = writing->pid,
                                     .tid = rank + 1,
                                     .begin_ns = sqlite3_column_int64(row, BEGIN_NS),
                                     .end_ns = sqlite3_column_int64(row, END_NS),
                                     .name = (const char *)sqlite3_column_text(row, NAME),
                                     .category = "collective"};

    if (rank != writing->rank) {
        writing->rank = rank;
        writing->lanes = (struct gmt_lanes){0};
    }
    gmt_lanes_place(&writing->lanes, &writing->events, &slice,
                    writing->name(writing->context, rank), rank);
    gmt_events_open_slice(&writing->events, &slice);
    put_arguments(writing->events.out, row);
    gmt_events_close_slice(&writing->events);
    if (together > 1) {
        gmt_events_flow(&writing->events,
                        place == 1          ? 's'
                        : place == together ? 'f'
                                            : 't',
                        &slice, "collective", sqlite3_column_int64(row, ARROW));
    }
}

int gmt_ranks_collectives_write(struct gmt_ranks_collectives *all, struct gmt_events *events,
                                int pid, const char *(*name)(const void *context, int rank),
                                const void *context, int64_t *count)
{
    struct writing writing = {
        .events = *events, .rank = -1, .pid = pid, .name = name, .context = context};
    sqlite3_stmt *row = NULL;
    int code = sqlite3_prepare_v2(all->kept, rows_sql, -1, &row, NULL);

    writing.events.clock = (struct gmt_events_clock){0};
    for (code = code == SQLITE_OK ? sqlite3_step(row) : code; code == SQLITE_ROW;
         code = sqlite3_step(row)) {
        if (writing.rank < 0) {
            gmt_events_name(&writing.events, "process_name", pid, 0, "collectives, by rank");
            gmt_events_place(&writing.events, "process_sort_index", pid, 0, pid);
        }
        put_row(&writing, row);
        ++*count;
    }
    int rc = code == SQLITE_DONE ? 0 : gmt_database_error(all->kept);
    sqlite3_finalize(row);
    events->begun = writing.events.begun;
    return rc;
}

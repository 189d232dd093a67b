/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_fleet DIR SEED FAULT [RANKS [STEPS]]: writes the traces of a generated job, with sums over steps alone, and prints which
 * rank has the fault. FAULT: a number of enum fault.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libtrace/store/db/database.h"
#include "tests/fleet/sums.h"

#define START_NS INT64_C(1000000000)
#define REALTIME_NS INT64_C(1700000000000000000)

static void insert(sqlite3 *db, char *sql)
{
    char *error = NULL;

    if (sql == NULL || sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK) {
        fprintf(stderr, "make_fleet: %s: %s\n", sql, error);
        exit(1);
    }
    sqlite3_free(sql);
}

static void write_step(sqlite3 *db, const double *values, size_t step, int64_t *at)
{
    int id = (int)step + 1;
#define VALUE(name) llround(values[GMT_FLEET_##name])
    int64_t begin = *at, end = begin + VALUE(STEP);

    insert(db, sqlite3_mprintf(
                   "INSERT INTO step VALUES (%d, %d, 1, 'range', NULL, %lld, %lld, %lld, %lld)", id,
                   id, begin, end, end - begin, end - begin));
    insert(db, sqlite3_mprintf(
                   "INSERT INTO step_call VALUES (%d, 'kernel', NULL, %lld, 0, %lld, 0, 0), "
                   "(%d, 'copy_h2d', NULL, %lld, %lld, 0, 0, 0), (%d, 'allocation', NULL, %lld, 0, "
                   "%lld, 0, 0)",
                   id, VALUE(LAUNCHES), VALUE(CALLS), id, VALUE(COPIES), VALUE(COPY_BYTES), id,
                   VALUE(ALLOC_CALLS), VALUE(ALLOC_NS)));
    insert(db,
           sqlite3_mprintf(
               "INSERT INTO step_work VALUES (%d, 0, 'kernel', 1, 0, %lld, 0), "
               "(%d, 0, 'collective', 1, 0, %lld, 0), (%d, 0, 'copy_h2d', 1, 1000000, %lld, 0), "
               "(%d, 0, 'copy_d2h', 1, 1000000, %lld, 0)",
               id, VALUE(KERNELS), id, VALUE(COLLECTIVES), id, VALUE(H2D), id, VALUE(D2H)));
    insert(db, sqlite3_mprintf(
                   "INSERT INTO step_time VALUES (%d, 0, 'busy', 1), (%d, 0, 'host_code', %lld)",
                   id, id, VALUE(HOST)));
    insert(db, sqlite3_mprintf("INSERT INTO step_memory VALUES (%d, 0, %lld, %lld, 1)", id,
                               VALUE(LEAK), VALUE(PEAK)));
#undef VALUE
    *at = end;
}

static void write_rank(const struct gmt_fleet_rank *rank, int number, const char *folder)
{
    char path[PATH_MAX];
    sqlite3 *db = NULL;
    int64_t at = START_NS;
    size_t each = rank->step_count > 0 ? rank->collective_count / rank->step_count : 0;

    snprintf(path, sizeof(path), "%s/rank%d.db", folder, number);
    if (gmt_database_create(
            path, "INSERT INTO meta VALUES ('format', '1'), ('complete', '1'), ('aggregate', '1');",
            &db) != 0) {
        fprintf(stderr, "make_fleet: %s: %s\n", path, strerror(errno));
        exit(1);
    }
    insert(db, sqlite3_mprintf("BEGIN"));
    insert(db,
           sqlite3_mprintf(
               "INSERT INTO process (id, pid, hostname, rank, tool_version, realtime_ns, start_ns) "
               "VALUES (1, %d, %Q, %Q, '0.1.0', %lld, %lld)",
               1000 + number, rank->host, rank->rank, REALTIME_NS, START_NS));
    insert(db, sqlite3_mprintf(
                   "INSERT INTO device (id, name, driver_version) VALUES (0, 'NVIDIA H200', %Q)",
                   rank->traits[GMT_FLEET_DRIVER]));
    insert(db, sqlite3_mprintf("INSERT INTO string VALUES (1, 'ncclDevKernel_AllReduce')"));
    for (size_t step = 0; step < rank->step_count; step++) {
        write_step(db, rank->values + step * GMT_FLEET_MEASURES, step, &at);
        for (size_t i = step * each; i < (step + 1) * each; i++) {
            int64_t end = rank->collectives[i].end_ns - (REALTIME_NS - START_NS);

            insert(
                db,
                sqlite3_mprintf(
                    "INSERT INTO step_collective (step_id, position, source, name_id, device_id, "
                    "stream, begin_ns, end_ns) VALUES (%d, %lld, 'device', 1, 0, 7, %lld, %lld)",
                    (int)step + 1, rank->collectives[i].position, end - 1000, end));
        }
    }
    /* As a recorder does when all rows are in. */
    insert(db, sqlite3_mprintf("%s", gmt_indexes_sql));
    insert(db, sqlite3_mprintf("COMMIT"));
    gmt_database_close(db);
}

int main(int argc, char **argv)
{
    struct physics physics;
    struct gmt_fleet fleet;

    if (argc < 4 || (mkdir(argv[1], 0777) != 0 && errno != EEXIST)) {
        fprintf(stderr, "make_fleet DIR SEED FAULT [RANKS [STEPS]]\n");
        return 2;
    }
    physics_plan(&physics, strtoul(argv[2], NULL, 10), (enum fault)atoi(argv[3]));
    if (argc > 4) {
        physics.ranks = atoi(argv[4]);
        physics.odd %= physics.ranks;
    }
    if (argc > 5) {
        physics.steps = atoi(argv[5]);
        physics.from_step = 0;
    }
    sums_make(&fleet, &physics);
    for (size_t r = 0; r < fleet.count; r++) {
        write_rank(&fleet.ranks[r], (int)r, argv[1]);
    }
    printf("%d\n", physics.odd);
    sums_free(&fleet);
    return 0;
}

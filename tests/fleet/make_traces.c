/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_traces DIR SEED FAULT RANKS STEPS [RANK:SKEW_MS:DRIFT_PPM]...: writes whole traces of a generated job, with every call, and prints
 * which rank has the fault (a number of enum fault). The wall clock of each named rank is off by so much, and runs so much faster.
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
#include "tests/fleet/physics.h"

/* 30 kernels are enough for the eye, and keep the traces small. */
enum { RANKS_MOST = 64, KERNELS = 30 };
#define COMMUNICATOR INT64_C(0x5eed)

struct made {
    sqlite3 *db;
    int calls;        /* numbers of calls of all kinds */
    int64_t start_ns; /* of the job, on the clock of this trace */
    int64_t skew_ns;
    double drift;
};

struct job {
    struct physics physics;
    struct made ranks[RANKS_MOST];
};

/* Runs the statement, and frees it. */
static void run(sqlite3 *db, char *sql)
{
    char *error = NULL;

    if (sql == NULL || sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK) {
        fprintf(stderr, "make_traces: %s: %s\n", sql, error);
        exit(1);
    }
    sqlite3_free(sql);
}

/* CLOCK_MONOTONIC of the rank's host, which runs as its wall clock does. */
static long long at(const struct job *job, int rank, int64_t true_ns)
{
    const struct made *made = &job->ranks[rank];

    return made->start_ns + physics_wall_clock(&job->physics, rank, true_ns) -
           physics_wall_clock(&job->physics, rank, 0) + llround(made->drift * (double)true_ns);
}

static void put_launch(struct job *job, int rank, const struct event *event, int64_t begin,
                       int64_t end)
{
    sqlite3 *db = job->ranks[rank].db;
    int kernel = event->kind == EVENT_COLLECTIVE ? 2 : 1, number = ++job->ranks[rank].calls;
    long long start = at(job, rank, event->device_begin), stop = at(job, rank, event->device_end);

    run(db,
        sqlite3_mprintf(
            "INSERT INTO launch (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, "
            "result, capturing, kind, seq, kernel_id, class_id, grid_x, grid_y, grid_z, "
            "block_x, block_y, block_z, dynamic_shared_bytes, no_activity, arguments, "
            "device_start_ns, device_end_ns) VALUES (%d, 3, 1, 1, %d, %lld, %lld, 0, 0, 'kernel', "
            "%d, %d, %d, 132, 1, 1, 256, 1, 1, 0, 0, 'unknown', %lld, %lld)",
            number, kernel, at(job, rank, begin), at(job, rank, end), number, kernel, kernel, start,
            stop));
    run(db, sqlite3_mprintf(
                "INSERT INTO device_op (kind, context_id, device_id, cupti_stream, correlation, "
                "start_ns, end_ns, kernel_name_id, call_id) VALUES ('kernel', 1, 0, %d, 1, %lld, "
                "%lld, %d, last_insert_rowid())",
                6 + kernel, start, stop, kernel));
}

static void put_copy(struct job *job, int rank, const struct event *event)
{
    bool up = event->kind == EVENT_H2D;
    sqlite3 *db = job->ranks[rank].db;
    long long start = at(job, rank, event->device_begin), stop = at(job, rank, event->device_end);

    run(db, sqlite3_mprintf(
                "INSERT INTO transfer (id, api_id, thread_id, context_id, stream_id, begin_ns, "
                "end_ns, result, capturing, direction, blocking, bytes, dst_class, "
                "src_class, device_start_ns, device_end_ns) VALUES (%d, %d, 1, 1, 1, %lld, "
                "%lld, 0, 0, %Q, 0, %lld, %Q, %Q, %lld, %lld)",
                ++job->ranks[rank].calls, up ? 1 : 2, at(job, rank, event->begin),
                at(job, rank, event->end), up ? "h2d" : "d2h", (long long)event->bytes,
                up ? "device" : "pinned", up ? "pinned" : "device", start, stop));
    run(db, sqlite3_mprintf(
                "INSERT INTO device_op (kind, context_id, device_id, cupti_stream, correlation, "
                "start_ns, end_ns, bytes, copy_kind, call_id) VALUES ('copy', 1, 0, 7, 1, %lld, "
                "%lld, %lld, %d, last_insert_rowid())",
                start, stop, (long long)event->bytes, up ? 1 : 2));
}

static void put_memory(const struct job *job, int rank, const struct event *event)
{
    long long begin = at(job, rank, event->begin), end = at(job, rank, event->end);
    sqlite3 *db = job->ranks[rank].db;

    run(db, event->kind == EVENT_ALLOCATE
                ? sqlite3_mprintf("INSERT INTO allocation (kind, address, bytes, context_id, "
                                  "thread_id, api_id, begin_ns, end_ns) SELECT 'device', 4096 * "
                                  "(1 + count(*)), %lld, 1, 1, 4, %lld, %lld FROM allocation",
                                  (long long)event->bytes, begin, end)
                : sqlite3_mprintf(
                      "UPDATE allocation SET free_api_id = 5, free_thread_id = 1, free_begin_ns = "
                      "%lld, free_end_ns = %lld WHERE id = (SELECT max(id) FROM allocation WHERE "
                      "bytes = %lld AND free_begin_ns IS NULL)",
                      begin, end, (long long)event->bytes));
}

/* NCCL's range encloses the launch. */
static void put_collective(struct job *job, int rank, const struct event *event)
{
    run(job->ranks[rank].db,
        sqlite3_mprintf("INSERT INTO range (kind, thread_id, domain_id, name_id, begin_ns, end_ns, "
                        "depth, communicator, bytes) VALUES ('push', 1, 4, 5, %lld, %lld, 0, %lld, "
                        "%lld)",
                        at(job, rank, event->begin), at(job, rank, event->end),
                        (long long)COMMUNICATOR, (long long)event->bytes));
    put_launch(job, rank, event, event->begin + 200, event->end - 200);
}

static void take_event(void *context, int rank, const struct event *event)
{
    struct job *job = context;

    switch (event->kind) {
    case EVENT_KERNEL: put_launch(job, rank, event, event->begin, event->end); break;
    case EVENT_COLLECTIVE: put_collective(job, rank, event); break;
    case EVENT_H2D:
    case EVENT_D2H: put_copy(job, rank, event); break;
    case EVENT_ALLOCATE:
    case EVENT_FREE: put_memory(job, rank, event); break;
    case EVENT_WAIT:
        run(job->ranks[rank].db,
            sqlite3_mprintf(
                "INSERT INTO sync (id, api_id, thread_id, context_id, stream_id, begin_ns, "
                "end_ns, result, capturing, kind) VALUES (%d, 6, 1, 1, 1, %lld, %lld, 0, "
                "0, 'stream')",
                ++job->ranks[rank].calls, at(job, rank, event->begin), at(job, rank, event->end)));
        break;
    }
}

static void take_step(void *context, int rank, int step, int64_t begin, int64_t end)
{
    const struct job *job = context;

    (void)step;
    run(job->ranks[rank].db,
        sqlite3_mprintf("INSERT INTO range (kind, thread_id, name_id, begin_ns, end_ns, depth) "
                        "VALUES ('push', 1, 6, %lld, %lld, 0)",
                        at(job, rank, begin), at(job, rank, end)));
}

static const char names_sql[] =
    "BEGIN; INSERT INTO context VALUES (1, 0, 1);"
    "INSERT INTO stream (id, context_id, handle) VALUES (1, 1, 0), (2, 1, 4096);"
    "INSERT INTO capability VALUES ('device_times', 'ok', 0, NULL, NULL);"
    "INSERT INTO api (id, name, runtime_name, family) VALUES "
    "(1, 'cuMemcpyHtoDAsync_v2', 'cudaMemcpyAsync', 'transfer'), "
    "(2, 'cuMemcpyDtoHAsync_v2', 'cudaMemcpyAsync', 'transfer'), "
    "(3, 'cuLaunchKernel', 'cudaLaunchKernel', 'launch'), (4, 'cuMemAlloc_v2', 'cudaMalloc', "
    "'alloc'), (5, 'cuMemFree_v2', 'cudaFree', 'alloc'), "
    "(6, 'cuStreamSynchronize', 'cudaStreamSynchronize', 'sync');"
    "INSERT INTO string VALUES (1, '_Z4workPfPKfi'), (2, "
    "'ncclDevKernel_AllReduce_Sum_f32_RING_LL'), "
    "(3, 'ncclCommInitRank'), (4, 'NCCL'), (5, 'ncclAllReduce'), (6, 'step');"
    "INSERT INTO kernel (id, name, mangled) VALUES (1, 'work(float*, float const*, int)', "
    "'_Z4workPfPKfi'), (2, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL', "
    "'ncclDevKernel_AllReduce_Sum_f32_RING_LL');"
    "INSERT INTO kernel_class (id, kernel_id, grid_x, grid_y, grid_z, block_x, block_y, block_z, "
    "dynamic_shared_bytes) VALUES (1, 1, 132, 1, 1, 256, 1, 1, 0), (2, 2, 132, 1, 1, 256, 1, 1, 0)";

/* Traces begin at another time of their clocks each. */
static void begin_rank(struct job *job, int rank, const char *folder)
{
    struct made *made = &job->ranks[rank];
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/rank%d.db", folder, rank);
    if (gmt_database_create(path, "INSERT INTO meta VALUES ('format', '1'), ('complete', '1');",
                            &made->db) != 0) {
        fprintf(stderr, "make_traces: %s: %s\n", path, strerror(errno));
        exit(1);
    }
    made->start_ns = INT64_C(5000000000) + rank * INT64_C(777000000000);
    run(made->db, sqlite3_mprintf("%s", names_sql));
    run(made->db, sqlite3_mprintf(
                      "INSERT INTO process (id, pid, command, hostname, rank, tool_version, "
                      "realtime_ns, start_ns) VALUES (1, %d, './train', 'node-%d', '%d', '0.1.0', "
                      "%lld, %lld)",
                      1000 + rank, physics_host(&job->physics, rank), rank,
                      (long long)physics_wall_clock(&job->physics, rank, 0) + made->skew_ns,
                      (long long)made->start_ns));
    run(made->db, sqlite3_mprintf("INSERT INTO device (id, name, driver_version) VALUES (0, "
                                  "'NVIDIA H200', %Q)",
                                  physics_driver(&job->physics, rank)));
    run(made->db, sqlite3_mprintf("INSERT INTO thread VALUES (1, %d, 'train')", 1000 + rank));
    run(made->db,
        sqlite3_mprintf("INSERT INTO range (kind, thread_id, domain_id, name_id, begin_ns, end_ns, "
                        "depth, communicator, ranks, rank) VALUES ('push', 1, 4, 3, %lld, %lld, 0, "
                        "%lld, %d, %d)",
                        (long long)made->start_ns, (long long)made->start_ns + 1000,
                        (long long)COMMUNICATOR, job->physics.ranks, rank));
}

static void end_rank(struct made *made)
{
    run(made->db, sqlite3_mprintf("UPDATE process SET end_ns = (SELECT max(end_ns) FROM range)"));
    run(made->db, sqlite3_mprintf("%s", gmt_indexes_sql));
    run(made->db, sqlite3_mprintf("COMMIT"));
    gmt_database_close(made->db);
}

int main(int argc, char **argv)
{
    static struct job job;
    const struct physics_sink sink = {take_event, take_step, &job};

    if (argc < 6 || atoi(argv[4]) > RANKS_MOST || (mkdir(argv[1], 0777) != 0 && errno != EEXIST)) {
        fprintf(stderr, "make_traces DIR SEED FAULT RANKS STEPS [RANK:SKEW_MS:DRIFT_PPM]...\n");
        return 2;
    }
    physics_plan(&job.physics, strtoul(argv[2], NULL, 10), (enum fault)atoi(argv[3]));
    job.physics.ranks = atoi(argv[4]);
    job.physics.steps = atoi(argv[5]);
    job.physics.odd %= job.physics.ranks;
    job.physics.from_step = 0;
    job.physics.kernels = KERNELS;
    for (int i = 6; i < argc; i++) {
        int rank = atoi(argv[i]);
        double skew_ms = 0, drift_ppm = 0;

        if (rank >= job.physics.ranks ||
            sscanf(argv[i], "%d:%lf:%lf", &rank, &skew_ms, &drift_ppm) != 3) {
            fprintf(stderr, "make_traces: '%s' is not RANK:SKEW_MS:DRIFT_PPM\n", argv[i]);
            return 2;
        }
        job.ranks[rank].skew_ns = llround(skew_ms * 1e6);
        job.ranks[rank].drift = drift_ppm / 1e6;
    }
    for (int r = 0; r < job.physics.ranks; r++) {
        begin_rank(&job, r, argv[1]);
    }
    physics_run(&job.physics, &sink);
    for (int r = 0; r < job.physics.ranks; r++) {
        end_rank(&job.ranks[r]);
    }
    printf("%d\n", job.physics.odd);
    return 0;
}

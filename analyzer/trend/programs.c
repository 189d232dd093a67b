/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the runs of many programs in order: by program, rank and machine, then by time. */
#include "analyzer/trend/programs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/compare/compare.h"

static int compare_texts(const char *a, const char *b)
{
    if (a == NULL || b == NULL) {
        return (a != NULL) - (b != NULL);
    }
    return strcmp(a, b);
}

static int compare_starts(const struct gmt_trend_run *a, const struct gmt_trend_run *b)
{
    int order = (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);

    return order != 0 ? order : strcmp(a->trace, b->trace);
}

/* What cannot be read goes last, by its name. */
static int compare_programs(const struct gmt_trend_run *a, const struct gmt_trend_run *b)
{
    int order = (a->trouble != NULL) - (b->trouble != NULL);

    if (order == 0 && a->trouble != NULL) {
        return strcmp(a->trace, b->trace);
    }
    if (order == 0) {
        order = compare_texts(a->program, b->program);
    }
    return order != 0 ? order : compare_texts(a->rank, b->rank);
}

static int by_program(const void *a, const void *b)
{
    int order = compare_programs(a, b);

    return order != 0 ? order : compare_starts(a, b);
}

static int compare_machines(const struct gmt_trend_run *a, const struct gmt_trend_run *b)
{
    int order = compare_texts(a->device, b->device);

    return order != 0 ? order : compare_texts(a->driver, b->driver);
}

static int by_machine(const void *a, const void *b)
{
    int order = compare_machines(a, b);

    return order != 0 ? order : compare_starts(a, b);
}

static int by_path(const void *a, const void *b)
{
    const struct gmt_trend_run *x = a, *y = b;
    int order = compare_texts(x->exe, y->exe);

    return order != 0 ? order : by_machine(a, b);
}

/*
 * Programs of one name in several folders: seen from their times, as one is back after another. A folder that is new
 * with each build comes once.
 */
static bool paths_take_turns(const struct gmt_trend_run *runs, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (compare_texts(runs[i].exe, runs[i - 1].exe) == 0) {
            continue;
        }
        for (size_t k = 0; k + 1 < i; k++) {
            if (compare_texts(runs[i].exe, runs[k].exe) == 0) {
                return true;
            }
        }
    }
    return false;
}

static bool is_same_job(const struct gmt_trend_run *a, const struct gmt_trend_run *b)
{
    return (a->job != NULL && compare_texts(a->job, b->job) == 0) ||
           (a->start_ns != 0 && a->start_ns == b->start_ns);
}

/* One run of n, by time, that are of one job: the first, with the medians of all. */
static void join(struct gmt_trend_run *to, const struct gmt_trend_run *runs, size_t n, double *room)
{
    *to = runs[0];
    for (int m = 0; m < GMT_TREND_MEASURES; m++) {
        size_t known = 0;

        for (size_t i = 0; i < n; i++) {
            if (!isnan(runs[i].values[m])) {
                room[known++] = runs[i].values[m];
            }
        }
        to->values[m] = gmt_median(room, known);
    }
}

/* Of one program and machine. */
static int add_program(struct gmt_trend *trend, const struct gmt_trend_run *runs, size_t n,
                       struct gmt_arena *arena)
{
    struct gmt_trend_program *program = GMT_PUSH(arena, trend->programs, trend->program_count);
    double *room = malloc(n * sizeof(*room));
    struct gmt_trend_run *points = gmt_arena_alloc(arena, n * sizeof(*points));
    size_t count = 0;

    if (program == NULL || room == NULL || points == NULL) {
        free(room);
        return -ENOMEM;
    }
    for (size_t i = 0, end; i < n; i = end) {
        end = i + 1;
        while (end < n && is_same_job(&runs[i], &runs[end])) {
            end++;
        }
        join(&points[count++], &runs[i], end - i, room);
    }
    free(room);
    size_t skipped = count > GMT_TREND_RUNS_MOST ? count - GMT_TREND_RUNS_MOST : 0;
    *program = (struct gmt_trend_program){.name = runs[0].program,
                                          .exe = runs[0].exe,
                                          .rank = runs[0].rank,
                                          .device = runs[0].device,
                                          .driver = runs[0].driver,
                                          .runs = points + skipped,
                                          .count = count - skipped,
                                          .left_out = skipped};
    return 0;
}

/* Those of one name and rank, by time: by folder, where it takes turns, and by machine. */
static int split(struct gmt_trend *trend, struct gmt_trend_run *runs, size_t n,
                 struct gmt_arena *arena)
{
    bool has_paths = paths_take_turns(runs, n);
    size_t first = trend->program_count;
    int rc = 0;

    qsort(runs, n, sizeof(*runs), has_paths ? by_path : by_machine);
    for (size_t i = 0, end; i < n && rc == 0; i = end) {
        end = i + 1;
        while (end < n && compare_machines(&runs[i], &runs[end]) == 0 &&
               (!has_paths || compare_texts(runs[i].exe, runs[end].exe) == 0)) {
            end++;
        }
        rc = add_program(trend, runs + i, end - i, arena);
    }
    for (size_t p = first; p < trend->program_count; p++) {
        struct gmt_trend_program *program = &trend->programs[p];

        program->has_paths = has_paths;
        for (size_t q = first; q < trend->program_count; q++) {
            program->has_machines = program->has_machines ||
                                    compare_machines(&program->runs[0],
                                                     &trend->programs[q].runs[0]) != 0;
        }
    }
    return rc;
}

int gmt_trend_programs(struct gmt_trend *trend, struct gmt_arena *arena)
{
    int rc = 0;

    if (trend->count > 1) {
        qsort(trend->runs, trend->count, sizeof(*trend->runs), by_program);
    }
    while (trend->compared < trend->count && trend->runs[trend->compared].trouble == NULL) {
        trend->compared++;
    }
    for (size_t i = 0, end; i < trend->compared && rc == 0; i = end) {
        end = i + 1;
        while (end < trend->compared && compare_programs(&trend->runs[i], &trend->runs[end]) == 0) {
            end++;
        }
        rc = split(trend, trend->runs + i, end - i, arena);
    }
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The order of a calibration, and how often a point is taken in each pass. */
#include "kernels/measure/passes.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "kernels/measure/processes.h"
#include "kernels/measure/quickest_cpu.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#define WARM_UP 3
#define SAMPLES 3
#define SAMPLES_HURRIED 1
/*
 * Every third pass is a full one. What is short takes a fraction of a second in a pass, and differs
 * from one pass to the next the most: it is measured in all of them.
 */
#define FULL_EVERY 3
/* How many of the full passes, the first of each process among them, measure what is as long as that. */
static const struct {
    size_t bytes;
    unsigned every;
} long_points[] = {
    {(size_t)1 << 20, 1},
    {(size_t)128 << 20, 2},
    {(size_t)512 << 20, 3},
};
#define LARGE_BYTES ((size_t)32 << 20) /* from here on caches hold no part of it */
#define HUGE_BYTES ((size_t)128 << 20) /* and from here on the first turn is as good as the next */

static const struct gmt_family *const families[] = {
#define GMT_ROW(name) &gmt_family_##name,
    GMT_FAMILIES(GMT_ROW)
#undef GMT_ROW
};

/* What is measured beside kernels, with its share of the progress bar. */
static const struct part {
    const char *name;
    int (*measure)(struct gmt_bench *bench);
    double units;
} parts[] = {
    {"costs", gmt_bench_costs, GMT_COST_UNITS},
    {"batches", gmt_bench_batches, GMT_BATCH_UNITS},
    {"transfers", gmt_bench_transfers, GMT_TRANSFER_UNITS},
};

/* Does the pass that goes on measure what is so long? */
static bool is_due(const struct gmt_bench *bench, size_t bytes)
{
    bool due = true;

    for (size_t i = 0; i < COUNT_OF(long_points); i++) {
        if (bytes >= long_points[i].bytes)
            due = bench->pass % (FULL_EVERY * long_points[i].every) == 0;
    }
    return due;
}

struct gmt_turns gmt_bench_turns(struct gmt_bench *bench, size_t bytes)
{
    unsigned samples = gmt_bench_samples(bench) < bench->sample_count ? SAMPLES_HURRIED : SAMPLES;

    if (!is_due(bench, bytes))
        return (struct gmt_turns){.samples = 0};
    if (bytes >= HUGE_BYTES)
        return (struct gmt_turns){.samples = 1};
    return (struct gmt_turns){.warm_up = bytes >= LARGE_BYTES ? 1 : WARM_UP, .samples = samples};
}

static bool is_wanted(const char *only, const char *name)
{
    return only == NULL || strcmp(only, name) == 0;
}

/* Does this, which the host's clock times, belong to what is asked for? */
static bool is_host_wanted(const char *only, const char *name)
{
    return is_wanted(only, name) || strcmp(only, GMT_HOST_PARTS) == 0;
}

bool gmt_part_known(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        if (strcmp(parts[i].name, name) == 0)
            return true;
    }
    return strcmp(GMT_HOST_PARTS, name) == 0;
}

double gmt_process_units(const struct gmt_bench *bench, const char *only)
{
    double units = 0;

    for (size_t i = 0; i < COUNT_OF(families); i++)
        units += families[i]->host_bound && is_host_wanted(only, families[i]->name);
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        if (is_host_wanted(only, parts[i].name))
            units += parts[i].units * bench->pass_count;
    }
    return units;
}

double gmt_bench_units(const struct gmt_bench *bench, const char *only)
{
    double units = 0;

    for (size_t i = 0; i < COUNT_OF(families); i++)
        units += !families[i]->host_bound && is_wanted(only, families[i]->name);
    return units +
           gmt_process_units(bench, only) * (bench->process_count > 0 ? bench->process_count : 1);
}

static int measure_parts(struct gmt_bench *bench, const char *only)
{
    struct gmt_cpus cpus = {.moved = false};
    int rc = gmt_cpus_take_quickest(bench, &cpus);

    for (size_t i = 0; rc == 0 && i < COUNT_OF(parts); i++) {
        if (is_host_wanted(only, parts[i].name))
            rc = parts[i].measure(bench);
    }
    for (size_t i = 0; rc == 0 && i < COUNT_OF(families); i++) {
        if (families[i]->host_bound && is_host_wanted(only, families[i]->name))
            rc = gmt_bench_family(bench, families[i]);
    }
    gmt_cpus_give_back(&cpus);
    return rc;
}

int gmt_bench_passes(struct gmt_bench *bench, const char *only)
{
    int rc = 0;

    for (bench->pass = 0; rc == 0 && bench->pass < bench->pass_count; bench->pass++) {
        /* What is still to come goes before more of the same. */
        if (bench->pass == 0 || !bench->hurried)
            rc = measure_parts(bench, only);
    }
    return rc;
}

/* Some families of kernels, with their share of the samples that there is time for. */
static int measure_families(struct gmt_bench *bench, const char *only, size_t from, size_t until)
{
    int rc = 0;

    for (size_t i = from; rc == 0 && i < until; i++) {
        if (!families[i]->host_bound && is_wanted(only, families[i]->name))
            rc = gmt_bench_family(bench, families[i]);
    }
    return rc;
}

/* Shall there be another process? One at least; not where one hung, or when time is short. */
static bool goes_on(struct gmt_bench *bench, unsigned process, int last)
{
    if (last == -ETIME) {
        gmt_bench_note(bench, "no measuring process was started after one that hung");
        return false;
    }
    return process == 0 || gmt_bench_samples(bench) == bench->sample_count;
}

/* All processes have failed, which happens where a device is one process's alone. */
static int measure_here(struct gmt_bench *bench, const char *only)
{
    gmt_bench_note(bench,
                   "calls and copies were measured in one process: the next may differ more");
    bench->pass_count *= bench->process_count;
    return gmt_bench_passes(bench, only);
}

int gmt_bench_measure(struct gmt_bench *bench, const char *only)
{
    bool is_timed_by_host = gmt_process_units(bench, only) > 0;
    unsigned turns = is_timed_by_host && bench->process_count > 0 ? bench->process_count : 1;
    unsigned succeeded = 0;
    size_t done = 0;
    int rc = 0, last = 0;

    if (is_timed_by_host && bench->process_count == 0)
        rc = gmt_bench_passes(bench, only);
    for (unsigned turn = 0; rc == 0 && turn < turns; turn++) {
        /* A process at either end, and as many families between any two. */
        size_t until = turns > 1 ? COUNT_OF(families) * (turn + 1) / (turns - 1)
                                 : COUNT_OF(families);

        if (until > COUNT_OF(families))
            until = COUNT_OF(families);
        if (is_timed_by_host && bench->process_count > 0 && goes_on(bench, turn, last)) {
            last = gmt_bench_process(bench, only, turn);
            succeeded += last == 0;
        }
        rc = measure_families(bench, only, done, until);
        done = until;
    }
    if (rc == 0 && is_timed_by_host && bench->process_count > 0 && succeeded == 0)
        rc = measure_here(bench, only);
    return rc;
}

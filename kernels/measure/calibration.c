/* SPDX-License-Identifier: Apache-2.0 */
/* Families of kernels, and between them processes that measure what the host's clock times. */
#include "kernels/measure/calibration.h"

#include <errno.h>
#include <stddef.h>

#include "kernels/measure/parts.h"
#include "kernels/measure/processes.h"
#include "kernels/measure/run_passes.h"

double gmt_bench_units(const struct gmt_bench *bench, const char *only)
{
    double units = 0;

    for (size_t i = 0; i < gmt_family_count; i++) {
        units += !gmt_families[i]->host_bound && gmt_part_wanted(only, gmt_families[i]->name);
    }
    return units +
           gmt_process_units(bench, only) * (bench->process_count > 0 ? bench->process_count : 1);
}

/* Some families of kernels, with their share of the samples that there is time for. */
static int measure_families(struct gmt_bench *bench, const char *only, size_t from, size_t until)
{
    int rc = 0;

    for (size_t i = from; rc == 0 && i < until; i++) {
        if (!gmt_families[i]->host_bound && gmt_part_wanted(only, gmt_families[i]->name)) {
            rc = gmt_bench_family(bench, gmt_families[i]);
        }
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
    return gmt_bench_run_passes(bench, only);
}

int gmt_bench_measure(struct gmt_bench *bench, const char *only)
{
    bool is_timed_by_host = gmt_process_units(bench, only) > 0;
    unsigned turns = is_timed_by_host && bench->process_count > 0 ? bench->process_count : 1;
    unsigned succeeded = 0;
    size_t done = 0;
    int rc = 0, last = 0;

    if (is_timed_by_host && bench->process_count == 0) {
        rc = gmt_bench_run_passes(bench, only);
    }
    for (unsigned turn = 0; rc == 0 && turn < turns; turn++) {
        /* A process at either end, and as many families between any two. */
        size_t until = turns > 1 ? gmt_family_count * (turn + 1) / (turns - 1) : gmt_family_count;

        if (until > gmt_family_count) {
            until = gmt_family_count;
        }
        if (is_timed_by_host && bench->process_count > 0 && goes_on(bench, turn, last)) {
            last = gmt_bench_process(bench, only, turn);
            succeeded += last == 0;
        }
        rc = measure_families(bench, only, done, until);
        done = until;
    }
    if (rc == 0 && is_timed_by_host && bench->process_count > 0 && succeeded == 0) {
        rc = measure_here(bench, only);
    }
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The order of a calibration, and how often a point is taken in each pass. */
#include "passes.h"

#include <stddef.h>
#include <string.h>

#include "quickest_cpu.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#define WARM_UP 3
#define SAMPLES 3
#define SAMPLES_HURRIED 1
/* From here on caches hold no part of it, and pages that were touched in the first pass stay so. */
#define LARGE_BYTES ((size_t)32 << 20)
#define HUGE_BYTES ((size_t)128 << 20) /* from here on every second pass has time for it */

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

struct gmt_turns gmt_bench_turns(struct gmt_bench *bench, size_t bytes)
{
    unsigned samples = gmt_bench_samples(bench) < bench->sample_count ? SAMPLES_HURRIED : SAMPLES;
    unsigned warm_up = WARM_UP;

    if (bytes >= LARGE_BYTES)
        warm_up = bench->pass == 0 ? 1 : 0;
    if (bytes >= HUGE_BYTES)
        samples = bench->pass % 2 == 0 ? 1 : 0;
    return (struct gmt_turns){.warm_up = warm_up, .samples = samples};
}

static bool is_wanted(const char *only, const char *name)
{
    return only == NULL || strcmp(only, name) == 0;
}

bool gmt_part_known(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        if (strcmp(parts[i].name, name) == 0)
            return true;
    }
    return false;
}

double gmt_bench_units(const struct gmt_bench *bench, const char *only)
{
    double units = 0;

    for (size_t i = 0; i < COUNT_OF(families); i++)
        units += is_wanted(only, families[i]->name);
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        if (is_wanted(only, parts[i].name))
            units += parts[i].units * bench->pass_count;
    }
    return units;
}

static int measure_parts(struct gmt_bench *bench, const char *only)
{
    struct gmt_cpus cpus = {.moved = false};
    int rc = gmt_cpus_take_quickest(bench, &cpus);

    for (size_t i = 0; rc == 0 && i < COUNT_OF(parts); i++) {
        if (is_wanted(only, parts[i].name))
            rc = parts[i].measure(bench);
    }
    for (size_t i = 0; rc == 0 && i < COUNT_OF(families); i++) {
        if (families[i]->host_bound && is_wanted(only, families[i]->name))
            rc = gmt_bench_family(bench, families[i]);
    }
    gmt_cpus_give_back(&cpus);
    return rc;
}

int gmt_bench_measure(struct gmt_bench *bench, const char *only)
{
    const struct gmt_family *family = only != NULL ? gmt_family_find(only) : NULL;
    bool timed_by_host = family == NULL || family->host_bound;
    size_t done = 0;
    int rc = 0;

    for (bench->pass = 0; rc == 0 && bench->pass < bench->pass_count; bench->pass++) {
        /* A pass at either end, and as many families between any two. */
        size_t until = COUNT_OF(families) * (bench->pass + 1) / (bench->pass_count - 1);

        /* The families still to come go before more of the same. */
        if (timed_by_host && (bench->pass == 0 || !bench->hurried))
            rc = measure_parts(bench, only);
        for (; rc == 0 && done < until && done < COUNT_OF(families); done++) {
            if (!families[done]->host_bound && is_wanted(only, families[done]->name))
                rc = gmt_bench_family(bench, families[done]);
        }
    }
    return rc;
}

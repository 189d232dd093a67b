/* SPDX-License-Identifier: Apache-2.0 */
/* One pass after the other over all that the host's clock times. */
#include "kernels/measure/run_passes.h"

#include <stddef.h>
#include <string.h>

#include "kernels/measure/parts.h"
#include "kernels/measure/quickest_cpu.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

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

bool gmt_part_wanted(const char *only, const char *name)
{
    return only == NULL || strcmp(only, name) == 0;
}

/* Does this, which the host's clock times, belong to what is asked for? */
static bool is_host_wanted(const char *only, const char *name)
{
    return gmt_part_wanted(only, name) || strcmp(only, GMT_HOST_PARTS) == 0;
}

bool gmt_part_known(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        if (strcmp(parts[i].name, name) == 0) {
            return true;
        }
    }
    return strcmp(GMT_HOST_PARTS, name) == 0;
}

double gmt_process_units(const struct gmt_bench *bench, const char *only)
{
    double units = 0;

    for (size_t i = 0; i < gmt_family_count; i++) {
        units += gmt_families[i]->host_bound && is_host_wanted(only, gmt_families[i]->name);
    }
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        if (is_host_wanted(only, parts[i].name)) {
            units += parts[i].units * bench->pass_count;
        }
    }
    return units;
}

static int measure_parts(struct gmt_bench *bench, const char *only)
{
    struct gmt_cpus cpus = {.moved = false};
    int rc = gmt_cpus_take_quickest(bench, &cpus);

    for (size_t i = 0; rc == 0 && i < COUNT_OF(parts); i++) {
        if (is_host_wanted(only, parts[i].name)) {
            rc = parts[i].measure(bench);
        }
    }
    for (size_t i = 0; rc == 0 && i < gmt_family_count; i++) {
        if (gmt_families[i]->host_bound && is_host_wanted(only, gmt_families[i]->name)) {
            rc = gmt_bench_family(bench, gmt_families[i]);
        }
    }
    gmt_cpus_give_back(&cpus);
    return rc;
}

int gmt_bench_run_passes(struct gmt_bench *bench, const char *only)
{
    int rc = 0;

    for (bench->pass = 0; rc == 0 && bench->pass < bench->pass_count; bench->pass++) {
        /* What is still to come goes before more of the same. */
        if (bench->pass == 0 || !bench->hurried) {
            rc = measure_parts(bench, only);
        }
    }
    return rc;
}

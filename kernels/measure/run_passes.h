/* SPDX-License-Identifier: Apache-2.0 */
/* Runs all passes: host-timed parts, and kernel families. */
#ifndef GMT_KERNELS_MEASURE_RUN_PASSES_H
#define GMT_KERNELS_MEASURE_RUN_PASSES_H

#include <stdbool.h>

#include "kernels/bench/bench.h"

/* All host-timed measurements: the parts, and the families that are host-bound. */
#define GMT_HOST_PARTS "host"

/* A name that `only` below may have, beside the families: costs, batches, transfers, host. */
bool gmt_part_known(const char *name);

/* Is everything asked for (only is NULL), or that family or part? */
bool gmt_part_wanted(const char *only, const char *name);

/*
 * Everything, or (only not NULL) one family or part, in all passes of this process. 0 or a negative
 * errno with bench->error set.
 */
int gmt_bench_run_passes(struct gmt_bench *bench, const char *only);

/* How much of the progress bar one process takes. */
double gmt_process_units(const struct gmt_bench *bench, const char *only);

#endif

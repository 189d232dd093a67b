/* SPDX-License-Identifier: Apache-2.0 */
/* The order of a calibration: families of kernels, and what the host's clock times between them. */
#ifndef GMT_KERNELS_MEASURE_PASSES_H
#define GMT_KERNELS_MEASURE_PASSES_H

#include <stdbool.h>

#include "kernels/measure/bench.h"

/* All that the host's clock times: the parts, and the families that the host bounds. */
#define GMT_HOST_PARTS "host"

/* A name that `only` below may have, beside the families: costs, batches, transfers, host. */
bool gmt_part_known(const char *name);

/*
 * Measures everything, or (only not NULL) one family or part. What the host's clock times differs from
 * one process to the next, and moves with the machine in stretches of seconds: several processes
 * measure it, from the first to the last second, with families of kernels between them; this one does
 * where they cannot. 0 or a negative errno with bench->error set.
 */
int gmt_bench_measure(struct gmt_bench *bench, const char *only);

/* What the host's clock times, in all passes of this process. The same errors. */
int gmt_bench_passes(struct gmt_bench *bench, const char *only);

/* How much of the progress bar all of it takes, and one process. */
double gmt_bench_units(const struct gmt_bench *bench, const char *only);
double gmt_process_units(const struct gmt_bench *bench, const char *only);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The order of a calibration: families of kernels, and what the host's clock times between them. */
#ifndef GMT_KERNELS_PASSES_H
#define GMT_KERNELS_PASSES_H

#include <stdbool.h>

#include "bench.h"

/* A name that `only` below may have, beside the families: costs, batches, transfers. */
bool gmt_part_known(const char *name);

/*
 * Measures everything, or (only not NULL) one family or part. What the host's clock times moves with
 * the machine, in stretches of seconds: it is measured in passes from the first to the last second,
 * with families of kernels between them. 0 or a negative errno with bench->error set.
 */
int gmt_bench_measure(struct gmt_bench *bench, const char *only);

/* How much of the progress bar that takes. */
double gmt_bench_units(const struct gmt_bench *bench, const char *only);

#endif

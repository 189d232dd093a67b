/* SPDX-License-Identifier: Apache-2.0 */
/* The order of a calibration: families of kernels, and what the host's clock times between them. */
#ifndef GMT_KERNELS_MEASURE_CALIBRATION_H
#define GMT_KERNELS_MEASURE_CALIBRATION_H

#include "kernels/bench/bench.h"

/*
 * Measures everything, or (only not NULL) one family or part. What the host's clock times differs from
 * one process to the next, and moves with the machine in stretches of seconds: several processes
 * measure it, from the first to the last second, with families of kernels between them; this one does
 * where they cannot. 0 or a negative errno with bench->error set.
 */
int gmt_bench_measure(struct gmt_bench *bench, const char *only);

/* How much of the progress bar all of it takes. */
double gmt_bench_units(const struct gmt_bench *bench, const char *only);

#endif

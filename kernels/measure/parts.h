/* SPDX-License-Identifier: Apache-2.0 */
/* What a calibration measures, part by part. */
#ifndef GMT_KERNELS_MEASURE_PARTS_H
#define GMT_KERNELS_MEASURE_PARTS_H

#include "kernels/bench/bench.h"
#include "kernels/families/families.h"

/* Shares of one pass in the progress bar, where a family of kernels is one unit. */
#define GMT_COST_UNITS 2.5
#define GMT_BATCH_UNITS 2.0
#define GMT_TRANSFER_UNITS 4.0

/*
 * Measures the variants of one family, all of them in turn within each round; of one that is bound by
 * the host, as much as belongs to the pass that goes on. 0 or negative errno.
 */
int gmt_bench_family(struct gmt_bench *bench, const struct gmt_family *family);

/* Copies over size, copies in runs, and the costs of calls: one pass of each. 0 or negative errno. */
int gmt_bench_transfers(struct gmt_bench *bench);
int gmt_bench_batches(struct gmt_bench *bench);
int gmt_bench_copies_2d(struct gmt_bench *bench); /* a part of the batches */
int gmt_bench_costs(struct gmt_bench *bench);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* How many samples a point gets in the current pass. */
#ifndef GMT_KERNELS_MEASURE_PASS_LOOP_H
#define GMT_KERNELS_MEASURE_PASS_LOOP_H

#include <stddef.h>

#include "kernels/bench/bench.h"
#include "kernels/measure/sample_loop.h"

/*
 * The sample loop of a point in the current pass. One iteration works on so many bytes; 0:
 * its time does not grow with them. None at all for long ones in most passes.
 */
struct gmt_sample_loop gmt_bench_sample_loop(struct gmt_bench *bench, size_t bytes);

#endif

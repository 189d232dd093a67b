/* SPDX-License-Identifier: Apache-2.0 */
/* How often a point is taken in the pass that goes on. */
#ifndef GMT_KERNELS_MEASURE_PASS_TURNS_H
#define GMT_KERNELS_MEASURE_PASS_TURNS_H

#include <stddef.h>

#include "kernels/bench/bench.h"
#include "kernels/measure/turns.h"

/*
 * How often a point is taken in the pass that goes on, of which one turn works on so many bytes; 0:
 * its time does not grow with them. None at all for long ones in most passes.
 */
struct gmt_turns gmt_bench_turns(struct gmt_bench *bench, size_t bytes);

#endif

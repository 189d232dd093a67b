/* SPDX-License-Identifier: Apache-2.0 */
/* Where the measuring thread runs: neighbours on a core slow the driver's calls for seconds. */
#ifndef GMT_KERNELS_MEASURE_QUICKEST_CPU_H
#define GMT_KERNELS_MEASURE_QUICKEST_CPU_H

#include <sched.h>
#include <stdbool.h>

#include "kernels/bench/bench.h"

/* Where the thread was allowed to run before it was moved. */
struct gmt_cpus {
    cpu_set_t allowed;
    bool moved;
};

/*
 * Tries small blocking copies on each CPU that the thread may use, and keeps it on the one where
 * their median is lowest, until gmt_cpus_give_back. Adds a row to "passes" of the raw results, an
 * empty one where the thread cannot be moved. 0, also then, or a negative errno with bench->error set.
 */
int gmt_cpus_take_quickest(struct gmt_bench *bench, struct gmt_cpus *cpus);
void gmt_cpus_give_back(struct gmt_cpus *cpus);

#endif

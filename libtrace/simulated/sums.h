/* SPDX-License-Identifier: Apache-2.0 */
/* From the counts of the instructions of a launch to its metrics (libtrace/metrics.def). */
#ifndef GMT_SIMULATED_SUMS_H
#define GMT_SIMULATED_SUMS_H

#include <stddef.h>

#include "libtrace/record/layout.h"
#include "simgpu/counts.h"

#define GMT_SIMULATED_METRICS 64u /* more than there are */

/* Every metric the software device knows, of one launch. Returns how many. */
size_t gmt_simulated_sums(const struct sim_counts *counts,
                          struct gmt_counter_value values[static GMT_SIMULATED_METRICS]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Device times of kernels of which no launch has one, from the cycles that were counted. */
#ifndef GMT_ANALYZER_PRICE_CYCLE_TIMES_H
#define GMT_ANALYZER_PRICE_CYCLE_TIMES_H

#include "analyzer/model/device_model.h"
#include "analyzer/trace/timeline.h"

/*
 * A launch that is measured has no activity record, so a class that was only launched measured has no
 * device time. Where hardware counters of it are there, sets median_ns and total_ns, and by_cycles:
 *
 *   median_ns = sm_cycles_active_max / clock + GMT_CYCLES_EDGE_NS
 *
 * The clock (cycles per ns) is that of the other classes of the trace, the median of those that have both;
 * where they are too few, the calibrated rate of shared memory of such a GPU: a multiprocessor serves one
 * wavefront per cycle. Nothing where neither is known. To be called before times are asked for.
 */
void gmt_cycle_times(struct gmt_timeline *timeline, const struct gmt_model *model);

/* When the kernel of a measured launch ended, were it begun with its call; GMT_NO_TIME where its class has no
 * time by cycles. */
int64_t gmt_cycle_times_end(const struct gmt_tl_class *class, const struct gmt_tl_launch *launch);

#endif

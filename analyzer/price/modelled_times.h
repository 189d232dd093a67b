/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the work of a simulated trace would take on the device of a model, from its exact counts.
 *
 * A kernel class: what its resources take together at the model's rates (gmt_price_work_ns), no less than
 * GMT_KERNEL_LEAST_NS. Counted are instructions, passes of shared memory, words of constants, and sectors
 * that L1 looks up. What lies beyond L1 is not counted and follows from the footprint, the distinct bytes
 * that the launch touches:
 * - L2 reads, per request whose lanes lie as near as they can: between every byte once (what L1 keeps) and
 *   each request again (nothing is kept). Both are factors, so what is likely is the middle of their
 *   logarithms. Sectors that a request touches beyond its ideal ones are as many times as much, because
 *   they are gone before other warps ask for their other words; what the warp's own other loads may ask for,
 *   again from there or not, counts by the middle.
 * - L2 writes: all stores, because L1 keeps none of them back; local memory: loads hit L1 as far as the
 *   resident threads' local memory fits it, and stores reach L2.
 * - device memory: every byte once where the footprint fits L2; else the middle, again, of that and of all
 *   that L2 is asked for.
 * Occupancy: what block size and shared memory allow, as registers are not known, and no more warps than
 * the grid has. Latency: loads one after the other in each warp (gmt_price_loads_at_once), at the model's
 * latency of device memory where that serves them, else at that of a hit in L1. Starting blocks: the
 * calibrated time of one (gmt_price_block_start_ns). Page-locked host memory: its bytes at the calibrated
 * rate of mapped memory.
 *
 * A copy between host and device, or within it: the model's time of such a copy (direction, memory of the
 * host, blocking or not, size), in a run of copies that of one of many. All other copies: not known.
 */
#ifndef GMT_ANALYZER_PRICE_MODELLED_TIMES_H
#define GMT_ANALYZER_PRICE_MODELLED_TIMES_H

#include "analyzer/memory/memory.h"
#include "analyzer/model/device_model.h"
#include "analyzer/trace/runs.h"
#include "analyzer/trace/timeline.h"

/*
 * Sets timeline->modelled, the times of classes and copies and the costs of runs, where the trace is
 * simulated and there is a model; the limits of the timeline's device become the model's. 0, -ENOMEM or
 * -EIO.
 */
int gmt_modelled_times(struct gmt_timeline *timeline, const struct gmt_model *model,
                       const struct gmt_memory *memory, struct gmt_runs *runs);

/* Time of a pair of calls by the model's curves: allocating and freeing, pinning and unpinning; half of it
 * for memory that is never freed, as the model does not split the pair. NAN: not measured. */
double gmt_modelled_pair_ns(const struct gmt_model *model, const struct gmt_memory_row *row);

#endif

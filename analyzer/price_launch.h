/* SPDX-License-Identifier: Apache-2.0 */
/* Predicted gains of other launch shapes: block size, grid size, parallelism, kernels side by side. */
#ifndef GMT_ANALYZER_PRICE_LAUNCH_H
#define GMT_ANALYZER_PRICE_LAUNCH_H

#include "analyzer/launch_shape.h"
#include "analyzer/price.h"

/* What a launch's work takes at the calibrated rates; 0 where nothing is known of it. */
struct gmt_roof {
    double device_ns; /* device memory, L2 and the bus, which all multiprocessors share */
    double all_ns;    /* with L1, shared memory and issue                      */
};

/*
 * spread: as if the work of L1, shared memory and the schedulers lay on all multiprocessors. Device
 * memory that was not measured: the bytes asked for, once, and no more than the launch was given. Host
 * memory that the launch was given goes over the bus once.
 */
struct gmt_roof gmt_price_roof(const struct gmt_model *model, const struct gmt_timeline *timeline,
                               const struct gmt_tl_class *class, bool spread);

/* The least time from one block's start to the next one's: of the calibrated blocks; NAN. */
double gmt_price_block_start_ns(const struct gmt_model *model);

/*
 * One launch in blocks of whole warps. With r = lanes in use / lanes of the warps, what device
 * memory does not explain of the time takes r times as long; memory's part is its bytes at the roof,
 * or at what one load in flight gets at this occupancy. A kernel that starts its blocks as fast as the
 * device can is done sooner by as many fewer. low: only the issue of instructions shrinks.
 */
struct gmt_gain gmt_price_whole_warps(const struct gmt_model *model,
                                      const struct gmt_timeline *timeline,
                                      const struct gmt_tl_class *class,
                                      const struct gmt_shape *shape);

/*
 * One launch whose small blocks end faster than others start, in blocks of `threads` threads: they take
 * the time of as many fewer starts, but no less than the calibrated curve has for narrow loads of as
 * many warps as can be resident. low: blocks of twice the size, and as many warps as are typically
 * achieved; high: the roof of device memory.
 */
struct gmt_gain gmt_price_larger_blocks(const struct gmt_model *model,
                                        const struct gmt_timeline *timeline,
                                        const struct gmt_tl_class *class,
                                        const struct gmt_shape *shape, double threads);

/*
 * One launch whose grid is below a wave, with its work spread over a whole one: time shrinks with
 * the blocks, down to the roof of the work on all multiprocessors. low: half of that.
 */
struct gmt_gain gmt_price_full_grid(const struct gmt_model *model,
                                    const struct gmt_timeline *timeline,
                                    const struct gmt_tl_class *class,
                                    const struct gmt_shape *shape);

/*
 * One launch whose last wave is short, with the same work in whole waves. A wave takes tau, the last
 * one tau x its blocks on the busiest multiprocessor / resident blocks where throughput binds, and
 * tau where latency does. Where cycles were counted, best is 1 - mean / most active cycles of the
 * multiprocessors; high: the last wave takes a full one's time. Threads that share a tile cannot be
 * spread over other blocks one by one: halving their blocks halves what the last wave leaves idle, so
 * best is half as much then, and low nothing.
 */
struct gmt_gain gmt_price_no_tail(const struct gmt_model *model,
                                  const struct gmt_timeline *timeline,
                                  const struct gmt_tl_class *class, const struct gmt_shape *shape);

/*
 * One launch of a single block, spread over all threads that the device holds: no less than
 * GMT_KERNEL_LEAST_NS and the roof. low: nothing, because the work may be serial by nature.
 */
struct gmt_gain gmt_price_parallel(const struct gmt_model *model,
                                   const struct gmt_timeline *timeline,
                                   const struct gmt_tl_class *class, const struct gmt_shape *shape);

/* Of a row of kernels, one after the other in a stream. */
struct gmt_row {
    double kernels;
    double total_ns, longest_ns; /* sum and maximum of their times            */
    double device_ns;            /* what their work takes on the whole device */
    double share;                /* of the device that each fills, on average */
};

/*
 * Such a row side by side: as many at once as fit the device, no faster than the longest of them,
 * than device memory allows and than the host launches. low: half of that.
 */
struct gmt_gain gmt_price_side_by_side(const struct gmt_model *model, const struct gmt_row *row);

/* Time per launch of the calibrated steps, by a launch each and in a graph; NAN: not measured. */
double gmt_price_step_launched_ns(const struct gmt_model *model);
double gmt_price_step_in_graph_ns(const struct gmt_model *model);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Predicted gains of other launch shapes: block size, grid size, parallelism, kernels side by side. */
#ifndef GMT_ANALYZER_PRICE_PRICE_LAUNCH_H
#define GMT_ANALYZER_PRICE_PRICE_LAUNCH_H

#include "analyzer/price/launch_shape.h"
#include "analyzer/price/price.h"

/* What a launch's work takes at the calibrated rates; 0 where nothing is known of it. */
struct gmt_roof {
    double device_ns; /* device memory, L2 and the bus, which all multiprocessors share */
    double inside_ns; /* L1, shared memory and issue, which each has for itself         */
    double all_ns;    /* both                                                           */
};

/*
 * busy: the share of the multiprocessors that the work of L1, shared memory and the schedulers lies on,
 * 0..1: gmt_price_busy_share as launched. Device memory that was not measured: the bytes asked for,
 * once, and no more than the launch was given. Host memory that the launch was given goes over the bus
 * once.
 */
struct gmt_roof gmt_price_roof(const struct gmt_model *model, const struct gmt_timeline *timeline,
                               const struct gmt_tl_class *class, double busy);

/*
 * Work items of a thread that threads of their own could do. A thread that stores more words than one
 * item of an element-wise kernel loads and stores (GMT_ELEMENTWISE_REQUESTS) stores results of several
 * items, of which each has as many words at most. Results that lie in memory are distinct words of it:
 * all of them fit what the launch was given, other than by pointers to const. Loops that store nothing may be one item each, such as a
 * sum or a chain of steps: they count in `most` alone, which holds GMT_ITEM_INSTRUCTIONS against the
 * instructions of a thread. All are 1 and more.
 */
struct gmt_items {
    double certain; /* in any case; 1 where nothing was counted  */
    double likely;  /* an item for each store                    */
    double most;    /* INFINITY: instructions were not counted   */
    bool plain;     /* a stored word takes GMT_PLAIN_INSTRUCTIONS at most: a loop over items */
};

struct gmt_items gmt_price_items(const struct gmt_tl_class *class, const struct gmt_shape *shape);

/*
 * Occupancy with all blocks resident at once, evenly, that the launch has work for, 0..1: more limits
 * that are lifted bring no more warps. A grid of just one wave was made for the device, and grows with
 * what is resident, as far as the instructions of its threads can be items. 1 where the multiprocessors
 * are not known.
 */
double gmt_price_most_occupancy(const struct gmt_timeline *timeline,
                                const struct gmt_tl_class *class, const struct gmt_shape *shape);

/*
 * Whether the blocks as launched are enough for that occupancy, 0..1, or grow with what is resident.
 * Else loops of threads would have to be split, and it is not known whether they can be.
 */
#define GMT_OCCUPANCY_SPLIT \
    "; 0 where the loops of threads cannot be split, because the launch has too few blocks"
bool gmt_price_has_warps(const struct gmt_timeline *timeline, const struct gmt_shape *shape,
                         double occupancy);

/* Threads that hand each other words through shared memory: as a whole their block is one job. */
bool gmt_price_shares_tiles(const struct gmt_tl_class *class);

/* The least time from one block's start to the next one's: of the calibrated blocks; NAN. */
double gmt_price_block_start_ns(const struct gmt_model *model);

/*
 * One launch in blocks of whole warps. With r = lanes in use / lanes of the warps, what device
 * memory does not explain of the time takes r times as long; memory's part is its bytes at the roof,
 * or at what one load in flight gets at this occupancy. A kernel that starts its blocks as fast as the
 * device can is done sooner by as many fewer. In a grid below a wave no warp waits for another to end:
 * only what L1, shared memory and the schedulers take shrinks, and where that was not counted best is
 * half of the most. low: only the issue of instructions shrinks.
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
 * One launch whose grid is below a wave, with its work spread over the device as far as it can be:
 * the better one of two repairs.
 *
 * The same threads in smaller blocks. The busiest multiprocessor has b = ceil(blocks /
 * multiprocessors) x warps of a block now and a = ceil(all warps / multiprocessors) with blocks of a
 * warp; blocks that share tiles are only halved. L1, shared memory and the schedulers then take a / b of
 * the time (gmt_price_after); what a thread does one step after the other stays. Where instructions
 * were not counted, what those take lies between nothing and everything: best is half of the most,
 * t (1 - a / b) / 2, and low nothing.
 *
 * More blocks, by splitting the loops of threads: no more of them than there are items
 * (gmt_price_items), and than a wave has. Time shrinks with the blocks, down to the roof of the work on
 * the multiprocessors that these fill. best: as many as are likely, or half of what those give where a
 * stored word takes so many instructions that it may be a step of one item; low: nothing, because steps
 * may depend on each other; high: as many as there can be at most.
 *
 * grid: a launch for the better repair that has work for all its blocks: as many as have items for
 * certain, else the same threads, in blocks as small as give each multiprocessor one.
 */
struct gmt_launch_grid {
    double blocks, threads; /* of a block                                  */
    bool split;             /* loops of threads, else the same threads as now          */
    bool guess;             /* nothing is certain, and nothing shows work for a wave   */
};

struct gmt_gain gmt_price_full_grid(const struct gmt_model *model,
                                    const struct gmt_timeline *timeline,
                                    const struct gmt_tl_class *class, const struct gmt_shape *shape,
                                    struct gmt_launch_grid *grid);

/*
 * One launch whose last wave is short, with the same work in whole waves. A wave takes tau, the last
 * one tau x its blocks on the busiest multiprocessor / resident blocks where throughput binds, and
 * tau where latency does. Where cycles were counted, what is idle is 1 - mean / most active cycles of
 * the multiprocessors. All of it can be used where throughput binds. Where latency does, a thread takes
 * tau for its items however few blocks there are: from (full + 1) x items one after the other to
 * ceil(waves x items), with the items that are likely (gmt_price_items); none for threads of one item.
 * low: what throughput binds alone; high: the last wave takes a full one's time, and items are as many
 * as can be. Threads that share a tile cannot be spread over other blocks one by one: halving their
 * blocks halves what the last wave leaves idle, so best is half as much then, and low nothing. Where
 * instructions were not counted best is half of what is idle, low nothing, and it is a guess.
 */
struct gmt_tail {
    double idle_ns; /* of one launch: what the last wave leaves idle, as a time of the device */
    bool guess;     /* instructions were not counted                                           */
};

struct gmt_gain gmt_price_no_tail(const struct gmt_model *model,
                                  const struct gmt_timeline *timeline,
                                  const struct gmt_tl_class *class, const struct gmt_shape *shape,
                                  struct gmt_tail *tail);

/*
 * One launch of a single block, spread over as many threads as have an item each (gmt_price_items) and
 * as the device holds: no less than GMT_KERNEL_LEAST_NS and the roof. low: nothing, because the work may
 * be serial by nature. Where no stores distinguish items (sums, chains of steps, nothing counted) the
 * truth lies between nothing and that with as many items as there can be at most: best is half of it,
 * and a guess.
 */
struct gmt_gain gmt_price_parallel(const struct gmt_model *model,
                                   const struct gmt_timeline *timeline,
                                   const struct gmt_tl_class *class, const struct gmt_shape *shape,
                                   bool *guess);

/* Of a row of kernels, one after the other in a stream. */
struct gmt_row {
    double kernels;
    double total_ns, longest_ns; /* sum and maximum of their times            */
    double device_ns;            /* what their work takes on the whole device */
    double share;                /* of the device that each fills, on average */
};

/*
 * Such a row side by side: as many at once as fit the device, no faster than the longest of them,
 * than device memory, L1 and the schedulers allow and than the host launches. low: half of that.
 */
struct gmt_gain gmt_price_side_by_side(const struct gmt_model *model, const struct gmt_row *row);

/* Time per launch of the calibrated steps, by a launch each and in a graph; NAN: not measured. */
double gmt_price_step_launched_ns(const struct gmt_model *model);
double gmt_price_step_in_graph_ns(const struct gmt_model *model);

#endif

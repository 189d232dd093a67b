/* SPDX-License-Identifier: Apache-2.0 */
/* Prices of fixes to how blocks fill, read and wait for their shared memory. */
#ifndef GMT_ANALYZER_PRICE_PRICE_SHARED_H
#define GMT_ANALYZER_PRICE_PRICE_SHARED_H

#include "analyzer/price/price.h"

/* Share of the time of resident warps that they wait at barriers, 0..1; NAN: not measured. */
double gmt_barrier_share(const struct gmt_timeline *timeline, const struct gmt_tl_class *class);
/* The same for memory fences. */
double gmt_fence_share(const struct gmt_timeline *timeline, const struct gmt_tl_class *class);

/*
 * Whether a single large block is resident on each multiprocessor, by its resources or by the size
 * of the grid, and its warps wait at barriers and fences for a good part of their time.
 */
bool gmt_is_idle_at_barriers(const struct gmt_timeline *timeline, const struct gmt_tl_class *class);

/* Warps of a block, the last one full or not. */
double gmt_block_warps(const struct gmt_tl_class *class);

/*
 * Gain of one launch if all warps of a block did what one of them does while the others wait.
 *
 * With W warps in a block, waiting at barriers for a share b of the warps' time means that such
 * phases take S = T x b x W / (W - 1); where that was not measured, S is all of T that the work
 * does not explain. They shrink by `speedup`. What is left cannot be faster than the work at the
 * rates of the model, half way from one load in flight per thread to the roofs ("floor"):
 * best = T - overlap(T - S + S / speedup, floor); low: half of it; high: T - the time at the roofs,
 * and the uncertainty of the model.
 */
struct gmt_gain gmt_price_fill(const struct gmt_model *model, const struct gmt_timeline *timeline,
                               const struct gmt_tl_class *class, double speedup);

/*
 * Gain of one launch if global loads beyond the fill of the tile became shared loads. A hit in L1
 * takes as many wavefronts as it touches lines, a shared load one; of what L2 delivers only the
 * fill is left, what device memory delivers stays. Waiting shrinks by the share of those requests
 * times half of the latency that a shared load saves (GMT_SHARED_LATENCY_SHARE), since several are
 * in flight. On an H200 neighbours that L1 served gained 4 to 5 %.
 */
struct gmt_gain gmt_price_unread(const struct gmt_model *model, const struct gmt_timeline *timeline,
                                 const struct gmt_tl_class *class);

/* Bytes that the class loads from global memory beyond the fill, and the requests for them. */
struct gmt_reread {
    double staged_bytes, bytes, sectors, requests;
};
struct gmt_reread gmt_reread_of(const struct gmt_tl_class *class);
/* Bytes that a launch can read at all: as counted, else what it was given; NAN: not known. */
double gmt_bytes_to_read(const struct gmt_tl_class *class);
/* Whether a tile is filled that is hardly read, while arrays are read again and again: GM403. */
bool gmt_is_staged_unread(const struct gmt_tl_class *class, const struct gmt_reread *reread);

/*
 * Gain of one launch if its warps were in `parts` times as many blocks, which wait each for itself.
 *
 * A barrier waits for the slowest of W warps. Where what they wait for before has an exponential
 * tail, as queues for memory have, the slowest takes H(W) times the mean, H(W) = 1 + 1/2 + .. + 1/W
 * (the expected largest of W such times): the others wait H(W) - 1 means for it. Of the time b x T
 * at barriers and fences, b x T x (H(W / parts) - 1) / (H(W) - 1) is left, down to the roofs: memory
 * works on while warps wait, and its time is in what is left.
 * low: nothing; high: all of b x T.
 */
struct gmt_gain gmt_price_smaller_blocks(const struct gmt_model *model,
                                         const struct gmt_timeline *timeline,
                                         const struct gmt_tl_class *class, double parts);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What other layouts of the same data would save: structs of arrays, wider words. */
#ifndef GMT_ANALYZER_PRICE_PRICE_LAYOUT_H
#define GMT_ANALYZER_PRICE_PRICE_LAYOUT_H

#include "analyzer/price/pattern.h"

/*
 * Gain of one launch of a kernel that goes over whole structs word by word (FIELDS, PIECES), if its
 * words lay in arrays of their own, or if it moved each struct at once; structs of 12 bytes are then
 * padded to 16. What comes from device memory is the same, but for the padding: L1 alone has fewer
 * sectors to look up, and L2 fewer to write.
 *
 * L1 takes for a request of s sectors a + b (s - 4), from the calibrated rates of coalesced (s = 4)
 * and of strided (s = 32) hits; M is the time of device memory and L2, at their rates. L1 works while
 * they do: best = max(M, L1) before, less the same after (an H200 hides L1 at 94 % of M, but for 2 %
 * of the time). low = 0; high: they add up to (M^p + L1^p)^(1/p), and all time that this does not
 * explain shrinks in proportion.
 */
struct gmt_gain gmt_price_whole_structs(const struct gmt_model *model,
                                        const struct gmt_timeline *timeline,
                                        const struct gmt_tl_class *class,
                                        const struct gmt_pattern *pattern);

/*
 * Gain of one launch whose full warps access words of 1 or 2 bytes, with words of 4. D: time of device
 * memory for the bytes, at its roof; R: the rest, T = (R^p + D^p)^(1/p). Up to the time that requests
 * take when one is in flight per thread, 32 x width bytes each, by the calibrated curve of bandwidth
 * over occupancy, R shrinks to a half (a quarter). What comes out is no faster than that curve for
 * words of 4.
 */
struct gmt_gain gmt_price_narrow(const struct gmt_model *model, const struct gmt_tl_class *class,
                                 double width_bytes);

/*
 * Gain of one launch that goes down columns (TRANSPOSED), if it went along rows. Each lane of such a
 * load has a line of L1 of its own: L1 takes as long per line as for the strided hits of the
 * calibration, which have 4 sectors to a line. Each lane of such a store writes a part of a sector,
 * at the rate of the calibrated family store (without it: L2's rate / GMT_PARTIAL_WRITE_FACTOR).
 * Before: these and the time of device memory and L2, as (sum t^p)^(1/p). After: the mean of the roof
 * of device memory and of the calibrated curve of bandwidth over occupancy, as tiles leave several
 * loads in flight; and of the time that is not explained, the share that is not excess.
 * low: the curve, and all of that time stays; high: the roof, and none of it stays.
 */
struct gmt_gain gmt_price_columns(const struct gmt_model *model,
                                  const struct gmt_timeline *timeline,
                                  const struct gmt_tl_class *class,
                                  const struct gmt_pattern *pattern);

/*
 * Gain of one launch whose rows start inside sectors (ROWS), if they started at multiples of what
 * device memory hands out: gmt_price_misaligned, less what the padding costs. The bytes of device
 * memory, at its roof, grow with the row, rounded up to GMT_DRAM_BYTES; nothing hides them, as those who
 * wait for loads wait for these, too. low: 0, because the sector that a row's end shares with the next
 * row is asked for by the same block, and may cost nothing.
 */
struct gmt_gain gmt_price_rows(const struct gmt_model *model, const struct gmt_timeline *timeline,
                               const struct gmt_tl_class *class, const struct gmt_pattern *pattern);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the latest steps of one kind took, and which is slow among them.
 *
 * The quantiles are exact for the last GMT_STEP_WINDOW steps, by nearest rank (definition 1 of Hyndman and Fan, Sample
 * quantiles in statistical packages, The American Statistician 50, 1996): element ceil(p * n) of n in order. As
 * estimates of the program's own p99 they lie, with 95 % confidence, between its p98.4 and its p99.6 at n = 1000
 * (ranks n*p +- 1.96 sqrt(n*p*(1-p)); Conover, Practical Nonparametric Statistics, section 3.2).
 *
 * One step of a hundred is above p99 however steady a program is. So a step is slow when it is above p99 by as much as p99
 * is above the median, by a tenth of the median, and by 0.1 ms at least. For jitter that is normally distributed that is
 * 4.65 standard deviations, 2 steps of a million; for exponential jitter 2 of 10,000.
 */
#ifndef GMT_STORE_LIVE_STEP_WINDOW_H
#define GMT_STORE_LIVE_STEP_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#define GMT_STEP_WINDOW 1000u
#define GMT_STEP_WARM_UP 100u /* before so many steps none is slow */

struct gmt_step_window {
    uint32_t count, next;
    uint64_t latest[GMT_STEP_WINDOW]; /* ns, as they came */
    uint64_t sorted[GMT_STEP_WINDOW];
};

/* Is a step of `ns` slow among those before? Then it becomes one of them. Zero-initialization is a window without steps. */
bool gmt_step_window_add(struct gmt_step_window *window, uint64_t ns);

/* Of the steps in the window, in percent (1 to 100); 0: there are none. */
uint64_t gmt_step_window_quantile(const struct gmt_step_window *window, unsigned percent);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Unions of intervals on the timeline. */
#ifndef GMT_ANALYZER_BASE_INTERVALS_H
#define GMT_ANALYZER_BASE_INTERVALS_H

#include <stddef.h>

#include "reports/model/report.h"

/* Sorts and merges in place; returns how many are left, disjoint and ascending. */
size_t gmt_intervals_merge(struct gmt_interval *intervals, size_t n);

/* Total length of disjoint intervals, ns. */
double gmt_intervals_length(const struct gmt_interval *intervals, size_t n);

/* How much of an interval disjoint, ascending ones cover, ns. */
double gmt_intervals_overlap(const struct gmt_interval *intervals, size_t n,
                             struct gmt_interval with);

/*
 * One saving for all findings together, on the merged timeline. Each finding spreads its saving
 * evenly over the intervals it claims; where claims overlap, the time counts once, with the largest
 * share. Where fixes of one kernel touch different things (enum gmt_touches) their shares a, b are
 * joined first: 1 - (1 - a)(1 - b), at least the larger of the low ones, at most the sum of the high
 * ones. So the result is at least the largest saving, at most the sum and at most the union of all
 * claims; launches without a device time count like the others. Findings without a price or without
 * claims do not take part. 0 or -ENOMEM.
 */
int gmt_findings_combine(const struct gmt_finding *findings, size_t n, double wall_ns,
                         struct gmt_saving *combined);

#endif

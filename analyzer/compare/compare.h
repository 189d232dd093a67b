/* SPDX-License-Identifier: Apache-2.0 */
/* Compares what two traces are summed up to, and distinguishes a change from the noise of a run. */
#ifndef GMT_ANALYZER_COMPARE_COMPARE_H
#define GMT_ANALYZER_COMPARE_COMPARE_H

#include "reports/model/comparison.h"

/* Fills in by what share times differ from run to run; nothing for traces without times. */
void gmt_noise_fill(struct gmt_summary *summary);

/*
 * One summary for several runs of the same program: medians, and noise as measured where there are
 * at least three. Findings are those of the first. The strings stay the runs'.
 */
void gmt_summaries_join(struct gmt_summary *joined, const struct gmt_summary *runs, size_t n);

/* Where the trace of one of them does not know gmtrace's own time, it is in the wall time of all: like is
 * compared with like. */
void gmt_summaries_time_alike(struct gmt_summary *const *summaries, size_t n);

/* From A to B; both must live as long as the comparison, whose memory is the arena's. */
void gmt_compare(struct gmt_comparison *comparison, const struct gmt_summary *a,
                 const struct gmt_summary *b, struct gmt_arena *arena);

/* Sorts values in place. NAN when there are none. */
double gmt_median(double *values, size_t n);
/* The same of the distances from that middle. Overwrites values. */
double gmt_median_deviation(double *values, size_t n, double middle);

#endif

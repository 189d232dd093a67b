/* SPDX-License-Identifier: Apache-2.0 */
/* Every recorded call of the host, in the order of time: what the API summary and the causes of idle time are made of. */
#ifndef GMT_ANALYZER_SUMMARY_HOST_CALLS_H
#define GMT_ANALYZER_SUMMARY_HOST_CALLS_H

#include "analyzer/findings/rule_context.h"

struct gmt_host_call {
    int64_t begin_ns, end_ns;
    uint64_t site, caller;
    int32_t stack_id, api, thread; /* the first 0: none */
    enum gmt_time_part part;       /* what an idle device is idle for while it runs */
};

struct gmt_host_calls {
    struct gmt_host_call *rows; /* by begin */
    size_t count;
};

/* 0, -ENOMEM or -EIO; gmt_host_calls_free in every case. */
int gmt_host_calls_load(struct gmt_host_calls *calls, const struct gmt_timeline *timeline);
void gmt_host_calls_free(struct gmt_host_calls *calls);

/* As calls of the timeline are, for what takes those. */
struct gmt_tl_call gmt_host_call_of_timeline(const struct gmt_host_call *call);
struct gmt_where gmt_host_call_where(struct gmt_analysis *analysis,
                                     const struct gmt_host_call *call);

/* Sums by two keys. Zeros are an empty table. */
struct gmt_call_sum {
    uint64_t key[2];
    double count, time_ns, longest_ns;
    size_t first, until; /* rows that stand for it; what `until` means is the caller's */
};

struct gmt_call_sums {
    struct gmt_call_sum *rows; /* count > 0: in use */
    size_t count, capacity;    /* the latter a power of two */
    struct gmt_call_sum *last; /* that was added to; NULL: none yet */
};

/* Adds once `time_ns` to the sum of these keys. 0 or -ENOMEM. */
int gmt_call_sums_add(struct gmt_call_sums *sums, const uint64_t key[static 2], double time_ns,
                      size_t first, size_t until);
/* Puts the used rows first, most time first (most calls where there are no times): it is no table then. */
void gmt_call_sums_rank(struct gmt_call_sums *sums, bool timed);

/* Parts of gmt_host_report: the API summary; the parts of the recorded time, after gmt_verdict_fill. */
int gmt_call_report(struct gmt_analysis *analysis, const struct gmt_host_calls *calls);
struct gmt_host_basis;
int gmt_time_report(struct gmt_analysis *analysis, const struct gmt_host_basis *basis);

#endif

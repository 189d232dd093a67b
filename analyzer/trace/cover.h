/* SPDX-License-Identifier: Apache-2.0 */
/* How much of a span of time the device spends in kernels, or in copies. */
#ifndef GMT_ANALYZER_TRACE_COVER_H
#define GMT_ANALYZER_TRACE_COVER_H

#include "analyzer/trace/timeline.h"

/* Disjoint, ascending; before[i] is the length of all parts before part i. */
struct gmt_cover {
    struct gmt_interval *parts;
    double *before;
    size_t n;
    bool is_shared; /* its arrays are the timeline's */
};

enum gmt_cover_kind {
    GMT_COVER_KERNELS = 1,
    GMT_COVER_COPIES = 2,
    GMT_COVER_UPLOADS = 4,   /* from page-locked memory: what can run beside kernels */
    GMT_COVER_READBACKS = 8, /* into it                                              */
};

/* Of what has device times; of times of which nothing is known, kernels cover all. kinds: of gmt_cover_kind. 0 or -ENOMEM; gmt_cover_free in every case. */
int gmt_cover_make(struct gmt_cover *cover, const struct gmt_timeline *timeline, unsigned kinds);
void gmt_cover_free(struct gmt_cover *cover);

/* What many ask for is made once, with the timeline. 0 or -ENOMEM; gmt_cover_forget_kernels in every case. */
int gmt_cover_keep_kernels(struct gmt_timeline *timeline);
void gmt_cover_forget_kernels(struct gmt_timeline *timeline);

/* Length of the parts of begin..end that are covered, ns. */
double gmt_cover_within(const struct gmt_cover *cover, int64_t begin_ns, int64_t end_ns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Several traces of one program (ranks, runs) summed up: the model that their writers print. */
#ifndef GMT_REPORTS_MODEL_RANKS_H
#define GMT_REPORTS_MODEL_RANKS_H

#include "reports/model/figures.h"

/* A robust z-score beyond this is odd: Iglewicz and Hoaglin's limit for 0.6745 * distance / MAD. */
#define GMT_ODD_SCORE 3.5

struct gmt_rank_figure {
    size_t known; /* traces that have it; without any, all below is NAN */
    double min, median, max;
    double *scores; /* of each trace; NAN: not known; INFINITY: the others agree exactly */
    size_t odd;     /* index of the oddest trace; `count` of the ranks: none is odd */
};

struct gmt_rank_finding {
    const struct gmt_finding *largest; /* of the trace where it costs most */
    size_t *traces, count;             /* indices of those that have it    */
    double min_ns, median_ns, max_ns;  /* its saving; NAN: not priced      */
};

struct gmt_ranks {
    const struct gmt_summary *traces;
    size_t count;
    struct gmt_rank_figure figures[GMT_FIGURES];
    struct gmt_rank_finding *findings; /* by the sum of their savings */
    size_t finding_count;
    size_t odd; /* the trace that is odd in most gated figures; count: none is */
};

bool gmt_rank_is_odd(const struct gmt_rank_figure *figure, size_t trace);

#endif

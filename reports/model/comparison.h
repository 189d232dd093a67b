/* SPDX-License-Identifier: Apache-2.0 */
/* What two traces differ in: the model that writers of comparisons print. */
#ifndef GMT_REPORTS_MODEL_COMPARISON_H
#define GMT_REPORTS_MODEL_COMPARISON_H

#include "reports/model/figures.h"

/* From A to B. Times are faster or slower, what is counted is less or more. */
enum gmt_change {
    GMT_CHANGE_SAME,
    GMT_CHANGE_FASTER,
    GMT_CHANGE_SLOWER,
    GMT_CHANGE_LESS,
    GMT_CHANGE_MORE,
    GMT_CHANGE_UNCLEAR, /* not known in both, or within the noise */
    GMT_CHANGES
};

enum gmt_fate {
    GMT_FATE_FIXED,     /* in A only                                    */
    GMT_FATE_NEW,       /* in B only                                    */
    GMT_FATE_BETTER,    /* in both; costs less in B, or is only a note  */
    GMT_FATE_WORSE,     /* in both; costs more in B, or was only a note */
    GMT_FATE_SAME,      /* in both, no difference beyond the noise       */
    GMT_FATE_UNCHECKED, /* in one; its rule could not check the other   */
    GMT_FATES
};

struct gmt_figure_change {
    double a, b;
    double share; /* b / a - 1; INFINITY from 0; NAN: not known */
    double noise; /* what share may differ between runs of the same program; 0: exact */
    enum gmt_change change;
};

struct gmt_finding_change {
    enum gmt_fate fate;
    const struct gmt_finding *a, *b; /* one may be NULL */
    const char *why;                 /* one sentence: what decided the fate */
    /* By so much B is shorter where nothing changed but this and what the same fix is for; NAN: not known. */
    double got_ns;
};

/* The same kernel, kind of copies or place in both; without a name it is not in that one. */
struct gmt_part_change {
    struct gmt_part_sum a, b;
};

/* What became of what was predicted. */
struct gmt_result {
    /* By so much A would be shorter with all that was fixed since; NAN: nothing of it has a price. */
    double predicted_low_ns, predicted_ns, predicted_high_ns;
    double got_ns;                      /* by so much B is shorter; NAN: times are not known */
    double noise_ns;                    /* by so much two runs may differ anyway */
    size_t fixed, left, fresh, smaller; /* the last of those left */
    const char *sentence;               /* all of it, to share */
    const char *note; /* what to know of the times; one sentence without its end, or NULL */
};

struct gmt_comparison {
    const struct gmt_summary *a, *b;
    const char *warning; /* why the two are hard to compare, or NULL */
    struct gmt_figure_change figures[GMT_FIGURES];
    struct gmt_finding_change *findings; /* by fate, then as ranked */
    size_t finding_count;
    struct gmt_part_change *kernels, *copies, *holders; /* largest first, by the larger side */
    size_t kernel_count, copy_count, holder_count;
    struct gmt_result result;
};

const char *gmt_change_name(enum gmt_change change);
const char *gmt_fate_name(enum gmt_fate fate);

#endif

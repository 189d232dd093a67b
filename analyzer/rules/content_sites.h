/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that carried nothing new, summed up: what GM105 and GM106 have in common. */
#ifndef GMT_ANALYZER_RULES_CONTENT_SITES_H
#define GMT_ANALYZER_RULES_CONTENT_SITES_H

#include "analyzer/content.h"
#include "analyzer/cover.h"
#include "analyzer/rule.h"

/* Of copies that could go. ns are NAN without times. */
struct gmt_copy_sum {
    size_t copies;
    double bytes, cost_ns;
    double hidden_ns;       /* of cost_ns, while kernels ran                               */
    double traced_ns;       /* of cost_ns, what tracing has added                          */
    double low_ns, best_ns; /* blocking: without and with the hidden part; else 0 and without */
};

void gmt_copy_sum_add(struct gmt_copy_sum *sum, const struct gmt_analysis *analysis,
                      const struct gmt_cover *kernels, const struct gmt_tl_copy *copy,
                      const struct gmt_print *print);

/* The upper end of what they cost: what tracing has added is known to some per cent only. */
double gmt_copy_sum_high(const struct gmt_copy_sum *sum);

/* "; 3.1 ms of it were hidden behind kernels and save nothing", or "". */
const char *gmt_copy_sum_hidden(struct gmt_analysis *analysis, const struct gmt_copy_sum *sum);

/* " NAME got a pointer to it in between: ...", of enum gmt_doubt; "" without one. */
const char *gmt_doubt_text(struct gmt_analysis *analysis, int32_t doubt);

/* Sorts indices of copies by call site, then by time. */
void gmt_copies_sort_by_site(const struct gmt_timeline *timeline, size_t *members, size_t n);

/*
 * PASS; NOT_APPLICABLE where nothing could have been found; COULD_NOT_CHECK where more copies were
 * left open for want of a fingerprint than were compared. `what` names them.
 */
enum gmt_outcome gmt_content_outcome(struct gmt_analysis *analysis, size_t compared, size_t open,
                                     char skipped, const char *what);

#endif

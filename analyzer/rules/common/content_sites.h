/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that carried nothing new, summed up: what GM105, GM106 and GM117 have in common. */
#ifndef GMT_ANALYZER_RULES_COMMON_CONTENT_SITES_H
#define GMT_ANALYZER_RULES_COMMON_CONTENT_SITES_H

#include "analyzer/findings/rule.h"
#include "analyzer/memory/content.h"
#include "analyzer/trace/cover.h"

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

struct gmt_allocation_device;

/* Which device an allocation is of. */
struct gmt_devices {
    struct gmt_allocation_device *rows; /* by allocation; none in a trace of one device */
    size_t count;
};

/* 0, -ENOMEM or -EIO; gmt_devices_free in every case. */
int gmt_devices_load(struct gmt_devices *devices, const struct gmt_timeline *timeline);
void gmt_devices_free(struct gmt_devices *devices);
/* -1: not known, or there is but one. */
int64_t gmt_devices_of(const struct gmt_devices *devices, int64_t allocation);

/* Sorts indices of copies by call site, then by time. */
void gmt_copies_sort_by_site(const struct gmt_timeline *timeline, size_t *members, size_t n);

/*
 * Whether a doubt is as good as a write: others may write to the memory, or the trace, or the analysis, is
 * limited to ranges, so that neither a write nor a read-back of what a kernel may have written can be
 * excluded.
 */
bool gmt_content_is_left_out(const struct gmt_timeline *timeline, int32_t doubt);

/*
 * PASS; NOT_APPLICABLE where nothing could have been found; COULD_NOT_CHECK where all that was found
 * is left out, or more copies were left open for want of a fingerprint than were compared. `what`
 * names them.
 */
enum gmt_outcome gmt_content_outcome(struct gmt_analysis *analysis, size_t compared, size_t open,
                                     uint8_t skipped, size_t left_out, const char *what);

#endif

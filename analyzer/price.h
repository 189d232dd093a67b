/* SPDX-License-Identifier: Apache-2.0 */
/* What a fix would save: prices of copies and of a kernel's memory work, from the device model. */
#ifndef GMT_ANALYZER_PRICE_H
#define GMT_ANALYZER_PRICE_H

#include "analyzer/device_model.h"
#include "analyzer/timeline.h"

/* The model's curve for such copies (blocking or not), or NULL for directions it does not know. */
const struct gmt_model_curve *gmt_price_curve(const struct gmt_model *model,
                                              const struct gmt_tl_copy *copy, bool pinned);
/* The same for one copy among many, back to back; falls back on gmt_price_curve. */
const struct gmt_model_curve *gmt_price_run_curve(const struct gmt_model *model,
                                                  const struct gmt_tl_copy *copy);
/* Factor by which a 2-D copy is slower than a 1-D one of as many bytes; 1 when not measured. */
double gmt_price_2d_factor(const struct gmt_model *model, const struct gmt_tl_copy *copy);

/* What a launch asks of the memory system; NAN: not measured. */
struct gmt_work {
    double dram_bytes, l2_sectors, l1_sectors, shared_wavefronts;
};

struct gmt_work gmt_work_of_class(const struct gmt_tl_class *class);

/*
 * Predicted gain of a launch of `t_ns` whose work a fix would change.
 *
 * Each resource u takes t_u = work_u / rate_u. Times combine as t = (sum t_u^p)^(1/p) with
 * p = GMT_OVERLAP_EXPONENT. What the resources do not explain is latency and issue: a term that
 * stays, and is at least floor_ns, the time below which the repaired kernel cannot come at its own
 * occupancy. low assumes that all of the unexplained time stays, high that it shrinks with the
 * work; best is their mean.
 */
struct gmt_gain {
    double low_ns, best_ns, high_ns; /* of one launch; NAN: no rate known for any of the work */
    bool from_family;                /* priced with reference kernels of the same pattern     */
};

struct gmt_gain gmt_price_work(const struct gmt_model *model, double t_ns, double busy_share,
                               struct gmt_work before, struct gmt_work after, double floor_ns);

/* Share of the multiprocessors that the grid can use at all, 0..1. */
double gmt_price_busy_share(const struct gmt_timeline *timeline, const struct gmt_tl_class *class);

/* Global accesses of one kind in one class. ideal = at least one sector per request. */
struct gmt_access {
    double bytes, sectors, requests, ideal;
};

struct gmt_access gmt_access_of_loads(const struct gmt_tl_class *class);
struct gmt_access gmt_access_of_stores(const struct gmt_tl_class *class);
/* Sectors per ideal sector; NAN when not measured or nothing was accessed. */
double gmt_access_ratio(const struct gmt_access *access);

/*
 * Gain of one launch if loads (or stores, or both) became ideal. Where the kernel streams from
 * device memory like the stride family, its good twin asks for bytes as fast as the family's
 * reference does at this occupancy; time beyond the family's own worst for that ratio stays.
 * Otherwise gmt_price_work.
 */
struct gmt_gain gmt_price_access(const struct gmt_model *model, const struct gmt_timeline *timeline,
                                 const struct gmt_tl_class *class, bool loads, bool stores);

#endif

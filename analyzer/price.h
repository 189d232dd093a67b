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

/* What a launch asks of each resource; NAN: not known. */
struct gmt_work {
    double dram_bytes, l2_sectors, l1_sectors, shared_wavefronts;
    double issue_ns; /* time to issue its instructions at the clock of the run */
};

struct gmt_work gmt_work_of_class(const struct gmt_timeline *timeline,
                                  const struct gmt_tl_class *class);

/* Global accesses of one kind in one class. ideal: as the software device counted it, else bytes / 32,
 * and at least one sector per request. */
struct gmt_access {
    double bytes, sectors, requests, ideal;
};

struct gmt_access gmt_access_of_loads(const struct gmt_tl_class *class);
struct gmt_access gmt_access_of_stores(const struct gmt_tl_class *class);
/* Sectors per ideal sector; NAN when not measured or nothing was accessed. */
double gmt_access_ratio(const struct gmt_access *access);

/* What a fix changes in a launch. */
struct gmt_repair {
    struct gmt_work before; /* as measured, or as is likely where it was not */
    struct gmt_work after;
    struct gmt_work
        most;        /* the most that it can be before: what was not measured misses all caches */
    double share;    /* of the repaired kind of work that goes, 0..1 */
    double requests; /* memory instructions before                 */
    bool unrated;    /* the model has no rate for the repaired kind of work */
};

struct gmt_gain {
    double low_ns, best_ns, high_ns; /* of one launch; NAN: no rate known for any of the work */
    bool from_family;                /* priced with reference kernels of the same pattern     */
};

/*
 * Predicted gain of one launch of the class.
 *
 * Each resource u takes t_u = work_u / rate_u; together they take (sum t_u^p)^(1/p) with
 * p = GMT_OVERLAP_EXPONENT. Bytes from device memory take at least their time at the roof, and with
 * one load in flight per thread what the calibrated curve of bandwidth over occupancy says; threads
 * with several loads lie between. What the resources do not explain of the measured time U is
 * - waiting for memory, up to GMT_MEMORY_SLACK times what all its work would take one after the
 *   other: it shrinks with the repaired work, and
 * - anything else: it stays.
 * best = T - (time of the work after + waiting x (1 - share) + the rest);
 * low: one load in flight, and all of U stays; high: at the roof, and waiting x (1 - share)^2 stays.
 */
struct gmt_gain gmt_price_repair(const struct gmt_model *model, const struct gmt_timeline *timeline,
                                 const struct gmt_tl_class *class, const struct gmt_repair *repair);

/*
 * Time of one launch with `after` times the resident warps that it has. Waiting time shrinks with
 * the warps, down to the roofs of device memory, L2, L1 and issue; where the model has the curve of
 * bandwidth over occupancy, best is the mean of that and of what the curve promises.
 */
struct gmt_gain gmt_price_occupancy(const struct gmt_model *model,
                                    const struct gmt_timeline *timeline,
                                    const struct gmt_tl_class *class, double occupancy,
                                    double occupancy_after);

/* Share of the multiprocessors that the grid can use at all, 0..1. */
double gmt_price_busy_share(const struct gmt_timeline *timeline, const struct gmt_tl_class *class);

/*
 * Gain of one launch if loads (or stores, or both) became ideal. Where only loads are repaired and
 * the kernel streams from device memory like the stride family, its good twin asks for bytes as
 * fast as the family's reference does at this occupancy; time beyond the family's own worst for
 * that ratio stays. Otherwise gmt_price_repair.
 */
struct gmt_gain gmt_price_access(const struct gmt_model *model, const struct gmt_timeline *timeline,
                                 const struct gmt_tl_class *class, bool loads, bool stores);

/*
 * Gain of one launch whose accesses start inside a sector, if they started at one. Loads: what an
 * offset of one element cost in the calibrated offset family, scaled by excess sectors. Stores have
 * no such family: half of their share of all sectors, at most all of it, at least nothing. A model
 * without the family: the resource model.
 */
struct gmt_gain gmt_price_misaligned(const struct gmt_model *model,
                                     const struct gmt_timeline *timeline,
                                     const struct gmt_tl_class *class);

/* Gain of one launch without its local-memory accesses. */
struct gmt_gain gmt_price_local(const struct gmt_model *model, const struct gmt_timeline *timeline,
                                const struct gmt_tl_class *class);

/* Gain of one launch without bank conflicts. */
struct gmt_gain gmt_price_conflicts(const struct gmt_model *model,
                                    const struct gmt_timeline *timeline,
                                    const struct gmt_tl_class *class);

/* Shared-memory accesses of one kind; ideal: as counted by the software device, else
 * max(requests, bytes / 128). */
struct gmt_shared_access {
    double wavefronts, ideal;
};

struct gmt_shared_access gmt_shared_loads(const struct gmt_tl_class *class);
struct gmt_shared_access gmt_shared_stores(const struct gmt_tl_class *class);

/* 0 for what was not measured. */
static inline double gmt_known(double value)
{
    return isfinite(value) ? value : 0;
}

/*
 * Bytes per second of a kernel with one 4-byte load in flight per thread, at the occupancy of the
 * class (where it was not measured: GMT_TYPICAL_ACHIEVED of the theoretical). NAN without a curve.
 */
double gmt_price_stream_rate(const struct gmt_model *model, const struct gmt_tl_class *class);

/* (a^p + b^p)^(1/p); NAN and negative values count as 0. */
double gmt_price_overlap(double a_ns, double b_ns);

#endif

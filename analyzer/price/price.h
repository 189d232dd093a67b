/* SPDX-License-Identifier: Apache-2.0 */
/* What a fix would save: prices of copies and of a kernel's memory work, from the device model. */
#ifndef GMT_ANALYZER_PRICE_PRICE_H
#define GMT_ANALYZER_PRICE_PRICE_H

#include "analyzer/model/device_model.h"
#include "analyzer/price/work.h"
#include "analyzer/trace/timeline.h"

/* The model's curve for such copies (blocking or not), or NULL for directions it does not know. */
const struct gmt_model_curve *gmt_price_curve(const struct gmt_model *model,
                                              const struct gmt_tl_copy *copy, bool pinned);
/* The same for memory that cudaHostRegister has pinned; falls back on memory allocated pinned. */
const struct gmt_model_curve *gmt_price_registered_curve(const struct gmt_model *model,
                                                         const struct gmt_tl_copy *copy);
/* The same for one copy among many, back to back; falls back on gmt_price_curve. */
const struct gmt_model_curve *gmt_price_run_curve(const struct gmt_model *model,
                                                  const struct gmt_tl_copy *copy);
/*
 * Time of a copy between two devices, as the calibration saw it on this machine: how they are
 * connected is no property of theirs, so NAN with a model of another device.
 */
double gmt_price_peer(const struct gmt_model *model, double bytes);
/* Time of one such copy among many in one cudaMemcpyBatchAsync; NAN when not measured. */
double gmt_price_batched(const struct gmt_model *model, const struct gmt_tl_copy *copy,
                         double bytes);
/*
 * Time of one 2-D copy in place of such a copy per row: that of a 1-D copy of as many bytes times the
 * factor that the calibration saw for the shape (for its one shape in older models; 1 without).
 */
double gmt_price_2d(const struct gmt_model *model, const struct gmt_tl_copy *copy,
                    double width_bytes, double rows);

/*
 * What calls to copy that took measured_ns in the trace take without a tracer: what the model says
 * of them, where that is less, but no less than what remains when the tracer has taken its most of
 * each. hashed_ns: of measured_ns, in copies of page-locked memory that was hashed. As measured
 * where the model is of another kind of GPU.
 */
double gmt_price_untraced_ns(const struct gmt_model *model, const struct gmt_timeline *timeline,
                             double calls, double measured_ns, double hashed_ns,
                             double modelled_ns);
/* The same of one copy; hashed: page-locked memory, all of it. NAN without times. */
double gmt_price_untraced_copy_ns(const struct gmt_model *model,
                                  const struct gmt_timeline *timeline,
                                  const struct gmt_tl_copy *copy, bool hashed);

/*
 * Time of the stores of a launch if they write parts of sectors: at the calibrated rates for one
 * sector, two and four to a line, as far as counters show the lines. No more than the launch took; NAN
 * where stores are not strided, or without those rates.
 */
double gmt_price_partial_ns(const struct gmt_model *model, const struct gmt_tl_class *class);

/*
 * Time of the loads of a launch if they take single sectors: of device memory, where each brought a
 * second one along, and of L2. No more than the launch took; NAN where loads are not strided, or
 * without those rates.
 */
void gmt_price_scattered_ns(const struct gmt_model *model, const struct gmt_tl_class *class,
                            double *dram_ns, double *l2_ns);

/*
 * Bytes that device memory delivered only to fill up partly written sectors: what it delivered beyond
 * the loads, no more than all sectors written; 0 where stores are ideal, or it was not measured.
 */
double gmt_price_fill_bytes(const struct gmt_tl_class *class);

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
 * p = GMT_OVERLAP_EXPONENT; where a level is used as badly as it can be (single sectors, parts of
 * sectors), its time is that of the work at the rates for that. Bytes from device memory take at least
 * their time at the roof R, and with one 4-byte load in flight per thread the time C that the calibrated
 * curve of bandwidth over occupancy gives. C^p - R^p = L^p is latency: with k times the bytes under way
 * (wider loads, several loads) they take (R^p + (L / k)^p)^(1/p). What the resources do not explain of the
 * measured time U is
 * - waiting for memory, up to GMT_MEMORY_SLACK times what all its work would take one after the
 *   other: it shrinks with the repaired work, and
 * - anything else: it stays.
 * best = T - (time of the work after + waiting x (1 - share) + the rest);
 * low: one load in flight, and all of U stays; high: at the roof, and waiting x (1 - share)^2 stays.
 */
struct gmt_gain gmt_price_repair(const struct gmt_model *model, const struct gmt_timeline *timeline,
                                 const struct gmt_tl_class *class, const struct gmt_repair *repair);

/*
 * Loads of a thread that are likely in flight at once: as many as it makes, at most GMT_LOADS_IN_FLIGHT;
 * and no more than instructions make them, where those are known of a compiler's unrolled loops.
 */
double gmt_price_loads_at_once(const struct gmt_tl_class *class);

/*
 * What gmt_price_repair explains of a launch that does that work: its resources at the model's rates, and
 * waiting for device memory with as many loads in flight as its threads make.
 */
double gmt_price_work_ns(const struct gmt_model *model, const struct gmt_timeline *timeline,
                         const struct gmt_tl_class *class, const struct gmt_work *work);

/* Bytes that a launch moves beyond L1: the larger of what L2 and device memory saw; NAN: neither. */
double gmt_price_bytes_moved(const struct gmt_timeline *timeline, const struct gmt_tl_class *class);

/*
 * Gain of one launch with occupancy_after in place of occupancy, as a factor of its bytes in flight.
 * Where the curve of bandwidth over bytes in flight has the launch's own rate is its place; from there
 * the curve says what as many times the bytes make of it (gmt_curve_lifted). Only what L1, shared
 * memory and the schedulers do not explain of the time shrinks so, (T^p - inside^p)^(1/p), p =
 * GMT_OVERLAP_EXPONENT. low: as much of that as the launch moves of what narrow loads of as many warps
 * move; high: the roofs of memory. A model without the curve: the time shrinks with the warps, down to
 * the roofs.
 */
#define GMT_OCCUPANCY_METHOD \
    "bytes in flight grow with the resident warps, no more than the launch has work for; " \
    "bandwidth follows the calibrated curve over bytes in flight, from the kernel's own point on " \
    "it; time inside the multiprocessors stays"
struct gmt_gain gmt_price_occupancy(const struct gmt_model *model,
                                    const struct gmt_timeline *timeline,
                                    const struct gmt_tl_class *class, double occupancy,
                                    double occupancy_after);

/*
 * The least that one launch of the class takes for that work: what its resources take together at the
 * model's rates. one_load: with one load in flight per thread at its occupancy. 0: no rate known.
 */
double gmt_price_floor_ns(const struct gmt_model *model, const struct gmt_timeline *timeline,
                          const struct gmt_tl_class *class, const struct gmt_work *work,
                          bool one_load);

/*
 * Time of L1, on all multiprocessors, for requests that touch so many sectors in all: of s sectors
 * a + b (s - 4), from the calibrated rates of coalesced (s = 4) and of strided (s = 32) hits. One rate
 * for all where requests are 0 or NAN, or in a model without the second. NAN without any.
 */
double gmt_price_l1_ns(const struct gmt_model *model, double requests, double sectors);

/* Share of the multiprocessors that the grid can use at all, 0..1. */
double gmt_price_busy_share(const struct gmt_timeline *timeline, const struct gmt_tl_class *class);

/*
 * Gain of one launch if loads (or stores, or both) became ideal. Where only loads are repaired and
 * the kernel streams from device memory like the stride family, its good twin asks for bytes as
 * fast as the family's reference does at this occupancy; time beyond the family's own worst for
 * that ratio stays. Otherwise gmt_price_repair; ideal stores need no sector filled up before.
 */
struct gmt_gain gmt_price_access(const struct gmt_model *model, const struct gmt_timeline *timeline,
                                 const struct gmt_tl_class *class, bool loads, bool stores);

/*
 * Gain of one launch whose accesses start inside a sector, if they started at one: what an offset
 * cost in the calibrated families offset (loads) and store (stores), scaled by excess sectors. A
 * model without the latter: half of the excess stores' share of all sectors, at most all of it, at
 * least nothing. A model without the former: the resource model.
 */
struct gmt_gain gmt_price_misaligned(const struct gmt_model *model,
                                     const struct gmt_timeline *timeline,
                                     const struct gmt_tl_class *class);

/*
 * Gain of one launch without its local-memory accesses. Local stores go through L1 to L2, all of them:
 * what they take is their sectors at the rate at which L2 takes in whole sectors, half of the reading
 * one on an H200, where it alone explains 98 to 104 % of the time of kernels that spill. After: what
 * is left on each level (gmt_price_repair). Of the instructions, those of spilled words go; with an
 * array also what is done to find its words, between none and all of what is around local accesses:
 * best is the middle of the logarithms. low: as if L2 took sectors in as fast as it gives them out,
 * and no instruction went.
 */
struct gmt_gain gmt_price_local(const struct gmt_model *model, const struct gmt_timeline *timeline,
                                const struct gmt_tl_class *class, bool spills);

/* Gain of one launch without bank conflicts. */
struct gmt_gain gmt_price_conflicts(const struct gmt_model *model,
                                    const struct gmt_timeline *timeline,
                                    const struct gmt_tl_class *class);

/* Shared-memory accesses of one kind; ideal: as counted by the software device, else
 * max(requests, bytes / 128), or what is measured where words of 16 bytes that lanes share would
 * explain it: those take two passes. */
struct gmt_shared_access {
    double wavefronts, ideal;
};

struct gmt_shared_access gmt_shared_loads(const struct gmt_tl_class *class);
struct gmt_shared_access gmt_shared_stores(const struct gmt_tl_class *class);

/*
 * The calibrated family store: relative time that a relative excess sector of misaligned stores
 * costs, mean of the variants; NAN without the family.
 */
double gmt_price_store_offset_cost(const struct gmt_model *model);

/*
 * Gain of one launch if its strided stores became ideal, by the family's time per stored byte at
 * that ratio and at ratio 1: T' = T x good / bad where the kernel is as fast as the family or
 * faster, see gmt_price_after where it is slower. NAN where no variant is alike.
 */
struct gmt_gain gmt_price_store_family(const struct gmt_model *model,
                                       const struct gmt_tl_class *class);

/* Reads of constants of one class, and the different words that they asked for; NAN: not measured. */
struct gmt_constants {
    double requests, words;
};

struct gmt_constants gmt_constants_of(const struct gmt_tl_class *class);

/*
 * Gain of one launch if each warp read one word, or as many as it likes from shared memory: excess
 * words x the calibrated cost of one, else at the calibrated rate of them, see gmt_price_after.
 */
struct gmt_gain gmt_price_constants(const struct gmt_model *model,
                                    const struct gmt_timeline *timeline,
                                    const struct gmt_tl_class *class);

/*
 * Gain of one launch if global loads went through tiles of edge x edge words in shared memory: 1 /
 * edge of them is left, and each of the old ones becomes a shared load. A request takes a pass of
 * L1 (four sectors) even where it touches fewer; GMT_ADDRESS_INSTRUCTIONS for each global load go, as
 * places in a tile are constants. The resource model, gmt_price_repair.
 */
struct gmt_gain gmt_price_tile(const struct gmt_model *model, const struct gmt_timeline *timeline,
                               const struct gmt_tl_class *class, double edge);

/* Share of the load sectors that L1 serves, and that L2 serves, 0..1; NAN: not measured. */
struct gmt_cached {
    double l1, l2;
};

struct gmt_cached gmt_cached_loads(const struct gmt_tl_class *class);

/*
 * Scattered loads of words that are read again and again, and that caches serve: no stride, whose
 * words are read once. Of words that are read once, what L2 did not hold comes from device memory.
 */
bool gmt_is_irregular(const struct gmt_timeline *timeline, const struct gmt_tl_class *class);

/*
 * Gain of one launch if its gathers ran in order: excess sectors x what one costs in the calibrated
 * gather family, at the cache level that serves it; without that family gmt_price_access.
 */
struct gmt_gain gmt_price_gather(const struct gmt_model *model, const struct gmt_timeline *timeline,
                                 const struct gmt_tl_class *class);
/* The same by the family alone; NAN without it, or where it is not known what serves the loads. */
struct gmt_gain gmt_price_gather_family(const struct gmt_model *model,
                                        const struct gmt_timeline *timeline,
                                        const struct gmt_tl_class *class);

/*
 * What is left of T when work of before_ns becomes work of after_ns. Where the work overlaps with
 * the rest that is (T^p - before^p + after^p)^(1/p), where the kernel does not wait for anything else
 * T - before + after: the latter with weight before / T. (The former alone makes a large rest of a
 * small difference of T and before.) before_ns > T: T x after / before.
 */
double gmt_price_after(double t_ns, double before_ns, double after_ns);

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

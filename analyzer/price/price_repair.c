/* SPDX-License-Identifier: Apache-2.0 */
/* The resource model: what a launch's work takes on each level of memory, before and after a fix. */
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/price.h"
#include "analyzer/price/price_launch.h"
#include "analyzer/price/price_mapped.h"

enum { WARP_LANES = 32 };
enum { COALESCED = 4, STRIDED = 32 }; /* sectors per request of the calibrated L1 rates */
enum { CURVE_BYTES = 4 };             /* of the loads whose bandwidth over occupancy is known */

static double occupancy_of(const struct gmt_tl_class *class)
{
    double achieved = class->counter[GMT_M_achieved_occupancy_percent] / 100;
    double theoretical = isfinite(class->theoretical_occupancy) ? class->theoretical_occupancy : 1;

    return isfinite(achieved) ? achieved : GMT_TYPICAL_ACHIEVED * theoretical;
}

double gmt_price_stream_rate(const struct gmt_model *model, const struct gmt_tl_class *class)
{
    return gmt_curve_linear(&model->occupancy, occupancy_of(class));
}

/* Roof of device memory for the class: writes in between cost some of the reading rate. */
static double dram_rate(const struct gmt_model *model, const struct gmt_tl_class *class)
{
    bool writes = class->counter[GMT_M_global_store_bytes] > 0;

    return writes && isfinite(model->dram_copy_bytes_per_s) ? model->dram_copy_bytes_per_s
                                                            : model->dram_bytes_per_s;
}

/* Loads that a thread makes one after the other: as many can be in flight at once, at best. */
static double loads_per_thread(const struct gmt_tl_class *class)
{
    double blocks = (double)class->grid[0] * (double)class->grid[1] * (double)class->grid[2];
    double threads = (double)class->block[0] * (double)class->block[1] * (double)class->block[2];

    return class->counter[GMT_M_global_load_requests] / (blocks * ceil(threads / WARP_LANES));
}

double gmt_price_loads_at_once(const struct gmt_tl_class *class)
{
    double loads = loads_per_thread(class), most = GMT_LOADS_IN_FLIGHT;

    if (!(loads > GMT_SEVERAL_LOADS)) {
        return 1;
    }
    /* The next load of one instruction is another round of its loop. */
    if (class->load_sites > 0) {
        most = fmin(most, class->load_sites);
    }
    return fmin(loads, most);
}

double gmt_price_l1_ns(const struct gmt_model *model, double requests, double sectors)
{
    double coalesced_ns = COALESCED * 1e9 / model->l1_sectors_per_s;
    double strided_ns = STRIDED * 1e9 / model->l1_strided_sectors_per_s;
    double each = sectors / requests;

    if (isnan(strided_ns) || !(requests > 0)) {
        return sectors * 1e9 / model->l1_sectors_per_s;
    }
    return requests * (coalesced_ns +
                       (strided_ns - coalesced_ns) * (each - COALESCED) / (STRIDED - COALESCED));
}

/*
 * Time that so many bytes of device memory take with as many loads in flight per thread. Of the
 * calibrated curve, which is that of one 4-byte load, what the roof does not explain is latency: wider
 * or more loads have as many times the bytes under way, and take as much less of it.
 */
static double loaded_time(const struct gmt_model *model, const struct gmt_tl_class *class,
                          double dram_bytes, double in_flight)
{
    struct gmt_access load = gmt_access_of_loads(class);
    double wider = fmax(1, load.bytes / load.requests / WARP_LANES / CURVE_BYTES);
    double narrow_ns = gmt_known(dram_bytes * 1e9 / gmt_price_stream_rate(model, class));
    double roof_ns = fmin(narrow_ns, gmt_known(dram_bytes * 1e9 / dram_rate(model, class)));
    double latency_ns = pow(pow(narrow_ns, GMT_OVERLAP_EXPONENT) -
                                pow(roof_ns, GMT_OVERLAP_EXPONENT),
                            1 / GMT_OVERLAP_EXPONENT);

    return gmt_price_overlap(roof_ns, latency_ns / wider / in_flight);
}

/* Times of one launch's work on each resource; 0 where it is not known. */
struct times {
    double dram_ns, l2_ns, l1_ns, shared_ns, issue_ns, partial_ns;
};

static struct times times_of(const struct gmt_model *model, const struct gmt_tl_class *class,
                             double busy, const struct gmt_work *work)
{
    /* fmax ignores a NAN. */
    return (struct times){
        .dram_ns = fmax(gmt_known(work->dram_bytes * 1e9 / dram_rate(model, class)),
                        work->lone_dram_ns),
        .l2_ns = fmax(gmt_known(work->l2_sectors * 1e9 / model->l2_sectors_per_s),
                      work->lone_l2_ns),
        .partial_ns = gmt_known(work->partial_ns),
        .l1_ns = gmt_known(gmt_price_l1_ns(model, work->l1_requests, work->l1_sectors) / busy),
        .shared_ns = gmt_known(work->shared_wavefronts * 1e9 /
                               (model->shared_wavefronts_per_s * busy)),
        .issue_ns = gmt_known(work->issue_ns)};
}

static double together(const struct times *t, double dram_ns)
{
    /* The rates of partly written sectors have the bytes of device memory in them. */
    double beyond = fmax(gmt_price_overlap(dram_ns, t->l2_ns), t->partial_ns);
    double inside = gmt_price_overlap(t->l1_ns, t->shared_ns);

    return gmt_price_overlap(gmt_price_overlap(beyond, inside), t->issue_ns);
}

/* What memory can be held responsible for: all its work in a row, and every request's latency. */
static double memory_at_most(const struct gmt_model *model, const struct gmt_timeline *timeline,
                             const struct gmt_tl_class *class, const struct gmt_repair *repair,
                             double busy)
{
    struct times t = times_of(model, class, busy, &repair->most);
    const struct gmt_tl_device *device = &timeline->device;
    double warps = (double)device->sm_count * busy * (double)device->max_threads_per_sm /
                   WARP_LANES * occupancy_of(class);
    double waits_ns = repair->requests * model->dram_load_ns / warps;

    return GMT_MEMORY_SLACK * (fmax(t.dram_ns + t.l2_ns, t.partial_ns) + t.l1_ns + t.shared_ns +
                               (warps > 0 ? gmt_known(waits_ns) : 0));
}

static struct gmt_gain gain_of(double t_ns, double low_after, double best_after, double high_after)
{
    struct gmt_gain gain = {.from_family = false};
    double doubt_ns = GMT_MODEL_UNCERTAINTY * t_ns;

    gain.best_ns = fmax(0, t_ns - best_after);
    gain.low_ns = fmax(0, fmin(gain.best_ns, t_ns - low_after) - doubt_ns);
    /* Work that is left takes some time, however wrong the model is. */
    gain.high_ns = fmax(gain.best_ns, fmin(t_ns - high_after + doubt_ns, t_ns - high_after / 2));
    return gain;
}

struct gmt_gain gmt_price_repair(const struct gmt_model *model, const struct gmt_timeline *timeline,
                                 const struct gmt_tl_class *class, const struct gmt_repair *repair)
{
    class = gmt_class_priced(class);
    double t_ns = class->median_ns, busy = gmt_price_busy_share(timeline, class);
    struct times before = times_of(model, class, busy, &repair->before);
    struct times after = times_of(model, class, busy, &repair->after);
    double bytes = repair->after.dram_bytes,
           slow_ns = fmax(after.dram_ns, loaded_time(model, class, bytes, 1));
    double stream_ns = slow_ns;

    double at_most_ns = memory_at_most(model, timeline, class, repair, busy);
    /* A model without a rate for any of the work has no price for it. */
    if (model->provenance == GMT_MODEL_NONE || isnan(t_ns) ||
        (!repair->unrated && !(at_most_ns > 0))) {
        return (struct gmt_gain){NAN, NAN, NAN, false};
    }
    if (loads_per_thread(class) > GMT_SEVERAL_LOADS) {
        stream_ns = fmax(after.dram_ns,
                         loaded_time(model, class, bytes, gmt_price_loads_at_once(class)));
    }
    double explained_ns = together(&before, fmax(before.dram_ns, stream_ns));
    double unexplained_ns = fmax(0, t_ns - explained_ns), waiting_ns = unexplained_ns;
    if (!repair->unrated) {
        waiting_ns = fmin(unexplained_ns, fmax(0, at_most_ns - explained_ns));
    }
    double left = 1 - repair->share, rest_ns = unexplained_ns - waiting_ns;
    return gain_of(t_ns, together(&after, slow_ns) + unexplained_ns,
                   together(&after, stream_ns) + waiting_ns * left + rest_ns,
                   together(&after, after.dram_ns) + waiting_ns * left * left + rest_ns);
}

double gmt_price_work_ns(const struct gmt_model *model, const struct gmt_timeline *timeline,
                         const struct gmt_tl_class *class, const struct gmt_work *work)
{
    struct times times = times_of(model, class, gmt_price_busy_share(timeline, class), work);
    double stream_ns = loaded_time(model, class, gmt_known(work->dram_bytes),
                                   gmt_price_loads_at_once(class));

    return together(&times, fmax(times.dram_ns, stream_ns));
}

double gmt_price_bytes_moved(const struct gmt_timeline *timeline, const struct gmt_tl_class *class)
{
    struct gmt_work work = gmt_work_of_class(timeline, class);

    return fmax(work.dram_bytes, work.l2_sectors * GMT_SECTOR_BYTES);
}

struct gmt_gain gmt_price_occupancy(const struct gmt_model *model,
                                    const struct gmt_timeline *timeline,
                                    const struct gmt_tl_class *class, double occupancy,
                                    double occupancy_after)
{
    const double p = GMT_OVERLAP_EXPONENT;
    double t_ns = class->median_ns, busy = gmt_price_busy_share(timeline, class);
    double more = occupancy_after / occupancy;
    struct gmt_work work = gmt_work_of_class(timeline, class);
    struct times times = times_of(model, class, busy, &work), memory = times, inside = times;
    double moved = gmt_price_bytes_moved(timeline, class) * 1e9 / t_ns;
    double here = gmt_curve_linear(&model->in_flight, occupancy);
    double there = gmt_curve_lifted(&model->in_flight, moved, more);

    /* Those who rewrite a kernel for more warps often need fewer instructions, too. */
    memory.issue_ns = 0;
    double least_ns = fmin(t_ns, together(&memory, memory.dram_ns));
    if (isnan(t_ns) || !(occupancy > 0) || !(more >= 1)) {
        return (struct gmt_gain){NAN, NAN, NAN, false};
    }
    if (isnan(here) || isnan(there)) {
        double roof_ns = fmin(t_ns, together(&times, times.dram_ns));
        double scaled_ns = fmin(t_ns, gmt_price_overlap(t_ns / more, roof_ns));

        return gain_of(t_ns, (t_ns + scaled_ns) / 2, scaled_ns, least_ns);
    }
    /* What does not leave the multiprocessor takes as long as before, beside less waiting. */
    inside.dram_ns = inside.l2_ns = 0;
    double inside_ns = fmin(t_ns, together(&inside, 0));
    double waiting_ns = pow(pow(t_ns, p) - pow(inside_ns, p), 1 / p);
    double best_ns = gmt_price_overlap(waiting_ns * moved / there, inside_ns);
    /* Only what moves bytes follows the curve for certain. */
    double bound = fmin(1.0, moved / here);
    struct gmt_gain gain = gain_of(t_ns, t_ns - (t_ns - best_ns) * bound, best_ns, least_ns);
    gain.from_family = true;
    return gain;
}

double gmt_price_floor_ns(const struct gmt_model *model, const struct gmt_timeline *timeline,
                          const struct gmt_tl_class *class, const struct gmt_work *work,
                          bool one_load)
{
    struct times times = times_of(model, class, gmt_price_busy_share(timeline, class), work);
    double one_load_ns = loaded_time(model, class, work->dram_bytes, 1);

    return together(&times, one_load ? fmax(times.dram_ns, one_load_ns) : times.dram_ns);
}

struct gmt_roof gmt_price_roof(const struct gmt_model *model, const struct gmt_timeline *timeline,
                               const struct gmt_tl_class *class, double busy)
{
    struct gmt_access load = gmt_access_of_loads(class), store = gmt_access_of_stores(class);
    struct gmt_work work = gmt_work_of_class(timeline, class);

    if (isnan(work.dram_bytes)) {
        work.dram_bytes = fmin(gmt_known(load.bytes) + gmt_known(store.bytes),
                               class->footprint_bytes);
    }
    /* It was counted on those that are busy as launched. */
    work.issue_ns *= gmt_price_busy_share(timeline, class) / busy;
    struct times times = times_of(model, class, busy, &work);
    double inside_ns = gmt_price_overlap(times.l1_ns, times.shared_ns);
    double bus_ns = gmt_known(gmt_price_mapped_once(model, GMT_MAPPED_EITHER, class->mapped_bytes));
    return (struct gmt_roof){
        gmt_price_overlap(gmt_price_overlap(times.dram_ns, times.l2_ns), bus_ns),
        gmt_price_overlap(inside_ns, times.issue_ns),
        gmt_price_overlap(together(&times, times.dram_ns), bus_ns)};
}

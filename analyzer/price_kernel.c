/* SPDX-License-Identifier: Apache-2.0 */
/* Predicted gains of the other kernel repairs: misaligned accesses, local memory, bank conflicts. */
#include <math.h>

#include "analyzer/price.h"
#include "analyzer/thresholds.h"

enum { WARP_LANES = 32 };

static const struct gmt_gain no_gain = {NAN, NAN, NAN, false};

/* Relative time that an offset of one element costs per excess sector of loads; NAN: no family. */
static double offset_cost(const struct gmt_model *model)
{
    const struct gmt_model_variant *good = gmt_family_variant(&model->offset, "offset_0");
    const struct gmt_model_variant *bad = gmt_family_variant(&model->offset, "offset_1");

    if (good == NULL || bad == NULL)
        return NAN;
    double excess = bad->sectors_per_request / good->sectors_per_request - 1;
    return excess > 0 ? fmax(0, bad->median_ns / good->median_ns - 1) / excess : NAN;
}

/* Excess sectors, where they are no more than misalignment can cause. */
static double misaligned_excess(const struct gmt_access *access)
{
    double ratio = gmt_access_ratio(access);

    return ratio < GMT_STRIDED_RATIO ? fmax(0, access->sectors - access->ideal) : 0;
}

/* Without the family: what the excess sectors take at L1 and L2, beside a stream that stays. */
static struct gmt_gain misaligned_by_resources(const struct gmt_model *model,
                                               const struct gmt_timeline *timeline,
                                               const struct gmt_tl_class *class, double sectors,
                                               double excess)
{
    double bytes = fmin((sectors - excess) * GMT_SECTOR_BYTES, class->footprint_bytes);
    struct gmt_work work = {bytes, sectors, sectors, NAN, NAN};
    struct gmt_repair repair = {.before = work, .after = work, .most = work};

    repair.after.l1_sectors = repair.after.l2_sectors = sectors - excess;
    struct gmt_gain gain = gmt_price_repair(model, timeline, class, &repair);
    /* Neither less than nothing nor more than their share of all sectors. */
    gain.low_ns = isnan(gain.best_ns) ? NAN : 0;
    gain.high_ns = isnan(gain.best_ns) ? NAN
                                       : fmax(gain.best_ns, class->median_ns * excess / sectors);
    return gain;
}

struct gmt_gain gmt_price_misaligned(const struct gmt_model *model,
                                     const struct gmt_timeline *timeline,
                                     const struct gmt_tl_class *class)
{
    struct gmt_access load = gmt_access_of_loads(class), store = gmt_access_of_stores(class);
    double t_ns = class->median_ns, cost = offset_cost(model);
    double sectors = gmt_known(load.sectors) + gmt_known(store.sectors);
    double load_excess = misaligned_excess(&load), store_excess = misaligned_excess(&store);
    struct gmt_gain gain = {.from_family = true};

    if (isnan(t_ns) || !(sectors > 0))
        return no_gain;
    if (isnan(cost))
        return misaligned_by_resources(model, timeline, class, sectors, load_excess + store_excess);
    /* Shares of the time after the repair. */
    double loads = load.ideal > 0 ? cost * load_excess / load.ideal : 0;
    double store_cost = gmt_price_store_offset_cost(model);
    if (isfinite(store_cost) && store.ideal > 0) {
        /* Both were measured: twice and half of it bound what another kernel makes of it. */
        double both = loads + store_cost * store_excess / store.ideal;

        gain.best_ns = t_ns * both / (1 + both);
        gain.low_ns = gain.best_ns / 2;
        gain.high_ns = 2 * gain.best_ns;
        return gain;
    }
    double best = loads + store_excess / sectors / 2;
    gain.best_ns = t_ns * best / (1 + best);
    gain.low_ns = t_ns * loads / (1 + loads) / 2;
    gain.high_ns = fmax(2 * t_ns * loads / (1 + loads),
                        store_excess > 0 ? t_ns * (load_excess + store_excess) / sectors : 0);
    return gain;
}

static struct gmt_gain local_by_resources(const struct gmt_model *model,
                                          const struct gmt_timeline *timeline,
                                          const struct gmt_tl_class *class)
{
    const double *c = class->counter;
    struct gmt_access load = gmt_access_of_loads(class), store = gmt_access_of_stores(class);
    struct gmt_work work = gmt_work_of_class(timeline, class);
    struct gmt_repair repair = {.before = work, .after = work, .most = work};
    double local = gmt_known(c[GMT_M_local_load_requests]) +
                   gmt_known(c[GMT_M_local_store_requests]);
    double sectors = gmt_known(c[GMT_M_local_load_sectors]) +
                     gmt_known(c[GMT_M_local_store_sectors]);
    double others = gmt_known(load.requests) + gmt_known(store.requests) +
                    gmt_known(c[GMT_M_shared_load_requests]) +
                    gmt_known(c[GMT_M_shared_store_requests]);
    double global = gmt_known(load.sectors) + gmt_known(store.sectors);

    if (!(sectors > 0) || !(local > 0))
        return no_gain;
    repair.share = local / (local + others);
    repair.requests = local + others;
    repair.after.l1_sectors -= sectors;
    /* The instructions around them (addresses, comparisons, loops) go in the same proportion. */
    repair.after.issue_ns *= 1 - repair.share;
    /* What passed L1 cannot be told apart: local lines take their share of it. */
    repair.after.l2_sectors *= global / (global + sectors);
    repair.after.dram_bytes = fmin(work.dram_bytes,
                                   fmin(global * GMT_SECTOR_BYTES, class->footprint_bytes));
    if (isnan(work.l2_sectors))
        repair.most.l2_sectors = global + sectors;
    if (isnan(work.dram_bytes))
        repair.most.dram_bytes = (global + sectors) * GMT_SECTOR_BYTES;
    return gmt_price_repair(model, timeline, class, &repair);
}

/* Cost of a local load and store of a warp; NAN: not in the model. */
static double local_pair_cost(const struct gmt_model *model, const struct gmt_tl_class *class,
                              bool spills)
{
    const double *c = class->counter, alike = model->local_pair_ns;
    /* Of the loads: an array is often filled by wide stores. 0: lanes at the same word; 1: each at
     * another. */
    double sectors = c[GMT_M_local_load_sectors] / c[GMT_M_local_load_requests];
    double divergence = fmin(1, fmax(0, (gmt_known(sectors) - 4) / (WARP_LANES - 4)));

    return spills ? model->spilled_word_ns
                  : alike + divergence * fmax(0, model->divergent_pair_ns - alike);
}

struct gmt_gain gmt_price_local(const struct gmt_model *model, const struct gmt_timeline *timeline,
                                const struct gmt_tl_class *class, bool spills)
{
    const double *c = class->counter;
    struct gmt_gain gain = local_by_resources(model, timeline, class);
    double pairs = fmax(gmt_known(c[GMT_M_local_load_requests]),
                        gmt_known(c[GMT_M_local_store_requests]));
    double cost = local_pair_cost(model, class, spills), t_ns = class->median_ns;

    if (model->provenance == GMT_MODEL_NONE || !isfinite(gain.best_ns) || !isfinite(cost))
        return gain;
    double saved_ns = pairs * cost / gmt_price_busy_share(timeline, class);
    /* The cost is a difference of times: what overlaps is out of it, as far as in the family. */
    gain.best_ns = fmin(saved_ns, t_ns * (1 - GMT_MODEL_UNCERTAINTY));
    gain.low_ns = fmin(gain.low_ns, t_ns - gmt_price_after(t_ns, gain.best_ns, 0));
    gain.high_ns = fmin(t_ns, fmax(gain.high_ns, gain.best_ns));
    gain.from_family = true;
    return gain;
}

static struct gmt_shared_access shared_of(double wavefronts, double requests, double bytes,
                                          double ideal)
{
    if (isfinite(ideal))
        return (struct gmt_shared_access){wavefronts, ideal};
    /*
     * The width is not known. Where requests ask for half of a pass at most, it may be a word of 16
     * bytes that many lanes share: such a load takes two passes, and no conflict is to blame.
     */
    double least = bytes <= requests * GMT_WAVEFRONT_BYTES / 2 ? 2 * requests : requests;
    double known = fmax(requests, bytes / GMT_WAVEFRONT_BYTES);
    return (struct gmt_shared_access){
        wavefronts, wavefronts <= GMT_SHARED_WIDE_DOUBT * least ? fmax(known, least) : known};
}

struct gmt_shared_access gmt_shared_loads(const struct gmt_tl_class *class)
{
    const double *c = class->counter;

    return shared_of(c[GMT_M_shared_load_wavefronts], c[GMT_M_shared_load_requests],
                     c[GMT_M_shared_load_bytes], c[GMT_M_shared_load_ideal_wavefronts]);
}

struct gmt_shared_access gmt_shared_stores(const struct gmt_tl_class *class)
{
    const double *c = class->counter;

    return shared_of(c[GMT_M_shared_store_wavefronts], c[GMT_M_shared_store_requests],
                     c[GMT_M_shared_store_bytes], c[GMT_M_shared_store_ideal_wavefronts]);
}

struct gmt_gain gmt_price_conflicts(const struct gmt_model *model,
                                    const struct gmt_timeline *timeline,
                                    const struct gmt_tl_class *class)
{
    struct gmt_shared_access load = gmt_shared_loads(class), store = gmt_shared_stores(class);
    struct gmt_access reads = gmt_access_of_loads(class), writes = gmt_access_of_stores(class);
    struct gmt_work work = gmt_work_of_class(timeline, class);
    struct gmt_repair repair = {.before = work, .after = work, .most = work};
    double excess = gmt_known(load.wavefronts - load.ideal) +
                    gmt_known(store.wavefronts - store.ideal);
    double global = gmt_known(reads.requests) + gmt_known(writes.requests);
    double bytes = (gmt_known(reads.ideal) + gmt_known(writes.ideal)) * GMT_SECTOR_BYTES;

    if (!(excess > 0) || !(work.shared_wavefronts > 0))
        return no_gain;
    /* Shared and global accesses go through the same pipe, one pass at least each. */
    repair.share = excess / (work.shared_wavefronts + global);
    repair.requests = work.shared_wavefronts + global;
    repair.unrated = isnan(model->shared_wavefronts_per_s);
    repair.after.shared_wavefronts -= excess;
    if (isnan(work.dram_bytes)) {
        repair.before.dram_bytes = fmin(bytes, class->footprint_bytes);
        repair.after.dram_bytes = repair.most.dram_bytes = repair.before.dram_bytes;
    }
    struct gmt_gain gain = gmt_price_repair(model, timeline, class, &repair);
    gain.from_family = !repair.unrated;
    return gain;
}

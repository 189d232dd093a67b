/* SPDX-License-Identifier: Apache-2.0 */
/* Predicted gains of the other kernel repairs: misaligned accesses, local memory, bank conflicts. */
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/price.h"

enum { WARP_LANES = 32 };

static const struct gmt_gain no_gain = {NAN, NAN, NAN, false};

/* Relative time that an offset of one element costs per excess sector of loads; NAN: no family. */
static double offset_cost(const struct gmt_model *model)
{
    const struct gmt_model_variant *good = gmt_family_variant(&model->offset, "offset_0");
    const struct gmt_model_variant *bad = gmt_family_variant(&model->offset, "offset_1");

    if (good == NULL || bad == NULL) {
        return NAN;
    }
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
                                               const struct gmt_tl_class *class, double requests,
                                               double sectors, double excess)
{
    double bytes = fmin((sectors - excess) * GMT_SECTOR_BYTES, class->footprint_bytes);
    struct gmt_work work = {
        .dram_bytes = bytes, .l2_sectors = sectors, .l1_sectors = sectors, .l1_requests = requests};
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
    class = gmt_class_priced(class);
    struct gmt_access load = gmt_access_of_loads(class), store = gmt_access_of_stores(class);
    double t_ns = class->median_ns, cost = offset_cost(model);
    double sectors = gmt_known(load.sectors) + gmt_known(store.sectors);
    double load_excess = misaligned_excess(&load), store_excess = misaligned_excess(&store);
    struct gmt_gain gain = {.from_family = true};

    if (isnan(t_ns) || !(sectors > 0)) {
        return no_gain;
    }
    if (isnan(cost)) {
        return misaligned_by_resources(model, timeline, class,
                                       gmt_known(load.requests) + gmt_known(store.requests),
                                       sectors, load_excess + store_excess);
    }
    /* Shares of the time after the repair. */
    double loads = load.ideal > 0 ? cost * load_excess / load.ideal : 0;
    double store_cost = gmt_price_store_offset_cost(model);
    if (isfinite(store_cost) && store.ideal > 0) {
        /* Both were measured, as copies. Kernels that write what they have just read pay more, but no
         * more than the share of the excess among all sectors. */
        double both = loads + store_cost * store_excess / store.ideal;

        gain.best_ns = t_ns * both / (1 + both);
        gain.low_ns = gain.best_ns / 2;
        gain.high_ns = fmax(2 * gain.best_ns, t_ns * (load_excess + store_excess) / sectors);
        return gain;
    }
    double best = loads + store_excess / sectors / 2;
    gain.best_ns = t_ns * best / (1 + best);
    gain.low_ns = t_ns * loads / (1 + loads) / 2;
    gain.high_ns = fmax(2 * t_ns * loads / (1 + loads),
                        store_excess > 0 ? t_ns * (load_excess + store_excess) / sectors : 0);
    return gain;
}

/* Local accesses of a launch, all that its schedulers issue, and all other accesses to memory. */
struct local {
    double requests, others, sectors, global_sectors, instructions;
};

static struct local local_of(const struct gmt_tl_class *class)
{
    const double *c = class->counter;
    struct gmt_access load = gmt_access_of_loads(class), store = gmt_access_of_stores(class);

    return (struct local){.requests = gmt_known(c[GMT_M_local_load_requests]) +
                                      gmt_known(c[GMT_M_local_store_requests]),
                          .others = gmt_known(load.requests) + gmt_known(store.requests) +
                                    gmt_known(c[GMT_M_shared_load_requests]) +
                                    gmt_known(c[GMT_M_shared_store_requests]),
                          .sectors = gmt_known(c[GMT_M_local_load_sectors]) +
                                     gmt_known(c[GMT_M_local_store_sectors]),
                          .global_sectors = gmt_known(load.sectors) + gmt_known(store.sectors),
                          .instructions = c[GMT_M_instructions]};
}

/* issue: share of the instructions that stays. weight: time of a sector written to L2 / of one read. */
static struct gmt_gain without_local(const struct gmt_model *model, const struct gmt_timeline *tl,
                                     const struct gmt_tl_class *class, const struct local *local,
                                     double issue, double weight)
{
    const double *c = class->counter;
    struct gmt_work work = gmt_work_of_class(tl, class);
    struct gmt_repair repair = {.before = work, .after = work, .most = work};

    repair.share = local->requests / (local->requests + local->others);
    repair.requests = local->requests + local->others;
    repair.after.l1_sectors -= local->sectors;
    repair.after.l1_requests -= local->requests;
    repair.after.issue_ns *= issue;
    /* L1 keeps nothing back that is written: local stores all reach L2. Of what is read there, local
     * lines cannot be distinguished: they take their share of it. */
    double global = local->global_sectors / (local->global_sectors + local->sectors);
    double writes = gmt_known(c[GMT_M_l2_write_sectors]);
    double stores = gmt_known(c[GMT_M_local_store_sectors]);
    repair.before.l2_sectors += (weight - 1) * writes;
    repair.most.l2_sectors += (weight - 1) * writes;
    repair.after.l2_sectors = gmt_known(c[GMT_M_l2_read_sectors]) * global +
                              weight * fmax(0, writes - stores);
    if (isnan(c[GMT_M_l2_read_sectors]) && isnan(c[GMT_M_l2_write_sectors])) {
        repair.after.l2_sectors = NAN;
    }
    repair.after.dram_bytes = fmin(
        work.dram_bytes, fmin(local->global_sectors * GMT_SECTOR_BYTES, class->footprint_bytes));
    if (isnan(work.l2_sectors)) {
        repair.most.l2_sectors = local->global_sectors + local->sectors;
    }
    if (isnan(work.dram_bytes)) {
        repair.most.dram_bytes = (local->global_sectors + local->sectors) * GMT_SECTOR_BYTES;
    }
    return gmt_price_repair(model, tl, class, &repair);
}

struct gmt_gain gmt_price_local(const struct gmt_model *model, const struct gmt_timeline *timeline,
                                const struct gmt_tl_class *class, bool spills)
{
    class = gmt_class_priced(class);
    struct local local = local_of(class);
    double measured = model->l2_sectors_per_s / model->write_sectors_per_s;
    double weight = isfinite(measured) ? fmax(1, measured) : 1;

    if (!(local.sectors > 0) || !(local.requests > 0)) {
        return no_gain;
    }
    /*
     * A spilled word costs its store and its load. An array takes along what was done to find its
     * words, as those in registers are named by the instruction: from the accesses alone to all that
     * is around them. Both are factors, so what is likely lies between their logarithms.
     */
    double alone = local.instructions > local.requests ? 1 - local.requests / local.instructions
                                                       : 1;
    double along = spills ? alone : fmin(alone, local.others / (local.requests + local.others));
    struct gmt_gain least = without_local(model, timeline, class, &local, 1, 1);
    struct gmt_gain gain = without_local(model, timeline, class, &local, sqrt(alone * along),
                                         weight);
    struct gmt_gain most = without_local(model, timeline, class, &local, along, weight);

    gain.low_ns = fmin(gain.best_ns, least.low_ns);
    gain.high_ns = fmax(gain.best_ns, most.high_ns);
    gain.from_family = isfinite(measured);
    return gain;
}

static struct gmt_shared_access shared_of(double wavefronts, double requests, double bytes,
                                          double ideal)
{
    if (isfinite(ideal)) {
        return (struct gmt_shared_access){wavefronts, ideal};
    }
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
    class = gmt_class_priced(class);
    struct gmt_shared_access load = gmt_shared_loads(class), store = gmt_shared_stores(class);
    struct gmt_access reads = gmt_access_of_loads(class), writes = gmt_access_of_stores(class);
    struct gmt_work work = gmt_work_of_class(timeline, class);
    struct gmt_repair repair = {.before = work, .after = work, .most = work};
    double excess = gmt_known(load.wavefronts - load.ideal) +
                    gmt_known(store.wavefronts - store.ideal);
    double global = gmt_known(reads.requests) + gmt_known(writes.requests);
    double bytes = (gmt_known(reads.ideal) + gmt_known(writes.ideal)) * GMT_SECTOR_BYTES;

    if (!(excess > 0) || !(work.shared_wavefronts > 0)) {
        return no_gain;
    }
    /* Shared and global accesses go through the same pipe, one pass at least each. */
    repair.share = excess / (work.shared_wavefronts + global);
    repair.requests = work.shared_wavefronts + global;
    repair.unrated = isnan(model->shared_wavefronts_per_s);
    /* All of them where they were counted: fmax ignores a NAN. */
    repair.before.shared_wavefronts = repair.most.shared_wavefronts = fmax(
        work.shared_wavefronts, class->counter[GMT_M_lsu_wavefronts]);
    repair.after.shared_wavefronts = repair.before.shared_wavefronts - excess;
    if (isnan(work.dram_bytes)) {
        repair.before.dram_bytes = fmin(bytes, class->footprint_bytes);
        repair.after.dram_bytes = repair.most.dram_bytes = repair.before.dram_bytes;
    }
    struct gmt_gain gain = gmt_price_repair(model, timeline, class, &repair);
    gain.from_family = !repair.unrated;
    return gain;
}

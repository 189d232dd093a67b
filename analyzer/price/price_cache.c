/* SPDX-License-Identifier: Apache-2.0 */
/* Predicted gains of tiles, and of order in gathers: kernels that read the same words many times. */
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/price.h"

/* Sectors that L1 passes on at once: a request takes a pass even where it touches fewer. */
enum { SECTORS_PER_PASS = 4 };

struct gmt_gain gmt_price_tile(const struct gmt_model *model, const struct gmt_timeline *timeline,
                               const struct gmt_tl_class *class, double edge)
{
    class = gmt_class_priced(class);
    const double *c = class->counter;
    struct gmt_access load = gmt_access_of_loads(class);
    struct gmt_work work = gmt_work_of_class(timeline, class);
    struct gmt_repair repair = {.before = work, .after = work, .most = work};
    double sectors = fmax(load.sectors, SECTORS_PER_PASS * load.requests);
    double others = gmt_known(work.l1_sectors) - gmt_known(load.sectors);

    if (!(load.requests > 0) || !(edge > 1)) {
        return (struct gmt_gain){NAN, NAN, NAN, false};
    }
    repair.share = 1 - 1 / edge;
    repair.requests = load.requests;
    repair.before.l1_sectors = repair.most.l1_sectors = others + sectors;
    repair.after.l1_sectors = others + sectors / edge;
    repair.after.l1_requests -= load.requests * (1 - 1 / edge);
    /* Each word is read from the tile as often as it was from global memory, and put there once. */
    repair.after.shared_wavefronts = gmt_known(work.shared_wavefronts) +
                                     load.requests * (1 + 1 / edge);
    double instructions = c[GMT_M_instructions];
    double addresses = GMT_ADDRESS_INSTRUCTIONS * load.requests * (1 - 1 / edge);
    if (isfinite(instructions) && addresses < instructions) {
        repair.after.issue_ns *= 1 - addresses / instructions;
    }
    /* L2 serves what the tile does not: no more than now, no less than every byte once. */
    double once = fmin(load.sectors, class->footprint_bytes / GMT_SECTOR_BYTES);
    double left = fmax(load.sectors / edge, once);
    if (isfinite(c[GMT_M_l2_read_sectors])) {
        repair.after.l2_sectors -= fmax(0, c[GMT_M_l2_read_sectors] - left);
    }
    return gmt_price_repair(model, timeline, class, &repair);
}

struct gmt_cached gmt_cached_loads(const struct gmt_tl_class *class)
{
    const double *c = class->counter;
    double l1 = c[GMT_M_l1_load_hit_sectors] / c[GMT_M_l1_load_sectors];
    double dram = c[GMT_M_dram_read_bytes] / GMT_SECTOR_BYTES / c[GMT_M_global_load_sectors];

    if (!isfinite(l1)) {
        l1 = 1 - c[GMT_M_l2_read_sectors] / c[GMT_M_global_load_sectors];
    }
    l1 = fmin(1, fmax(0, l1));
    return (struct gmt_cached){l1, fmax(0, 1 - l1 - fmin(1, dram))};
}

bool gmt_is_irregular(const struct gmt_timeline *timeline, const struct gmt_tl_class *class)
{
    const double *c = class->counter;
    struct gmt_access load = gmt_access_of_loads(class);
    struct gmt_cached cached = gmt_cached_loads(class);
    /* Words read once: L2 may hold them from before; the rest must come from device memory. */
    double old = timeline->device.l2_bytes > 0 ? (double)timeline->device.l2_bytes : NAN;
    bool again = load.bytes > GMT_AGAIN * (c[GMT_M_dram_read_bytes] + old) ||
                 load.bytes > GMT_AGAIN * class->footprint_bytes;

    return gmt_access_ratio(&load) >= GMT_STRIDED_RATIO && again &&
           cached.l1 + cached.l2 >= GMT_CACHED_SHARE;
}

/* What an excess sector cost in a variant of the family, in ns of the whole device; NAN. */
static double sector_cost(const struct gmt_model_family *family, const char *name)
{
    const struct gmt_model_variant *bad = gmt_family_variant(family, name);
    /* The same table in order; in older models, a larger one. */
    const struct gmt_model_variant *good = bad != NULL && bad->reference != NULL
                                               ? gmt_family_variant(family, bad->reference)
                                               : NULL;

    if (good == NULL || bad == NULL || !(bad->sectors > good->sectors)) {
        return NAN;
    }
    return fmax(0, bad->median_ns - good->median_ns) / (bad->sectors - good->sectors);
}

struct gmt_gain gmt_price_gather_family(const struct gmt_model *model,
                                        const struct gmt_timeline *timeline,
                                        const struct gmt_tl_class *class)
{
    class = gmt_class_priced(class);
    struct gmt_access load = gmt_access_of_loads(class);
    struct gmt_cached cached = gmt_cached_loads(class);
    double t_ns = class->median_ns, busy = gmt_price_busy_share(timeline, class);
    double l1 = sector_cost(&model->gather, "gather_32k");
    double l2 = sector_cost(&model->gather, "gather_1m");
    double dram = sector_cost(&model->gather, "gather_all");
    double beyond = 1 - cached.l1 - cached.l2;

    if (!isfinite(l1 + l2 + dram + cached.l1 + cached.l2)) {
        return (struct gmt_gain){NAN, NAN, NAN, false};
    }
    double excess_ns = (load.sectors - load.ideal) *
                       (cached.l1 * l1 / busy + cached.l2 * l2 + fmax(0, beyond) * dram);
    struct gmt_gain gain = {.from_family = true};
    double doubt_ns = GMT_MODEL_UNCERTAINTY * t_ns;
    /* The family keeps eight gathers in flight; with fewer, latency stays where the words lie. */
    gain.best_ns = fmin(excess_ns, t_ns * (1 - load.ideal / load.sectors));
    gain.low_ns = fmax(0, gain.best_ns / 2 - doubt_ns);
    gain.high_ns = fmin(t_ns, fmax(gain.best_ns, excess_ns) + doubt_ns);
    return gain;
}

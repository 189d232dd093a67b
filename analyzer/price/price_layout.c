/* SPDX-License-Identifier: Apache-2.0 */
/* Predicted gains of other layouts: what L1 and L2 are spared, and what fewer requests take. */
#include "analyzer/price/price_layout.h"

#include <math.h>

#include "analyzer/base/thresholds.h"

static const struct gmt_gain no_gain = {NAN, NAN, NAN, false};

enum { SECTORS_OF_LINE = 4 };

static double l1_time(const struct gmt_model *model, double requests, double sectors)
{
    return requests > 0 ? gmt_price_l1_ns(model, requests, sectors) : 0;
}

struct levels {
    double dram_bytes, l2_sectors, l1_ns;
};

static double roof(const struct gmt_model *model)
{
    return isfinite(model->dram_copy_bytes_per_s) ? model->dram_copy_bytes_per_s
                                                  : model->dram_bytes_per_s;
}

/* Time of what lies beyond L1. */
static double time_beyond(const struct gmt_model *model, const struct levels *levels)
{
    return gmt_price_overlap(levels->dram_bytes * 1e9 / roof(model),
                             levels->l2_sectors * 1e9 / model->l2_sectors_per_s);
}

/* What passes L1: as measured, else every byte once for loads, every sector for stores. */
static struct levels levels_of(const struct gmt_model *model, const struct gmt_timeline *timeline,
                               const struct gmt_tl_class *class)
{
    struct gmt_access load = gmt_access_of_loads(class), store = gmt_access_of_stores(class);
    struct gmt_work work = gmt_work_of_class(timeline, class);
    double ideal = gmt_known(load.ideal) + gmt_known(store.ideal);

    return (struct levels){
        .dram_bytes = isfinite(work.dram_bytes)
                          ? work.dram_bytes
                          : fmin(ideal * GMT_SECTOR_BYTES, class->footprint_bytes),
        .l2_sectors = isfinite(work.l2_sectors) ? work.l2_sectors
                                                : gmt_known(load.ideal) + gmt_known(store.sectors),
        .l1_ns = l1_time(model, gmt_known(load.requests), gmt_known(load.sectors)) +
                 l1_time(model, gmt_known(store.requests), gmt_known(store.sectors))};
}

struct gmt_gain gmt_price_whole_structs(const struct gmt_model *model,
                                        const struct gmt_timeline *timeline,
                                        const struct gmt_tl_class *class,
                                        const struct gmt_pattern *pattern)
{
    class = gmt_class_priced(class);
    struct gmt_access load = gmt_access_of_loads(class), store = gmt_access_of_stores(class);
    double t_ns = class->median_ns;
    struct levels before = levels_of(model, timeline, class), after = before;
    double loads = pattern->loads ? load.sectors - load.ideal : 0;
    double stores = pattern->stores ? store.sectors - store.ideal : 0;
    double padding = pattern->kind == GMT_PATTERN_PIECES && pattern->struct_bytes == 12 ? 16.0 / 12
                                                                                        : 1;

    if (model->provenance == GMT_MODEL_NONE || isnan(t_ns)) {
        return no_gain;
    }
    after.dram_bytes *= padding;
    after.l2_sectors = (before.l2_sectors - stores) * padding;
    after.l1_ns = padding *
                  (l1_time(model, gmt_known(load.requests), gmt_known(load.sectors) - loads) +
                   l1_time(model, gmt_known(store.requests), gmt_known(store.sectors) - stores));
    double beyond_ns = time_beyond(model, &before), later_ns = time_beyond(model, &after);
    double before_ns = gmt_price_overlap(beyond_ns, before.l1_ns);
    double after_ns = gmt_price_overlap(later_ns, after.l1_ns);
    if (!(before_ns > 0)) {
        return no_gain;
    }
    double best_ns = fmax(beyond_ns, before.l1_ns) - fmax(later_ns, after.l1_ns);
    double share = fmax(0, 1 - after_ns / before_ns);
    best_ns = fmin(t_ns, fmax(0, best_ns));
    return (struct gmt_gain){.low_ns = 0,
                             .best_ns = best_ns,
                             .high_ns = fmax(best_ns, t_ns * share),
                             .from_family = false};
}

static double power(double t_ns)
{
    return pow(fmax(0, t_ns), GMT_OVERLAP_EXPONENT);
}

struct gmt_gain gmt_price_narrow(const struct gmt_model *model, const struct gmt_tl_class *class,
                                 double width_bytes)
{
    class = gmt_class_priced(class);
    struct gmt_access load = gmt_access_of_loads(class), store = gmt_access_of_stores(class);
    double t_ns = class->median_ns, bytes = gmt_known(load.bytes) + gmt_known(store.bytes);
    double roof_ns = fmin(t_ns, bytes * 1e9 / roof(model)), narrower = width_bytes / 4;
    double stream_ns = bytes * 1e9 / gmt_price_stream_rate(model, class);
    double rest_ns = pow(power(t_ns) - power(roof_ns), 1 / GMT_OVERLAP_EXPONENT);
    double requests_ns = fmin(rest_ns, stream_ns / narrower);

    if (model->provenance == GMT_MODEL_NONE || isnan(t_ns) || !(bytes > 0) || isnan(requests_ns)) {
        return no_gain;
    }
    double other_ns = rest_ns - requests_ns;
    double after_ns = gmt_price_overlap(requests_ns * narrower + other_ns, roof_ns);
    double best_ns = fmax(0, t_ns - fmax(after_ns, fmin(t_ns, stream_ns)));
    double doubt_ns = GMT_MODEL_UNCERTAINTY * t_ns;
    /* The curve is that of one load per thread: several take less of the time, and less goes. */
    return (struct gmt_gain){.low_ns = fmax(0, best_ns / 2 - doubt_ns),
                             .best_ns = best_ns,
                             .high_ns = fmin(t_ns * (1 - narrower / 2), best_ns + 2 * doubt_ns),
                             .from_family = true};
}

/* Parts of sectors that L2 takes per second: the best of the calibrated strided stores. */
static double partial_writes(const struct gmt_model *model)
{
    double best = NAN;

    for (size_t i = 0; i < model->store.n; i++) {
        const struct gmt_model_variant *v = &model->store.variants[i];

        /* A sector per lane, or per two lanes. */
        if (v->store_sectors >= 16 * v->store_requests) {
            best = fmax(best, v->store_sectors * 1e9 / v->median_ns);
        }
    }
    return isfinite(best) ? best : model->l2_sectors_per_s / GMT_PARTIAL_WRITE_FACTOR;
}

struct gmt_gain gmt_price_columns(const struct gmt_model *model,
                                  const struct gmt_timeline *timeline,
                                  const struct gmt_tl_class *class,
                                  const struct gmt_pattern *pattern)
{
    class = gmt_class_priced(class);
    struct gmt_access load = gmt_access_of_loads(class), store = gmt_access_of_stores(class);
    struct levels before = levels_of(model, timeline, class), after = before;
    double t_ns = class->median_ns, lines = pattern->loads ? load.sectors : 0;
    double parts = pattern->stores ? store.sectors : 0;
    double ideal = gmt_known(load.ideal) + gmt_known(store.ideal);
    double excess = gmt_known(load.sectors) + gmt_known(store.sectors) - ideal;
    double line_rate = isfinite(model->l1_strided_sectors_per_s)
                           ? model->l1_strided_sectors_per_s / SECTORS_OF_LINE
                           : model->l1_sectors_per_s / SECTORS_OF_LINE;

    before.l1_ns = lines * 1e9 / line_rate;
    before.l2_sectors = fmax(0, before.l2_sectors - parts);
    after.dram_bytes = fmin(before.dram_bytes, ideal * GMT_SECTOR_BYTES);
    double parts_ns = parts * 1e9 / partial_writes(model);
    double inside_ns = gmt_price_overlap(before.l1_ns, parts_ns);
    double before_ns = gmt_price_overlap(time_beyond(model, &before), inside_ns);
    if (model->provenance == GMT_MODEL_NONE || isnan(t_ns) || !(inside_ns > 0)) {
        return no_gain;
    }
    double left_ns = fmax(0, t_ns - before_ns);
    double roof_ns = fmin(t_ns, after.dram_bytes * 1e9 / roof(model));
    double curve_ns = after.dram_bytes * 1e9 / gmt_price_stream_rate(model, class);
    /* A model without the curve: the roof is all that is known. */
    double stream_ns = fmin(t_ns, fmax(roof_ns, gmt_known(curve_ns)));
    double share = excess / (excess + ideal), doubt_ns = GMT_MODEL_UNCERTAINTY * t_ns;
    double best_ns = t_ns - (roof_ns + stream_ns) / 2 - left_ns * (1 - share);
    return (struct gmt_gain){.low_ns = fmax(0, t_ns - stream_ns - left_ns - doubt_ns),
                             .best_ns = fmax(0, best_ns),
                             .high_ns = t_ns - roof_ns + doubt_ns / 2,
                             .from_family = !pattern->stores || model->store.n > 0};
}

struct gmt_gain gmt_price_rows(const struct gmt_model *model, const struct gmt_timeline *timeline,
                               const struct gmt_tl_class *class, const struct gmt_pattern *pattern)
{
    class = gmt_class_priced(class);
    struct gmt_gain gain = gmt_price_misaligned(model, timeline, class);
    struct levels levels = levels_of(model, timeline, class);
    double t_ns = class->median_ns, whole = ceil(pattern->row_bytes / GMT_DRAM_BYTES);
    double dram_ns = fmin(t_ns, levels.dram_bytes * 1e9 / roof(model));
    double longer_ns = dram_ns * (whole * GMT_DRAM_BYTES / pattern->row_bytes - 1);

    if (isnan(gain.best_ns) || isnan(longer_ns)) {
        return gain;
    }
    gain.best_ns = fmax(0, gain.best_ns - longer_ns);
    gain.low_ns = 0;
    return gain;
}

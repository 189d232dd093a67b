/* SPDX-License-Identifier: Apache-2.0 */
/* Predicted gain of coalescing: by the stride, store or gather family where it is alike, else by resources. */
#include <math.h>
#include <string.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/price.h"

enum { WARP_LANES = 32 };

/* Work beyond L1 shrinks to what is asked for, and not at all where L1 already saw to that. */
static void shrink(double *value, double part, double ideal)
{
    if (isfinite(part) && part > ideal) {
        *value -= part - ideal;
    }
}

/* Bytes that must come from device memory at least: no more than all that the kernel was given. */
static double compulsory_bytes(const struct gmt_tl_class *class, double asked)
{
    /* fmin ignores a NAN. */
    return fmin(asked, class->footprint_bytes);
}

/*
 * Fills in what was not measured beyond L1. Before: nothing hits, as in a kernel whose sectors are
 * gone before their other words are asked for. After: every byte comes once.
 */
static void fill_unknown(const struct gmt_tl_class *class, struct gmt_repair *repair,
                         double sectors, double ideal)
{
    if (isnan(repair->before.l2_sectors)) {
        repair->before.l2_sectors = repair->most.l2_sectors = sectors;
        repair->after.l2_sectors = compulsory_bytes(class, ideal * GMT_SECTOR_BYTES) /
                                   GMT_SECTOR_BYTES;
    }
    if (isnan(repair->before.dram_bytes)) {
        repair->before.dram_bytes = repair->most.dram_bytes = sectors * GMT_SECTOR_BYTES;
        repair->after.dram_bytes = compulsory_bytes(class, ideal * GMT_SECTOR_BYTES);
    }
}

static struct gmt_repair repair_of(const struct gmt_model *model,
                                   const struct gmt_timeline *timeline,
                                   const struct gmt_tl_class *class, const struct gmt_access *load,
                                   const struct gmt_access *store, bool loads, bool stores)
{
    const double *c = class->counter;
    struct gmt_work work = gmt_work_of_class(timeline, class);
    struct gmt_repair repair = {.before = work, .after = work, .most = work};
    double load_excess = loads ? gmt_known(load->sectors) - gmt_known(load->ideal) : 0;
    double store_excess = stores ? gmt_known(store->sectors) - gmt_known(store->ideal) : 0;
    double sectors = gmt_known(load->sectors) + gmt_known(store->sectors);

    if (loads) {
        gmt_price_scattered_ns(model, class, &repair.before.lone_dram_ns,
                               &repair.before.lone_l2_ns);
    }
    if (stores) {
        repair.before.partial_ns = gmt_price_partial_ns(model, class);
    }
    repair.most = repair.before;
    repair.requests = gmt_known(load->requests) + gmt_known(store->requests);
    repair.after.l1_sectors -= load_excess + store_excess;
    if (loads) {
        shrink(&repair.after.l2_sectors, c[GMT_M_l2_read_sectors], load->ideal);
        shrink(&repair.after.dram_bytes, c[GMT_M_dram_read_bytes], load->ideal * GMT_SECTOR_BYTES);
    }
    if (stores) {
        shrink(&repair.after.l2_sectors, c[GMT_M_l2_write_sectors], store->ideal);
        shrink(&repair.after.dram_bytes, c[GMT_M_dram_write_bytes],
               store->ideal * GMT_SECTOR_BYTES);
        repair.after.dram_bytes -= gmt_price_fill_bytes(class);
    }
    fill_unknown(class, &repair, sectors, sectors - load_excess - store_excess);
    /* Threads wait for loads, hardly for stores: loads count alone where only they are repaired. */
    repair.share = stores ? (load_excess + store_excess) / sectors : load_excess / load->sectors;
    return repair;
}

/* Bytes per lane of a variant's loads: it stores as many, in order. */
static double width_of(const struct gmt_model_variant *v)
{
    return v->bytes_asked / 2 / v->load_requests / WARP_LANES;
}

/* Reference of the words nearest in width to those of the kernel: 4, 8 or 16 bytes. NULL: none. */
static const struct gmt_model_variant *reference_of(const struct gmt_model *model,
                                                    const struct gmt_access *loads)
{
    static const char *const names[] = {"wide8_1", "wide16_1"};
    const struct gmt_model_variant *best = gmt_family_variant(&model->stride, "stride_1");
    double width = loads->bytes / loads->requests / WARP_LANES;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct gmt_model_variant *v = gmt_family_variant(&model->stride_wide, names[i]);

        if (v != NULL && best != NULL && width > sqrt(width_of(v) * width_of(best))) {
            best = v;
        }
    }
    /* Wide words are faster than narrow ones: these say nothing of them. */
    return best != NULL && width > GMT_WIDTH_MATCH * width_of(best) ? NULL : best;
}

/* Bytes per second of the reference, at the occupancy of the kernel. */
static double good_rate(const struct gmt_model *model, const struct gmt_tl_class *class,
                        const struct gmt_model_variant *reference)
{
    const struct gmt_model_variant *word = gmt_family_variant(&model->stride, "stride_1");
    double rate = reference->bytes_asked * 1e9 / reference->median_ns;
    double full = word != NULL ? word->bytes_asked * 1e9 / word->median_ns : rate;

    /* fmin ignores a NAN. */
    return rate * fmin(1, gmt_price_stream_rate(model, class) / full);
}

struct family_time {
    double fastest_ns, slowest_ns, spread; /* per byte asked; spread relative */
};

/* Sectors per ideal sector of a variant's loads; its stores are in order. */
static double ratio_of(const struct gmt_model_variant *variant,
                       const struct gmt_model_variant *reference)
{
    double loaded = variant->bytes_asked - variant->store_sectors * GMT_SECTOR_BYTES;

    /* A model without counts of loads and stores: all variants have words of one width. */
    if (isnan(loaded) || isnan(variant->load_requests)) {
        return variant->sectors_per_request / reference->sectors_per_request;
    }
    return variant->sectors_per_request * variant->load_requests * GMT_SECTOR_BYTES / loaded;
}

/* Of the variants next to the ratio on one side: the nearest ratio, and the fastest time there. */
struct neighbour {
    double ratio, ns;
};

static void consider(struct neighbour *neighbour, double ratio, double ns, bool nearer)
{
    if (nearer || isnan(neighbour->ratio)) {
        *neighbour = (struct neighbour){ratio, ns};
    } else if (ratio == neighbour->ratio) {
        neighbour->ns = fmin(neighbour->ns, ns);
    }
}

/* Between two ratios of the family, times grow as a power of the ratio. */
static bool interpolate(const struct neighbour *below, const struct neighbour *above, double ratio,
                        struct family_time *time)
{
    if (isnan(below->ratio) || isnan(above->ratio)) {
        return false;
    }
    double at = log(ratio / below->ratio) / log(above->ratio / below->ratio);

    time->fastest_ns = time->slowest_ns = below->ns * pow(above->ns / below->ns, at);
    return true;
}

static void add_times(const struct gmt_model_family *family,
                      const struct gmt_model_variant *reference, double ratio,
                      struct family_time *time, struct neighbour *below, struct neighbour *above)
{
    for (size_t i = 0; i < family->n; i++) {
        const struct gmt_model_variant *v = &family->variants[i];
        double its = ratio_of(v, reference), ns = v->median_ns / v->bytes_asked;

        if (v->reference == NULL || strcmp(v->reference, reference->name) != 0 || !(ns > 0) ||
            !(its > 0)) {
            continue;
        }
        time->spread = fmax(time->spread, gmt_known(v->spread_ns) / v->median_ns);
        if (its <= ratio) {
            consider(below, its, ns, its > below->ratio);
        } else {
            consider(above, its, ns, its < above->ratio);
        }
        if (fmax(its / ratio, ratio / its) > GMT_FAMILY_MATCH) {
            continue;
        }
        time->fastest_ns = fmin(time->fastest_ns, ns);
        time->slowest_ns = fmax(time->slowest_ns, ns);
    }
}

/*
 * Times per byte asked of the variants with that reference and that many sectors per ideal sector;
 * where there are none, interpolated between their neighbours.
 */
static bool family_times(const struct gmt_model *model, const struct gmt_model_variant *reference,
                         double ratio, struct family_time *time)
{
    struct neighbour below = {NAN, NAN}, above = {NAN, NAN};

    *time = (struct family_time){INFINITY, 0, 0};
    if (reference == NULL || !(reference->sectors_per_request > 0)) {
        return false;
    }
    add_times(&model->stride, reference, ratio, time, &below, &above);
    add_times(&model->stride_wide, reference, ratio, time, &below, &above);
    return time->slowest_ns > 0 || interpolate(&below, &above, ratio, time);
}

/* Whether the traffic beyond L1 goes to device memory, as that of the family does. */
static bool is_streaming(const struct gmt_tl_class *class)
{
    const double *c = class->counter;
    double l2 = c[GMT_M_l2_read_sectors] * GMT_SECTOR_BYTES;
    double asked = c[GMT_M_global_load_sectors] * GMT_SECTOR_BYTES;

    return c[GMT_M_dram_read_bytes] >= GMT_STREAMING_SHARE * l2 &&
           l2 >= GMT_STREAMING_SHARE * asked;
}

/* Slower than the slowest stride, and yet bound by device memory: places without any order. */
static bool is_scattered(const struct gmt_model *model, const struct gmt_tl_class *class,
                         double slowest_ns)
{
    double rate = class->counter[GMT_M_dram_read_bytes] * 1e9 / class->median_ns;

    return class->median_ns > GMT_SCATTERED_TIME * slowest_ns &&
           rate >= GMT_MEMORY_BOUND_SHARE * model->dram_bytes_per_s;
}

static struct gmt_gain by_family(const struct gmt_model *model, const struct gmt_timeline *timeline,
                                 const struct gmt_tl_class *class, const struct gmt_access *loads,
                                 double asked)
{
    struct gmt_gain gain = {NAN, NAN, NAN, true};
    const struct gmt_model_variant *reference = reference_of(model, loads);
    struct family_time family;
    double t_ns = class->median_ns;

    if (!is_streaming(class) || !family_times(model, reference, gmt_access_ratio(loads), &family)) {
        return gain;
    }
    double good_ns = asked * 1e9 / good_rate(model, class, reference);
    double fastest = family.fastest_ns * asked, slowest = family.slowest_ns * asked;
    if (is_scattered(model, class, slowest)) {
        gain = gmt_price_gather_family(model, timeline, class);
        /* Without that family: the resource model, if it has a rate for them. */
        if (isfinite(gain.best_ns) || isfinite(model->dram_scattered_sectors_per_s)) {
            return gain;
        }
    }
    double like_ns = fmin(t_ns, slowest * (1 + GMT_FAMILY_LIKE)); /* of it that is the family's */
    double after_ns = good_ns * fmax(1, like_ns / slowest);
    if (t_ns > like_ns) {
        after_ns = pow(pow(t_ns, GMT_OVERLAP_EXPONENT) - pow(like_ns, GMT_OVERLAP_EXPONENT) +
                           pow(after_ns, GMT_OVERLAP_EXPONENT),
                       1 / GMT_OVERLAP_EXPONENT);
    } else if (t_ns < fastest) {
        after_ns = t_ns * good_ns / fastest;
    }
    double doubt_ns = t_ns * (GMT_MODEL_UNCERTAINTY + family.spread);
    gain.best_ns = fmax(0, t_ns - after_ns);
    gain.low_ns = fmax(0, gain.best_ns - doubt_ns);
    gain.high_ns = gain.best_ns + doubt_ns;
    return gain;
}

struct gmt_gain gmt_price_access(const struct gmt_model *model, const struct gmt_timeline *timeline,
                                 const struct gmt_tl_class *class, bool loads, bool stores)
{
    class = gmt_class_priced(class);
    struct gmt_access load = gmt_access_of_loads(class), store = gmt_access_of_stores(class);

    if (model->provenance == GMT_MODEL_NONE || isnan(class->median_ns)) {
        return (struct gmt_gain){NAN, NAN, NAN, false};
    }
    if (loads && !stores) {
        struct gmt_gain gain = by_family(model, timeline, class, &load,
                                         gmt_known(load.bytes) + gmt_known(store.bytes));

        if (isfinite(gain.best_ns)) {
            return gain;
        }
    }
    if (stores && !loads) {
        struct gmt_gain gain = gmt_price_store_family(model, class);

        if (isfinite(gain.best_ns)) {
            return gain;
        }
    }
    struct gmt_repair repair = repair_of(model, timeline, class, &load, &store, loads, stores);
    return gmt_price_repair(model, timeline, class, &repair);
}

struct gmt_gain gmt_price_gather(const struct gmt_model *model, const struct gmt_timeline *timeline,
                                 const struct gmt_tl_class *class)
{
    class = gmt_class_priced(class);
    struct gmt_gain gain = gmt_price_gather_family(model, timeline, class);

    return isfinite(gain.best_ns) ? gain : gmt_price_access(model, timeline, class, true, false);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Predicted gains of stores and of constant reads, by the reference kernels that do the same. */
#include <math.h>
#include <string.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/price.h"

static const struct gmt_gain no_gain = {NAN, NAN, NAN, false};

/* Sectors per ideal sector of a variant's stores, which are 4 bytes wide. */
static double store_ratio(const struct gmt_model_variant *v)
{
    return v->store_sectors / (4 * v->store_requests);
}

double gmt_price_store_offset_cost(const struct gmt_model *model)
{
    const struct gmt_model_variant *good = gmt_family_variant(&model->store, "store_offset_0");
    double sum = 0, n = 0;

    for (size_t i = 0; good != NULL && i < model->store.n; i++) {
        const struct gmt_model_variant *v = &model->store.variants[i];
        double excess = store_ratio(v) - 1;

        if (v->reference == NULL || strcmp(v->reference, good->name) != 0 || !(excess > 0)) {
            continue;
        }
        sum += fmax(0, v->median_ns / good->median_ns - 1) / excess;
        n++;
    }
    return n > 0 ? sum / n : NAN;
}

struct family_time {
    double fastest_ns, slowest_ns, spread; /* per stored byte; spread relative */
};

static bool family_times(const struct gmt_model_family *family, double ratio,
                         struct family_time *time)
{
    *time = (struct family_time){INFINITY, 0, 0};
    for (size_t i = 0; i < family->n; i++) {
        const struct gmt_model_variant *v = &family->variants[i];
        double its = store_ratio(v), bytes = v->store_requests * GMT_ARRAY_MIN_BYTES;

        if (v->reference == NULL || strcmp(v->reference, "store_1") != 0 ||
            !(fmax(its / ratio, ratio / its) <= GMT_FAMILY_MATCH)) {
            continue;
        }
        time->fastest_ns = fmin(time->fastest_ns, v->median_ns / bytes);
        time->slowest_ns = fmax(time->slowest_ns, v->median_ns / bytes);
        time->spread = fmax(time->spread, gmt_known(v->spread_ns) / v->median_ns);
    }
    return time->slowest_ns > 0;
}

/* Whether the sectors go on to device memory, as those of the family do. */
static bool is_streaming(const struct gmt_tl_class *class)
{
    const double *c = class->counter;

    return c[GMT_M_dram_write_bytes] >=
               GMT_STREAMING_SHARE * c[GMT_M_l2_write_sectors] * GMT_SECTOR_BYTES &&
           c[GMT_M_l2_write_sectors] >= GMT_STREAMING_SHARE * c[GMT_M_global_store_sectors];
}

struct gmt_gain gmt_price_store_family(const struct gmt_model *model,
                                       const struct gmt_tl_class *class)
{
    class = gmt_class_priced(class);
    struct gmt_access store = gmt_access_of_stores(class);
    struct family_time bad, good;
    double t_ns = class->median_ns;

    if (isnan(t_ns) || !is_streaming(class) || !(store.bytes > 0) ||
        !family_times(&model->store, gmt_access_ratio(&store), &bad) ||
        !family_times(&model->store, 1, &good)) {
        return no_gain;
    }
    double good_ns = good.fastest_ns * store.bytes;
    double like_ns = fmin(fmax(t_ns, bad.fastest_ns * store.bytes), bad.slowest_ns * store.bytes);
    double doubt_ns = t_ns * (GMT_MODEL_UNCERTAINTY + bad.spread);
    struct gmt_gain gain = {.from_family = true};
    gain.best_ns = fmax(0, t_ns - gmt_price_after(t_ns, like_ns, good_ns));
    gain.low_ns = fmax(0, gain.best_ns - doubt_ns);
    gain.high_ns = gain.best_ns + doubt_ns;
    return gain;
}

struct gmt_constants gmt_constants_of(const struct gmt_tl_class *class)
{
    const double *c = class->counter;
    double counted = c[GMT_M_constant_distinct_addresses];

    return (struct gmt_constants){c[GMT_M_constant_load_instructions],
                                  isfinite(counted) ? counted : c[GMT_M_constant_requests]};
}

/* ns of the whole device for one more word in a read of constants; NAN: not in the model. */
static double word_cost(const struct gmt_model *model)
{
    return isfinite(model->constant_word_ns) ? model->constant_word_ns
                                             : 1e9 / model->constant_words_per_s;
}

struct gmt_gain gmt_price_constants(const struct gmt_model *model,
                                    const struct gmt_timeline *timeline,
                                    const struct gmt_tl_class *class)
{
    class = gmt_class_priced(class);
    struct gmt_constants constants = gmt_constants_of(class);
    double t_ns = class->median_ns, busy = gmt_price_busy_share(timeline, class);

    if (model->provenance == GMT_MODEL_NONE || isnan(t_ns) || isnan(word_cost(model)) ||
        !(constants.words > constants.requests)) {
        return no_gain;
    }
    double before_ns = constants.words * word_cost(model) / busy;
    double after_ns = constants.requests * word_cost(model) / busy;
    double doubt_ns = GMT_MODEL_UNCERTAINTY * t_ns;
    struct gmt_gain gain = {.from_family = true};
    gain.best_ns = t_ns - gmt_price_after(t_ns, before_ns, after_ns);
    /* At least what no overlap hides, at most all of it. */
    gain.low_ns = fmax(0, gain.best_ns - 2 * doubt_ns);
    gain.high_ns = fmin(t_ns, fmax(gain.best_ns, before_ns - after_ns) + doubt_ns);
    return gain;
}

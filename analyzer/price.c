/* SPDX-License-Identifier: Apache-2.0 */
/* Prices of copies and of a kernel's work on each resource of the memory system. */
#include "analyzer/price.h"

#include <math.h>

#include "analyzer/thresholds.h"

static const struct gmt_model_curve no_curve;

const struct gmt_model_curve *gmt_price_curve(const struct gmt_model *model,
                                              const struct gmt_tl_copy *copy, bool pinned)
{
    if (copy->direction != GMT_COPY_H2D && copy->direction != GMT_COPY_D2H)
        return &no_curve;
    size_t host = pinned ? GMT_HOST_PINNED : GMT_HOST_PAGEABLE;
    const struct gmt_model_curve *of_mode = model->copy[copy->direction][host];
    const struct gmt_model_curve *curve = &of_mode[copy->blocking ? GMT_MODE_SYNC : GMT_MODE_ASYNC];

    /* A model may lack the mode; the other one is closer than nothing. */
    return curve->n > 0 ? curve : &of_mode[copy->blocking ? GMT_MODE_ASYNC : GMT_MODE_SYNC];
}

const struct gmt_model_curve *gmt_price_run_curve(const struct gmt_model *model,
                                                  const struct gmt_tl_copy *copy)
{
    bool pinned = copy->host_class == GMT_CLASS_PINNED;
    size_t host = pinned ? GMT_HOST_PINNED : GMT_HOST_PAGEABLE;

    if (copy->direction == GMT_COPY_H2D || copy->direction == GMT_COPY_D2H) {
        const struct gmt_model_curve *curve =
            &model->back_to_back[copy->direction][host]
                                [copy->blocking ? GMT_MODE_SYNC : GMT_MODE_ASYNC];

        if (curve->n > 0)
            return curve;
    }
    return gmt_price_curve(model, copy, pinned);
}

double gmt_price_2d_factor(const struct gmt_model *model, const struct gmt_tl_copy *copy)
{
    size_t host = copy->host_class == GMT_CLASS_PINNED ? GMT_HOST_PINNED : GMT_HOST_PAGEABLE;

    if (copy->direction != GMT_COPY_H2D && copy->direction != GMT_COPY_D2H)
        return 1;
    double factor = model->copy_2d_factor[copy->direction][host]
                                         [copy->blocking ? GMT_MODE_SYNC : GMT_MODE_ASYNC];
    return isfinite(factor) ? factor : 1;
}

static double sum_known(double a, double b)
{
    if (isnan(a))
        return b;
    return isnan(b) ? a : a + b;
}

struct gmt_work gmt_work_of_class(const struct gmt_tl_class *class)
{
    const double *c = class->counter;
    double local = sum_known(c[GMT_M_local_load_sectors], c[GMT_M_local_store_sectors]);

    return (struct gmt_work){
        .dram_bytes = sum_known(c[GMT_M_dram_read_bytes], c[GMT_M_dram_write_bytes]),
        .l2_sectors = sum_known(c[GMT_M_l2_read_sectors], c[GMT_M_l2_write_sectors]),
        .l1_sectors = sum_known(
            sum_known(c[GMT_M_global_load_sectors], c[GMT_M_global_store_sectors]), local),
        .shared_wavefronts = sum_known(c[GMT_M_shared_load_wavefronts],
                                       c[GMT_M_shared_store_wavefronts])};
}

double gmt_price_busy_share(const struct gmt_timeline *timeline, const struct gmt_tl_class *class)
{
    double blocks = (double)class->grid[0] * (double)class->grid[1] * (double)class->grid[2];
    double sms = (double)timeline->device.sm_count;

    return sms > 0 && blocks > 0 ? fmin(1.0, blocks / sms) : 1.0;
}

static double power(double t_ns)
{
    return isfinite(t_ns) && t_ns > 0 ? pow(t_ns, GMT_OVERLAP_EXPONENT) : 0;
}

static double root(double powered)
{
    return powered > 0 ? pow(powered, 1 / GMT_OVERLAP_EXPONENT) : 0;
}

/* Sum of t_u^p over the resources whose work and rate are known. */
static double combined(const struct gmt_model *model, struct gmt_work work, double busy_share)
{
    return power(work.dram_bytes * 1e9 / model->dram_bytes_per_s) +
           power(work.l2_sectors * 1e9 / model->l2_sectors_per_s) +
           power(work.l1_sectors * 1e9 / (model->l1_sectors_per_s * busy_share)) +
           power(work.shared_wavefronts * 1e9 / (model->shared_wavefronts_per_s * busy_share));
}

struct gmt_gain gmt_price_work(const struct gmt_model *model, double t_ns, double busy_share,
                               struct gmt_work before, struct gmt_work after, double floor_ns)
{
    struct gmt_gain gain = {NAN, NAN, NAN, false};
    double total = power(t_ns), used = combined(model, before, busy_share);
    double left = combined(model, after, busy_share);
    double floor = fmin(power(floor_ns), total);

    if (total <= 0 || used <= 0)
        return gain;
    /* Rates are those of the best kernel; a kernel faster than they allow has them scaled down. */
    double rest = fmax(total - used, floor);
    double slow = root(rest + left * fmin(1.0, (total - rest) / used));
    double fast = root(floor + left * (total - floor) / used);
    gain.low_ns = fmax(0, t_ns - slow);
    gain.high_ns = fmax(gain.low_ns, t_ns - fast);
    gain.best_ns = (gain.low_ns + gain.high_ns) / 2;
    gain.low_ns = fmax(0, gain.low_ns - GMT_MODEL_UNCERTAINTY * t_ns);
    gain.high_ns = fmin(t_ns, gain.high_ns + GMT_MODEL_UNCERTAINTY * t_ns);
    return gain;
}

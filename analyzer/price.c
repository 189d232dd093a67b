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

double gmt_price_overlap(double a_ns, double b_ns)
{
    double sum = power(a_ns) + power(b_ns);

    return sum > 0 ? pow(sum, 1 / GMT_OVERLAP_EXPONENT) : 0;
}

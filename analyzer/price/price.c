/* SPDX-License-Identifier: Apache-2.0 */
/* Prices of copies and of a kernel's work on each resource of the memory system. */
#include "analyzer/price/price.h"

#include <math.h>

#include "analyzer/base/thresholds.h"

static const struct gmt_model_curve no_curve;

/* Index of a copy between host and device in the arrays of a model: to the device, from it. */
static size_t way_of(const struct gmt_tl_copy *copy)
{
    return copy->direction == GMT_DIR_D2H;
}

const struct gmt_model_curve *gmt_price_curve(const struct gmt_model *model,
                                              const struct gmt_tl_copy *copy, bool pinned)
{
    if (copy->direction != GMT_DIR_H2D && copy->direction != GMT_DIR_D2H) {
        return &no_curve;
    }
    size_t host = pinned ? GMT_HOST_PINNED : GMT_HOST_PAGEABLE;
    const struct gmt_model_curve *of_mode = model->copy[way_of(copy)][host];
    const struct gmt_model_curve *curve = &of_mode[copy->blocking ? GMT_MODE_SYNC : GMT_MODE_ASYNC];

    /* A model may lack the mode; the other one is closer than nothing. */
    return curve->n > 0 ? curve : &of_mode[copy->blocking ? GMT_MODE_ASYNC : GMT_MODE_SYNC];
}

const struct gmt_model_curve *gmt_price_registered_curve(const struct gmt_model *model,
                                                         const struct gmt_tl_copy *copy)
{
    size_t mode = copy->blocking ? GMT_MODE_SYNC : GMT_MODE_ASYNC;

    if (copy->direction == GMT_DIR_H2D || copy->direction == GMT_DIR_D2H) {
        const struct gmt_model_curve *curve = &model->copy[way_of(copy)][GMT_HOST_REGISTERED][mode];

        if (curve->n > 0) {
            return curve;
        }
    }
    return gmt_price_curve(model, copy, true);
}

const struct gmt_model_curve *gmt_price_run_curve(const struct gmt_model *model,
                                                  const struct gmt_tl_copy *copy)
{
    bool pinned = copy->host_class == GMT_MEM_PINNED;
    size_t host = pinned ? GMT_HOST_PINNED : GMT_HOST_PAGEABLE;

    if (copy->direction == GMT_DIR_H2D || copy->direction == GMT_DIR_D2H) {
        const struct gmt_model_curve *curve = &model->back_to_back[way_of(
            copy)][host][copy->blocking ? GMT_MODE_SYNC : GMT_MODE_ASYNC];

        if (curve->n > 0) {
            return curve;
        }
    }
    return gmt_price_curve(model, copy, pinned);
}

double gmt_price_peer(const struct gmt_model *model, double bytes)
{
    bool here = model->provenance > GMT_MODEL_SAME_NAME;

    return here ? gmt_curve_at(&model->peer, bytes) : NAN;
}

/* Which of the model's tables such a copy belongs to; false for other directions. */
static bool place_of(const struct gmt_tl_copy *copy, size_t *host, size_t *mode)
{
    *host = copy->host_class == GMT_MEM_PINNED ? GMT_HOST_PINNED : GMT_HOST_PAGEABLE;
    *mode = copy->blocking ? GMT_MODE_SYNC : GMT_MODE_ASYNC;
    return copy->direction == GMT_DIR_H2D || copy->direction == GMT_DIR_D2H;
}

double gmt_price_batched(const struct gmt_model *model, const struct gmt_tl_copy *copy,
                         double bytes)
{
    size_t host, mode;

    return place_of(copy, &host, &mode)
               ? gmt_curve_at(&model->batched[way_of(copy)][host][mode], bytes)
               : NAN;
}

double gmt_price_2d(const struct gmt_model *model, const struct gmt_tl_copy *copy,
                    double width_bytes, double rows)
{
    bool pinned = copy->host_class == GMT_MEM_PINNED;
    double flat_ns = gmt_curve_at(gmt_price_curve(model, copy, pinned), width_bytes * rows);
    size_t host, mode;

    if (!place_of(copy, &host, &mode)) {
        return flat_ns;
    }
    double factor = gmt_shapes_factor(&model->copy_2d[way_of(copy)][host][mode], width_bytes, rows);
    if (isnan(factor)) {
        factor = model->copy_2d_factor[way_of(copy)][host][mode];
    }
    return isfinite(factor) ? factor * flat_ns : flat_ns;
}

double gmt_price_untraced_ns(const struct gmt_model *model, const struct gmt_timeline *timeline,
                             double calls, double measured_ns, double hashed_ns, double modelled_ns)
{
    double most = calls * (timeline->has_device_times ? GMT_TRACED_CALL_NS : GMT_TRACED_LIGHT_NS) +
                  GMT_TRACED_HASHED_SHARE * hashed_ns;

    if (model->provenance < GMT_MODEL_SAME_NAME || !isfinite(modelled_ns) || isnan(measured_ns)) {
        return measured_ns;
    }
    return fmin(measured_ns, fmax(modelled_ns, measured_ns - most));
}

double gmt_price_untraced_copy_ns(const struct gmt_model *model,
                                  const struct gmt_timeline *timeline,
                                  const struct gmt_tl_copy *copy, bool hashed)
{
    double cost_ns = gmt_copy_cost_ns(timeline, copy);
    const struct gmt_model_curve *curve = copy->run >= 0
                                              ? gmt_price_run_curve(model, copy)
                                              : gmt_price_curve(model, copy,
                                                                copy->host_class == GMT_MEM_PINNED);

    /* What the device does of an asynchronous copy takes no longer by a record of it. */
    return gmt_price_untraced_ns(model, timeline, copy->blocking ? 1 : 0, cost_ns,
                                 hashed ? cost_ns : 0, gmt_curve_at(curve, (double)copy->bytes));
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

double gmt_price_after(double t_ns, double before_ns, double after_ns)
{
    const double p = GMT_OVERLAP_EXPONENT;

    if (before_ns > t_ns) {
        return t_ns * after_ns / before_ns;
    }
    double hidden_ns = pow(pow(t_ns, p) - pow(before_ns, p) + pow(after_ns, p), 1 / p);
    double bound = t_ns > 0 ? before_ns / t_ns : 0;
    return bound * (t_ns - before_ns + after_ns) + (1 - bound) * hidden_ns;
}

double gmt_price_overlap(double a_ns, double b_ns)
{
    double sum = power(a_ns) + power(b_ns);

    return sum > 0 ? pow(sum, 1 / GMT_OVERLAP_EXPONENT) : 0;
}

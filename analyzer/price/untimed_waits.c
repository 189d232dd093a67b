/* SPDX-License-Identifier: Apache-2.0 */
/* Copies in traces without device times: what of a call was waiting for kernels, as far as a model says. */
#include "analyzer/price/untimed_waits.h"

#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/price.h"
#include "libtrace/record/checked.h"

/* It keeps its caller until it is done, and it is not known when the device began with it. */
static bool is_untimed(const struct gmt_tl_copy *copy)
{
    return copy->after_launch && copy->device_end_ns == GMT_NO_TIME && !copy->unpriced &&
           (copy->blocking || copy->host_class == GMT_MEM_PAGEABLE);
}

bool gmt_waits_are_unknown(const struct gmt_timeline *tl)
{
    bool any = false;

    for (size_t i = 0; i < tl->launch_count && tl->pending_count == 0 && !any; i++) {
        any = !tl->launches[i].measured;
    }
    return any && !tl->simulated;
}

void gmt_untimed_waits(struct gmt_timeline *tl, const struct gmt_model *model)
{
    if (!gmt_waits_are_unknown(tl)) {
        return;
    }
    for (size_t i = 0; i < tl->copy_count; i++) {
        struct gmt_tl_copy *copy = &tl->copies[i];
        const struct gmt_model_curve *curve = gmt_price_curve(model, copy,
                                                              copy->host_class == GMT_MEM_PINNED);
        double bytes = (double)copy->bytes, copy_ns = gmt_curve_at(curve, bytes);

        if (!is_untimed(copy) || !isfinite(copy_ns)) {
            continue;
        }
        copy_ns *= 1 + fmax(GMT_MODEL_UNCERTAINTY, gmt_curve_relative_spread(curve, bytes));
        double wait_ns = (double)(copy->call.end_ns - copy->call.begin_ns) - copy_ns;
        if (wait_ns > (double)copy->wait_ns) {
            copy->wait_ns = gmt_integer_clamped(wait_ns);
        }
    }
}

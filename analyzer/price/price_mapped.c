/* SPDX-License-Identifier: Apache-2.0 */
/* Mapped host memory: what the bus takes of a kernel, and what a copy would take instead. */
#include "analyzer/price/price_mapped.h"

#include <math.h>

#include "analyzer/base/thresholds.h"

static const struct gmt_gain unknown = {NAN, NAN, NAN, false};

double gmt_price_pinned_copy(const struct gmt_model *model, enum gmt_mapped_direction direction,
                             double bytes)
{
    size_t d = direction == GMT_MAPPED_WRITE; /* to the device, from it */

    return gmt_curve_at(&model->copy[d][GMT_HOST_PINNED][GMT_MODE_ASYNC], bytes);
}

double gmt_price_mapped_once(const struct gmt_model *model, enum gmt_mapped_direction direction,
                             double bytes)
{
    double read_ns = gmt_curve_at(&model->mapped_read, bytes);
    double write_ns = gmt_curve_at(&model->mapped_write, bytes);
    /* fmax ignores a NAN: one of both is better than none. */
    double slower_ns = fmax(read_ns, write_ns);
    double known_ns = direction == GMT_MAPPED_READ
                          ? read_ns
                          : (direction == GMT_MAPPED_WRITE ? write_ns : slower_ns);

    return isfinite(known_ns) ? known_ns : gmt_price_pinned_copy(model, direction, bytes);
}

struct gmt_gain gmt_price_without_copy(const struct gmt_model *model,
                                       enum gmt_mapped_direction direction, double t_ns,
                                       double copy_ns, double bytes)
{
    double mapped_ns = gmt_price_mapped_once(model, direction, bytes);

    if (isnan(mapped_ns) || isnan(t_ns) || isnan(copy_ns)) {
        return unknown;
    }
    double now_ns = t_ns + copy_ns, doubt_ns = GMT_MODEL_UNCERTAINTY * (copy_ns + mapped_ns);
    return (struct gmt_gain){.low_ns = fmax(0, now_ns - t_ns - mapped_ns - doubt_ns),
                             .best_ns = fmax(0, now_ns - gmt_price_overlap(t_ns, mapped_ns)),
                             .high_ns = fmax(0, now_ns - fmax(t_ns, mapped_ns) + doubt_ns),
                             .from_family = model->mapped_read.n > 0};
}

struct gmt_gain gmt_price_with_copy(const struct gmt_model *model, double t_ns, double bytes,
                                    double traffic_bytes)
{
    double once_ns = gmt_price_mapped_once(model, GMT_MAPPED_EITHER, bytes);
    double copy_ns = gmt_price_pinned_copy(model, GMT_MAPPED_READ, bytes);
    bool measured = isfinite(traffic_bytes);

    if (isnan(once_ns) || isnan(copy_ns) || isnan(t_ns) || !(bytes > 0)) {
        return unknown;
    }
    double moved = measured ? traffic_bytes : bytes * t_ns / once_ns;
    double bus_ns = fmin(t_ns, once_ns * moved / bytes);
    double device_ns = gmt_known(moved * 1e9 / model->dram_bytes_per_s);
    double best_ns = fmax(0, bus_ns - copy_ns - device_ns);
    return (struct gmt_gain){.low_ns = measured ? fmax(0, best_ns - GMT_MODEL_UNCERTAINTY * t_ns)
                                                : 0,
                             .best_ns = best_ns,
                             .high_ns = fmin(t_ns, best_ns + GMT_MODEL_UNCERTAINTY * t_ns),
                             .from_family = model->mapped_read.n > 0};
}

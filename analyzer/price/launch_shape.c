/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of a launch against the device: what is resident, what bounds it, how many waves. */
#include "analyzer/price/launch_shape.h"

#include "analyzer/base/thresholds.h"
#include "analyzer/price/price.h"

enum { WARP_LANES = 32 };

struct gmt_shape gmt_shape_of(const struct gmt_timeline *tl, const struct gmt_tl_class *class)
{
    double threads = (double)class->block[0] * (double)class->block[1] * (double)class->block[2];
    double most_warps = (double)tl->device.max_threads_per_sm / WARP_LANES;
    double sms = tl->device.sm_count > 0 ? (double)tl->device.sm_count : NAN;
    struct gmt_shape shape = {.threads = threads,
                              .warps = ceil(threads / WARP_LANES),
                              .occupancy = gmt_occupancy_of(tl, class, NULL),
                              .resident = NAN,
                              .next_registers = NAN,
                              .next_occupancy = NAN};

    shape.blocks = (double)class->grid[0] * (double)class->grid[1] * (double)class->grid[2];
    if (shape.occupancy.unknown == NULL && shape.occupancy.blocks > 0) {
        int64_t next = shape.occupancy.blocks + 1;
        int64_t registers = gmt_occupancy_registers_for(tl, class, next);

        shape.resident = (double)shape.occupancy.blocks;
        shape.next_occupancy = fmin(1.0, (double)next * shape.warps / most_warps);
        shape.next_registers = registers > 0 ? (double)registers : NAN;
    }
    shape.wave = shape.resident * sms;
    shape.waves = shape.blocks / shape.wave;
    shape.small_grid = ceil(shape.blocks / sms) < shape.resident;
    return shape;
}

/* Registers are the only limit below one block more. */
static bool registers_alone(const struct gmt_shape *shape)
{
    const struct gmt_occupancy *o = &shape->occupancy;

    for (int i = 0; i < GMT_OCCUPANCY_LIMITER_COUNT; i++) {
        if ((i == GMT_OCCUPANCY_REGISTERS) != (o->limit[i] <= o->blocks)) {
            return false;
        }
    }
    return shape->waves > 1;
}

bool gmt_shape_at_cliff(const struct gmt_tl_class *class, const struct gmt_shape *shape)
{
    double over = (double)class->registers - shape->next_registers;

    return registers_alone(shape) && over > 0 && over <= GMT_CLIFF_REGISTERS;
}

double gmt_shape_occupancy(const struct gmt_tl_class *class)
{
    double achieved = class->counter[GMT_M_achieved_occupancy_percent] / 100;

    return isnan(achieved) ? GMT_TYPICAL_ACHIEVED * class->theoretical_occupancy : achieved;
}

double gmt_shape_loads_in_flight(const struct gmt_model *model, const struct gmt_timeline *tl,
                                 const struct gmt_tl_class *class)
{
    double warps = gmt_shape_occupancy(class) * (double)tl->device.max_threads_per_sm / WARP_LANES *
                   (double)tl->device.sm_count * gmt_price_busy_share(tl, class);
    double per_ns = class->counter[GMT_M_global_load_requests] / class->median_ns;

    return warps > 0 ? per_ns * model->dram_load_ns / warps : NAN;
}

double gmt_shape_waiting(const struct gmt_timeline *tl, const struct gmt_tl_class *class)
{
    const double *c = class->counter;
    double warp_cycles = c[GMT_M_achieved_occupancy_percent] / 100 *
                         (double)tl->device.max_threads_per_sm / WARP_LANES *
                         (double)tl->device.sm_count * c[GMT_M_sm_cycles_active];

    return warp_cycles > 0 ? fmin(1.0, c[GMT_M_stalled_long_scoreboard] / warp_cycles) : NAN;
}

bool gmt_shape_low_ilp(const struct gmt_model *model, const struct gmt_timeline *tl,
                       const struct gmt_tl_class *class, const struct gmt_shape *shape)
{
    double in_flight = gmt_shape_loads_in_flight(model, tl, class);
    double bytes = class->counter[GMT_M_global_load_bytes] /
                   class->counter[GMT_M_global_load_requests] / WARP_LANES;

    return shape->occupancy.unknown == NULL && shape->occupancy.limited &&
           shape->occupancy.limiter == GMT_OCCUPANCY_REGISTERS &&
           !gmt_shape_at_cliff(class, shape) && shape->waves >= 1 - GMT_TAIL_MIN_LOSS &&
           in_flight >= GMT_ONE_LOAD_LEAST && in_flight <= GMT_ONE_LOAD_MOST &&
           bytes <= GMT_NARROW_LOAD_BYTES && !(gmt_shape_waiting(tl, class) < GMT_WAITING_SHARE);
}

struct gmt_position gmt_shape_position(const struct gmt_model *model, const struct gmt_timeline *tl,
                                       const struct gmt_tl_class *class, double after)
{
    const struct gmt_model_curve *curve = &model->in_flight;
    double bytes = gmt_price_bytes_moved(tl, class);
    struct gmt_position p = {.achieved = class->counter[GMT_M_achieved_occupancy_percent] / 100,
                             .after = after,
                             .rate = bytes * 1e9 / class->median_ns,
                             .at_most = gmt_curve_max(curve)};

    p.here = gmt_curve_linear(curve, p.achieved);
    p.there = gmt_curve_lifted(curve, p.rate, fmax(1, p.after / p.achieved));
    return p;
}

const char *gmt_shape_enough_warps(const struct gmt_position *p)
{
    if (p->there < GMT_OCCUPANCY_MIN_GAIN * p->rate) {
        return p->rate >= GMT_AT_ROOF * p->at_most
                   ? "device memory is at its roof already: more warps would not help"
                   : "the calibrated bandwidth is hardly higher with more warps";
    }
    if (p->rate < GMT_MEMORY_BOUND_SHARE * p->here) {
        return "it does not wait for memory: more warps would not help";
    }
    return NULL;
}

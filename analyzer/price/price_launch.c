/* SPDX-License-Identifier: Apache-2.0 */
/* Predicted gains of other launch shapes: block size, grid size, parallelism, kernels side by side. */
#include "analyzer/price/price_launch.h"

#include "analyzer/base/thresholds.h"

enum { WARP_LANES = 32 };

static const struct gmt_gain no_gain = {NAN, NAN, NAN, false};

/* From times after the repair; the doubt of the model goes to both ends. */
static struct gmt_gain gain_between(double t_ns, double low_after, double best_after,
                                    double high_after)
{
    struct gmt_gain gain = {.from_family = false};
    double doubt_ns = GMT_MODEL_UNCERTAINTY * t_ns;

    if (isnan(t_ns) || isnan(best_after)) {
        return no_gain;
    }
    gain.best_ns = fmax(0, t_ns - best_after);
    gain.low_ns = fmax(0, fmin(gain.best_ns, t_ns - low_after) - doubt_ns);
    gain.high_ns = fmin(t_ns, fmax(gain.best_ns, t_ns - high_after) + doubt_ns);
    return gain;
}

/* The part that, combined with part_ns, takes t_ns: the inverse of gmt_price_overlap. */
static double rest_of(double t_ns, double part_ns)
{
    double p = GMT_OVERLAP_EXPONENT;

    return part_ns < t_ns ? pow(pow(t_ns, p) - pow(part_ns, p), 1 / p) : 0;
}

double gmt_price_block_start_ns(const struct gmt_model *model)
{
    double least_ns = NAN;

    for (size_t i = 0; i < model->block_size.n; i++) {
        const struct gmt_model_variant *v = &model->block_size.variants[i];
        /* One load per warp; the parameter is threads per block. */
        double blocks = v->load_requests / ceil(v->parameter / WARP_LANES);

        least_ns = fmin(least_ns, v->median_ns / blocks);
    }
    return least_ns;
}

struct gmt_gain gmt_price_whole_warps(const struct gmt_model *model, const struct gmt_timeline *tl,
                                      const struct gmt_tl_class *class,
                                      const struct gmt_shape *shape)
{
    double t_ns = class->median_ns, in_use = shape->threads / (WARP_LANES * shape->warps);
    struct gmt_roof roof = gmt_price_roof(model, tl, class, gmt_price_busy_share(tl, class));
    double stream_ns = roof.device_ns *
                       fmax(1, model->dram_bytes_per_s / gmt_price_stream_rate(model, class));
    double issue_ns = gmt_known(gmt_work_of_class(tl, class).issue_ns);

    if (isnan(stream_ns) || stream_ns > t_ns) {
        stream_ns = roof.device_ns;
    }
    stream_ns = fmin(t_ns, stream_ns);
    double best_ns = gmt_price_overlap(stream_ns, in_use * rest_of(t_ns, stream_ns));
    double high_ns = fmax(fmin(t_ns, roof.device_ns), in_use * t_ns);
    /* All are resident at once: fewer warps leave the others what they do themselves, and no more. */
    if (shape->waves < 1) {
        best_ns = issue_ns > 0 ? gmt_price_after(t_ns, fmin(t_ns, roof.inside_ns),
                                                 in_use * fmin(t_ns, roof.inside_ns))
                               : (t_ns + high_ns) / 2;
    }
    if (shape->blocks * gmt_price_block_start_ns(model) >= GMT_AT_ROOF * t_ns) {
        best_ns = high_ns;
    }
    double low_ns = gmt_price_overlap(rest_of(t_ns, issue_ns), in_use * issue_ns);
    return gain_between(t_ns, fmax(low_ns, best_ns), best_ns, fmin(high_ns, best_ns));
}

struct gmt_gain gmt_price_larger_blocks(const struct gmt_model *model,
                                        const struct gmt_timeline *tl,
                                        const struct gmt_tl_class *class,
                                        const struct gmt_shape *shape, double threads)
{
    double t_ns = class->median_ns, fewer = shape->threads / threads;
    double occupancy = class->theoretical_occupancy;
    double bytes = gmt_price_bytes_moved(tl, class);
    double all_ns = bytes * 1e9 / gmt_curve_linear(&model->in_flight, occupancy);
    double some_ns = bytes * 1e9 /
                     gmt_curve_linear(&model->in_flight, GMT_TYPICAL_ACHIEVED * occupancy);
    double roof_ns = gmt_price_roof(model, tl, class, gmt_price_busy_share(tl, class)).all_ns;

    return gain_between(t_ns, fmax(t_ns * fmax(fewer, 0.5), gmt_known(some_ns)),
                        fmin(t_ns, fmax(t_ns * fewer, gmt_known(all_ns))),
                        fmin(t_ns, fmax(t_ns * fewer, roof_ns)));
}

/* Words that the threads of a launch store, each of its own; NAN: not counted. */
static double stores_per_thread(const struct gmt_tl_class *class, const struct gmt_shape *shape)
{
    const double *c = class->counter;
    double stores = c[GMT_M_global_store_requests] / (shape->blocks * shape->warps);
    double width = c[GMT_M_global_store_bytes] / c[GMT_M_global_store_requests] /
                   fmin(WARP_LANES, shape->threads);
    double room = fmin(class->footprint_bytes,
                       class->writable_bytes > 0 ? class->writable_bytes : INFINITY);
    double words = room / width / (shape->blocks * shape->threads);

    /* fmin ignores a NAN, but not this one. */
    return isnan(stores) ? NAN : fmin(stores, words);
}

struct gmt_items gmt_price_items(const struct gmt_tl_class *class, const struct gmt_shape *shape)
{
    double stores = stores_per_thread(class, shape);
    double instructions = class->counter[GMT_M_instructions] / (shape->blocks * shape->warps);
    struct gmt_items items = {1, 1, INFINITY, false};

    if (isfinite(instructions)) {
        items.most = fmax(1, instructions / GMT_ITEM_INSTRUCTIONS);
    }
    if (stores > GMT_ELEMENTWISE_REQUESTS) {
        items.certain = stores / GMT_ELEMENTWISE_REQUESTS;
        items.likely = stores;
        items.most = fmax(items.most, stores);
        items.plain = instructions <= stores * GMT_PLAIN_INSTRUCTIONS;
    }
    return items;
}

double gmt_price_most_occupancy(const struct gmt_timeline *tl, const struct gmt_tl_class *class,
                                const struct gmt_shape *shape)
{
    double held = (double)tl->device.sm_count * (double)tl->device.max_threads_per_sm / WARP_LANES;
    struct gmt_items items = gmt_price_items(class, shape);
    double each = shape->blocks == shape->wave ? items.most : items.likely;

    return held > 0 ? fmin(1, shape->blocks * shape->warps * each / held) : 1;
}

bool gmt_price_has_warps(const struct gmt_timeline *tl, const struct gmt_shape *shape,
                         double occupancy)
{
    double held = (double)tl->device.sm_count * (double)tl->device.max_threads_per_sm / WARP_LANES;

    return !(held > 0) || shape->blocks == shape->wave ||
           shape->blocks * shape->warps >= occupancy * held;
}

bool gmt_price_shares_tiles(const struct gmt_tl_class *class)
{
    const double *c = class->counter;

    if (isnan(c[GMT_M_shared_load_requests]) || isnan(c[GMT_M_barrier_stall_cycles])) {
        return class->static_shared_bytes + class->dynamic_shared_bytes > 0;
    }
    return c[GMT_M_shared_load_requests] > 0 && c[GMT_M_barrier_stall_cycles] > 0;
}

/* The same threads in smaller blocks. */
struct spread {
    double now, after; /* warps on the busiest multiprocessor */
    bool counted;      /* it is known what L1, shared memory and the schedulers take of the time */
};

static struct spread spread_of(const struct gmt_timeline *tl, const struct gmt_tl_class *class,
                               const struct gmt_shape *shape)
{
    double sms = (double)tl->device.sm_count;
    bool whole = gmt_price_shares_tiles(class);
    double pieces = whole ? fmin(2, shape->warps) : shape->warps;
    struct spread spread = {.now = ceil(shape->blocks / sms) * shape->warps,
                            .counted = !isnan(gmt_work_of_class(tl, class).issue_ns)};

    spread.after = fmin(spread.now,
                        ceil(shape->blocks * pieces / sms) * ceil(shape->warps / pieces));
    return spread;
}

/* Times after the repair, as gain_between takes them. */
struct after {
    double low_ns, best_ns, high_ns;
};

static struct after in_smaller_blocks(const struct gmt_model *model, const struct gmt_timeline *tl,
                                      const struct gmt_tl_class *class,
                                      const struct gmt_shape *shape)
{
    double t_ns = class->median_ns, p = GMT_OVERLAP_EXPONENT;
    struct spread spread = spread_of(tl, class, shape);
    double left = spread.after / spread.now;
    double mean = shape->blocks * shape->warps / (double)tl->device.sm_count;
    double inside_ns = fmin(t_ns,
                            gmt_price_roof(model, tl, class, fmin(1, mean / spread.now)).inside_ns);
    struct after after = {t_ns, t_ns, t_ns * left};

    if (!spread.counted) {
        after.best_ns = t_ns * (1 + left) / 2;
        return after;
    }
    after.best_ns = gmt_price_after(t_ns, inside_ns, inside_ns * left);
    if (!gmt_price_shares_tiles(class)) {
        after.low_ns = pow(pow(t_ns, p) - pow(inside_ns, p) + pow(inside_ns * left, p), 1 / p);
    }
    return after;
}

/* With so many items in each thread, of which as many blocks as a wave has can be made at most. */
static double in_more_blocks(const struct gmt_model *model, const struct gmt_timeline *tl,
                             const struct gmt_tl_class *class, const struct gmt_shape *shape,
                             double items)
{
    double t_ns = class->median_ns, blocks = fmin(shape->wave, shape->blocks * items);
    double roof_ns =
        gmt_price_roof(model, tl, class, fmin(1, blocks / (double)tl->device.sm_count)).all_ns;
    double after_ns = gmt_price_overlap(t_ns * shape->blocks / blocks, fmin(t_ns, roof_ns));

    return fmin(t_ns, fmax(after_ns, GMT_KERNEL_LEAST_NS));
}

static struct gmt_launch_grid same_threads(const struct gmt_timeline *tl,
                                           const struct gmt_tl_class *class,
                                           const struct gmt_shape *shape)
{
    double sms = (double)tl->device.sm_count;
    double warps = fmax(1, floor(shape->blocks * shape->warps / sms));

    if (gmt_price_shares_tiles(class)) {
        warps = fmax(warps, ceil(shape->warps / 2));
    }
    double threads = fmin(shape->threads, WARP_LANES * warps);
    return (struct gmt_launch_grid){.blocks = ceil(shape->blocks * shape->threads / threads),
                                    .threads = threads};
}

struct gmt_gain gmt_price_full_grid(const struct gmt_model *model, const struct gmt_timeline *tl,
                                    const struct gmt_tl_class *class, const struct gmt_shape *shape,
                                    struct gmt_launch_grid *grid)
{
    double t_ns = class->median_ns;
    struct gmt_items items = gmt_price_items(class, shape);
    struct after small = in_smaller_blocks(model, tl, class, shape);
    double roof_ns = gmt_price_roof(model, tl, class, 1).device_ns;
    double least_ns = fmax(GMT_KERNEL_LEAST_NS, fmin(t_ns, roof_ns));
    double likely_ns = in_more_blocks(model, tl, class, shape, items.likely);
    double more = fmin(shape->wave, floor(shape->blocks * items.certain));
    bool fills = shape->blocks * items.most >= shape->wave;
    double high_ns = fmax(least_ns, fills ? 0 : fmin(small.high_ns, t_ns / items.most));

    /* Words that take many instructions each may be steps of one item, which cannot be split. */
    if (!items.plain) {
        likely_ns = (t_ns + likely_ns) / 2;
    }
    double best_ns = fmin(small.best_ns, likely_ns);
    struct gmt_gain gain = gain_between(t_ns, small.low_ns, best_ns, fmin(best_ns, high_ns));
    *grid = same_threads(tl, class, shape);
    if (more > shape->blocks && likely_ns < small.best_ns) {
        *grid = (struct gmt_launch_grid){.blocks = more, .threads = shape->threads, .split = true};
    }
    grid->guess = !(gain.low_ns > 0) &&
                  (!items.plain || shape->blocks * items.likely < shape->wave);
    return gain;
}

/*
 * Threads that wait for their own loads go on as fast with whole waves, but for the items that they hand
 * to others: the share of what the last wave leaves idle that whole items can be moved into, 0..1.
 */
static double movable(const struct gmt_shape *shape, double items)
{
    double full = floor(shape->waves), part = shape->waves - full, each = floor(items);
    double now = (full + 1) * each, then = ceil(shape->waves * each);

    return isfinite(each) ? (now - then) / ((1 - part) * each) : 1;
}

struct gmt_gain gmt_price_no_tail(const struct gmt_model *model, const struct gmt_timeline *tl,
                                  const struct gmt_tl_class *class, const struct gmt_shape *shape,
                                  struct gmt_tail *tail)
{
    double t_ns = class->median_ns;
    double full = floor(shape->waves), part = shape->waves - full;
    struct gmt_items items = gmt_price_items(class, shape);
    double bound = fmin(
        1, gmt_price_roof(model, tl, class, gmt_price_busy_share(tl, class)).all_ns / t_ns);
    double last = bound * ceil(part * shape->resident) / shape->resident + (1 - bound);
    double loss_ns = t_ns * (last - part) / (full + last);
    double most_ns = t_ns * (1 - part) / (full + 1);
    /* Share of the loss that is waiting: see movable. */
    double waits = last > part ? (1 - bound) * (1 - part) / (last - part) : 0;
    double balance = class->counter[GMT_M_sm_cycles_active] /
                     class->counter[GMT_M_sm_cycles_active_max];

    *tail = (struct gmt_tail){.idle_ns = 0, .guess = isinf(items.most)};
    if (!(part > 0)) {
        return no_gain;
    }
    double idle_ns = isnan(balance) ? loss_ns : fmin(most_ns, t_ns * fmax(0, 1 - balance));
    tail->idle_ns = idle_ns;
    double stays = waits * (1 - movable(shape, items.likely));
    double best_ns = idle_ns * (tail->guess ? 0.5 : 1 - stays);
    double low_ns = tail->guess ? 0 : fmin(loss_ns, idle_ns) * (1 - waits);
    double high_ns = most_ns * (bound + (1 - bound) * movable(shape, items.most));
    if (gmt_price_shares_tiles(class)) {
        best_ns /= 2;
        low_ns = 0;
    }
    return gain_between(t_ns, t_ns - low_ns, t_ns - best_ns, t_ns - fmax(high_ns, best_ns));
}

struct gmt_gain gmt_price_parallel(const struct gmt_model *model, const struct gmt_timeline *tl,
                                   const struct gmt_tl_class *class, const struct gmt_shape *shape,
                                   bool *guess)
{
    double held = (double)tl->device.sm_count * (double)tl->device.max_threads_per_sm;
    double t_ns = class->median_ns, threads = shape->threads * shape->blocks;
    struct gmt_items items = gmt_price_items(class, shape);
    bool known = items.likely > 1;
    double roof_ns = gmt_price_roof(model, tl, class, 1).device_ns;

    if (!(held > 0)) {
        return no_gain;
    }
    double after = fmin(held, threads * (known ? items.likely : items.most));
    double spread_ns = t_ns * fmin(1, threads / after);
    double most_ns = fmin(t_ns, GMT_KERNEL_LEAST_NS + fmax(roof_ns, spread_ns));
    double best_ns = known ? most_ns : (t_ns + most_ns) / 2;
    struct gmt_gain gain = gain_between(t_ns, t_ns, best_ns, most_ns);

    gain.low_ns = isnan(gain.best_ns) ? NAN : 0;
    *guess = !known;
    return gain;
}

struct gmt_gain gmt_price_side_by_side(const struct gmt_model *model, const struct gmt_row *row)
{
    double at_once = fmin(fmin(row->kernels, GMT_CONCURRENT_KERNELS), 1 / row->share);
    double together_ns = fmax(row->total_ns / at_once, fmax(row->longest_ns, row->device_ns));
    /* The host hands out one after the other; how fast, differs from moment to moment. */
    double launch_ns = gmt_known(model->launch_queued_ns);
    double least_ns = fmax(0, launch_ns - gmt_known(model->launch_queued_spread_ns));
    double after_ns = fmax(together_ns, row->longest_ns + launch_ns * (row->kernels - 1));
    double high_ns = fmax(together_ns, row->longest_ns + least_ns * (row->kernels - 1));

    after_ns = fmin(after_ns, row->total_ns);
    return gain_between(row->total_ns, (row->total_ns + after_ns) / 2, after_ns,
                        fmin(high_ns, after_ns));
}

static double step_ns(const struct gmt_model *model, const char *name)
{
    const struct gmt_model_variant *variant = gmt_family_variant(&model->launch_bound, name);
    const struct gmt_model_variant *loop = gmt_family_variant(&model->launch_bound, "launches");

    /* The parameter of the loop is how many steps both take. */
    return variant != NULL && loop != NULL ? variant->median_ns / loop->parameter : NAN;
}

double gmt_price_step_launched_ns(const struct gmt_model *model)
{
    return step_ns(model, "launches");
}

double gmt_price_step_in_graph_ns(const struct gmt_model *model)
{
    return step_ns(model, "graph");
}

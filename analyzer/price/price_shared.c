/* SPDX-License-Identifier: Apache-2.0 */
/* Prices of fixes to how blocks fill, read and wait for their shared memory. */
#include "analyzer/price/price_shared.h"

#include "analyzer/base/thresholds.h"
#include "analyzer/model/occupancy.h"
#include "libtrace/record/checked.h"

enum { WARP_LANES = 32 };

static const struct gmt_gain no_gain = {NAN, NAN, NAN, false};

double gmt_block_warps(const struct gmt_tl_class *class)
{
    double threads = (double)class->block[0] * (double)class->block[1] * (double)class->block[2];

    return ceil(threads / WARP_LANES);
}

/* Cycles of all resident warps, that a metric counts a part of. */
static double share_of(const struct gmt_timeline *timeline, const struct gmt_tl_class *class,
                       enum gmt_metric_index metric)
{
    const double *c = class->counter;
    double warps = c[GMT_M_achieved_occupancy_percent] / 100 *
                   (double)timeline->device.max_threads_per_sm / WARP_LANES;
    double cycles = warps * c[GMT_M_sm_cycles_active] * (double)timeline->device.sm_count;

    return cycles > 0 && isfinite(c[metric]) ? fmin(1.0, c[metric] / cycles) : NAN;
}

double gmt_barrier_share(const struct gmt_timeline *timeline, const struct gmt_tl_class *class)
{
    return share_of(timeline, class, GMT_M_barrier_stall_cycles);
}

double gmt_fence_share(const struct gmt_timeline *timeline, const struct gmt_tl_class *class)
{
    return share_of(timeline, class, GMT_M_fence_stall_cycles);
}

/* Resident blocks of a multiprocessor, as the resources and the grid allow; 0: unknown. */
static int64_t resident(const struct gmt_timeline *tl, const struct gmt_tl_class *class)
{
    struct gmt_occupancy o = gmt_occupancy_of(tl, class, NULL);
    int64_t blocks = gmt_volume_clamped(class->grid);
    int64_t of_grid = tl->device.sm_count > 0
                          ? (blocks + tl->device.sm_count - 1) / tl->device.sm_count
                          : INT64_MAX;

    return o.unknown != NULL ? 0 : o.blocks < of_grid ? o.blocks : of_grid;
}

bool gmt_is_idle_at_barriers(const struct gmt_timeline *timeline, const struct gmt_tl_class *class)
{
    int64_t threads = gmt_volume_clamped(class->block);
    double share = gmt_barrier_share(timeline, class) + gmt_known(gmt_fence_share(timeline, class));

    return threads >= GMT_BARRIER_BLOCK_THREADS && share >= GMT_BARRIER_MIN_SHARE &&
           resident(timeline, class) == 1;
}

/* Puts low <= best <= high, between nothing and all of the time. */
static struct gmt_gain gain_of(double t_ns, double low_ns, double best_ns, double high_ns)
{
    struct gmt_gain gain = {.best_ns = fmin(t_ns, fmax(0, best_ns)), .from_family = false};

    gain.low_ns = fmin(gain.best_ns, fmax(0, low_ns));
    gain.high_ns = fmin(t_ns, fmax(gain.best_ns, high_ns));
    return gain;
}

struct gmt_gain gmt_price_fill(const struct gmt_model *model, const struct gmt_timeline *timeline,
                               const struct gmt_tl_class *class, double speedup)
{
    class = gmt_class_priced(class);
    double t_ns = class->median_ns, share = gmt_barrier_share(timeline, class);
    double warps = gmt_block_warps(class);
    struct gmt_access load = gmt_access_of_loads(class);
    struct gmt_work after = gmt_work_of_class(timeline, class);

    if (model->provenance == GMT_MODEL_NONE || isnan(t_ns) || !(speedup > 1) || !(warps > 1)) {
        return no_gain;
    }
    /* Single lanes touch a sector for every word, and execute every instruction for it. */
    if (load.sectors > load.bytes / GMT_SECTOR_BYTES) {
        after.l1_sectors -= load.sectors - load.bytes / GMT_SECTOR_BYTES;
    }
    if (load.requests > load.bytes / GMT_WAVEFRONT_BYTES) {
        after.issue_ns *= load.bytes / GMT_WAVEFRONT_BYTES / load.requests;
        after.l1_requests -= load.requests - load.bytes / GMT_WAVEFRONT_BYTES;
    }
    struct gmt_shared_access stores = gmt_shared_stores(class);
    double full = class->counter[GMT_M_shared_store_bytes] / GMT_WAVEFRONT_BYTES;
    if (stores.wavefronts > full) {
        after.shared_wavefronts -= stores.wavefronts - full;
    }
    double roof_ns = fmin(t_ns, gmt_price_floor_ns(model, timeline, class, &after, false));
    double one_load_ns = fmin(t_ns, gmt_price_floor_ns(model, timeline, class, &after, true));
    /* A tile has several words for each thread: several loads in flight. */
    double floor_ns = (roof_ns + one_load_ns) / 2;
    double serial_ns = isnan(share) ? t_ns - floor_ns
                                    : fmin(t_ns, t_ns * share * warps / (warps - 1));
    double left_ns = t_ns - serial_ns + serial_ns / speedup;
    double best_ns = t_ns - fmin(t_ns, gmt_price_overlap(left_ns, floor_ns));

    double high_ns = fmin(t_ns - roof_ns / 2, t_ns - roof_ns + GMT_MODEL_UNCERTAINTY * t_ns);
    return gain_of(t_ns, best_ns * GMT_SERIAL_CERTAIN, best_ns, high_ns);
}

struct gmt_reread gmt_reread_of(const struct gmt_tl_class *class)
{
    const double *c = class->counter;
    struct gmt_access load = gmt_access_of_loads(class);
    double staged = c[GMT_M_shared_store_bytes];
    double fill = fmin(load.requests, c[GMT_M_shared_store_requests]);

    return (struct gmt_reread){.staged_bytes = staged,
                               .bytes = fmax(0, load.bytes - staged),
                               .sectors = fmax(0, load.sectors - staged / GMT_SECTOR_BYTES),
                               .requests = fmax(0, load.requests - fill)};
}

double gmt_bytes_to_read(const struct gmt_tl_class *class)
{
    double counted = class->counter[GMT_M_footprint_read_bytes];

    return isfinite(counted) ? counted : class->footprint_bytes;
}

bool gmt_is_staged_unread(const struct gmt_tl_class *class, const struct gmt_reread *reread)
{
    const double *c = class->counter;
    double loads = c[GMT_M_global_load_bytes];

    if (!(reread->staged_bytes > 0) || !(loads > 0)) {
        return false;
    }
    /* Others that read shared memory: bulk copies, and atomics where they are counted. */
    if (c[GMT_M_tma_instructions] > 0 || c[GMT_M_shared_atomic_requests] > 0) {
        return false;
    }
    if (loads < 2 * gmt_bytes_to_read(class)) {
        return false;
    }
    return gmt_known(c[GMT_M_shared_load_bytes]) <= GMT_STAGED_READ_SHARE * reread->staged_bytes &&
           reread->bytes >= GMT_STAGED_REREAD * reread->staged_bytes &&
           reread->staged_bytes >= GMT_STAGED_MIN_SHARE * loads;
}

struct gmt_gain gmt_price_unread(const struct gmt_model *model, const struct gmt_timeline *timeline,
                                 const struct gmt_tl_class *class)
{
    class = gmt_class_priced(class);
    struct gmt_reread reread = gmt_reread_of(class);
    struct gmt_access load = gmt_access_of_loads(class), store = gmt_access_of_stores(class);
    struct gmt_work work = gmt_work_of_class(timeline, class);
    struct gmt_repair repair = {.before = work, .after = work, .most = work};
    double requests = gmt_known(load.requests) + gmt_known(store.requests) +
                      gmt_known(class->counter[GMT_M_shared_store_requests]);

    if (!(reread.requests > 0) || !(requests > 0)) {
        return no_gain;
    }
    /* Several loads are in flight: half of a latency that is shorter by a third is hidden. */
    repair.share = reread.requests / requests * (1 - GMT_SHARED_LATENCY_SHARE) / 2;
    repair.requests = requests;
    /* A hit in L1 goes through the same data stage as a shared load, a line at a time. */
    repair.before.l1_sectors -= reread.sectors;
    repair.before.l1_requests -= reread.requests;
    repair.before.shared_wavefronts = gmt_known(work.shared_wavefronts) +
                                      fmax(reread.requests, reread.sectors / GMT_LINE_SECTORS);
    repair.after.l1_sectors -= reread.sectors;
    repair.after.l1_requests -= reread.requests;
    /* Only the fill still has to come from L2. */
    double from_l2 = class->counter[GMT_M_l2_read_sectors] - reread.staged_bytes / GMT_SECTOR_BYTES;
    if (from_l2 > 0) {
        repair.after.l2_sectors -= from_l2;
    }
    repair.after.shared_wavefronts = gmt_known(work.shared_wavefronts) + reread.requests;
    return gmt_price_repair(model, timeline, class, &repair);
}

/* The expected largest of n times with an exponential distribution, in means. */
static double slowest_of(double n)
{
    enum { SUMMED_MOST = 1024 };
    double sum = 0;

    /* As many warps as no block has: the sum's limit, Euler's constant above the logarithm. */
    if (n > SUMMED_MOST) {
        return log(n) + 0.5772156649;
    }
    for (int i = 1; i <= (int)n; i++) {
        sum += 1.0 / i;
    }
    return sum;
}

struct gmt_gain gmt_price_smaller_blocks(const struct gmt_model *model,
                                         const struct gmt_timeline *timeline,
                                         const struct gmt_tl_class *class, double parts)
{
    double t_ns = class->median_ns, warps = gmt_block_warps(class);
    double share = fmin(1.0, gmt_barrier_share(timeline, class) +
                                 gmt_known(gmt_fence_share(timeline, class)));
    struct gmt_work work = gmt_work_of_class(timeline, class);

    if (model->provenance == GMT_MODEL_NONE || isnan(t_ns) || isnan(share) || !(parts > 1) ||
        !(warps > parts)) {
        return no_gain;
    }
    double roof_ns = fmin(t_ns, gmt_price_floor_ns(model, timeline, class, &work, false));
    double left = (slowest_of(warps / parts) - 1) / (slowest_of(warps) - 1);
    double left_ns = t_ns * (1 - share) + t_ns * share * left;
    /* Memory works on while warps wait: its time is in what is left. */
    double best_ns = t_ns - fmin(t_ns, fmax(left_ns, roof_ns));
    return gain_of(t_ns, 0, best_ns, fmin(t_ns * share, t_ns - roof_ns));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Exact counts of the software device to times on the device of a model (modelled_times.h). */
#include "analyzer/price/modelled_times.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/price.h"
#include "analyzer/price/price_launch.h"
#include "analyzer/price/price_mapped.h"
#include "analyzer/trace/query.h"
#include "libtrace/record/checked.h"

enum { WARP_LANES = 32, SCHEDULERS = 4 };

/* What launches touch of page-locked host memory, per launch; 0: nothing. */
struct host_use {
    double touched, moved;
};

static double volume(const int64_t v[3])
{
    return (double)v[0] * (double)v[1] * (double)v[2];
}

/* Middle of the logarithms; `low` where it is 0 or not known. */
static double middle(double low, double high)
{
    return low > 0 && high > low ? sqrt(low * high) : low;
}

/* Cycles per ns of the model's device: its multiprocessors serve a pass of shared memory each cycle. */
static double clock_of(const struct gmt_model *model, const struct gmt_tl_device *device)
{
    return model->shared_wavefronts_per_s / (1e9 * (double)device->sm_count);
}

/* Resident blocks of a multiprocessor that block size and shared memory allow. */
static double resident_blocks(const struct gmt_tl_device *device, const struct gmt_tl_class *class)
{
    double warps = ceil(volume(class->block) / WARP_LANES);
    double shared = (double)(class->static_shared_bytes + class->dynamic_shared_bytes);
    double blocks = floor((double)device->max_threads_per_sm / WARP_LANES / fmax(1, warps));

    if (device->max_blocks_per_sm > 0) {
        blocks = fmin(blocks, (double)device->max_blocks_per_sm);
    }
    if (shared > 0 && device->shared_bytes_per_sm > 0) {
        double each = shared + (double)device->reserved_shared_bytes_per_block;

        blocks = fmin(blocks, floor((double)device->shared_bytes_per_sm / each));
    }
    return fmax(1, blocks);
}

/* Warps that a multiprocessor has on average while the kernel runs, / the most that it can have. */
static double occupancy_of(const struct gmt_tl_device *device, const struct gmt_tl_class *class)
{
    double most = (double)device->max_threads_per_sm / WARP_LANES;
    double warps = ceil(volume(class->block) / WARP_LANES);
    double held = resident_blocks(device, class) * warps / most * GMT_TYPICAL_ACHIEVED;
    double used = fmin((double)device->sm_count, volume(class->grid));

    return fmin(held, volume(class->grid) * warps / (used * most));
}

/* Sectors of local loads that L1 does not hold: all, where resident threads have more than fits. */
static double local_misses(const struct gmt_tl_device *device, const struct gmt_tl_class *class)
{
    double threads = resident_blocks(device, class) * volume(class->block);
    double shared = resident_blocks(device, class) *
                    (double)(class->static_shared_bytes + class->dynamic_shared_bytes);
    double room = (double)device->shared_bytes_per_sm - shared;

    return threads * (double)class->local_bytes <= room
               ? 0
               : gmt_known(class->counter[GMT_M_local_load_sectors]);
}

/* The distinct bytes; `asked` at most, and of all allocations where they were not counted. */
static double footprint(double counted, const struct gmt_tl_class *class, double asked)
{
    return isfinite(counted) ? counted : fmin(asked, class->footprint_bytes);
}

/* Sectors that loads take from L2. once: every byte a single time. */
static double l2_reads(const struct gmt_tl_class *class, const struct gmt_access *load, double once)
{
    double warps = volume(class->grid) * ceil(volume(class->block) / WARP_LANES);
    double spread = load->ideal > 0 ? fmax(1, load->sectors / load->ideal) : 1;
    double own = fmin(spread, fmax(1, load->requests / warps));

    return fmin(load->sectors,
                middle(spread / own, spread) * middle(fmin(once, load->ideal), load->ideal));
}

/* Puts what lies beyond L1 in place of counters of the hardware. */
static void add_traffic(const struct gmt_tl_device *device, struct gmt_tl_class *class)
{
    double *c = class->counter;
    struct gmt_access load = gmt_access_of_loads(class), store = gmt_access_of_stores(class);
    double loaded = gmt_known(load.sectors) * GMT_SECTOR_BYTES;
    double stored = gmt_known(store.sectors) * GMT_SECTOR_BYTES;
    double read = gmt_known(footprint(c[GMT_M_footprint_read_bytes], class, loaded));
    double written = gmt_known(footprint(c[GMT_M_footprint_write_bytes], class, stored));
    double global = load.sectors > 0 ? l2_reads(class, &load, read / GMT_SECTOR_BYTES) : 0;
    bool fits = read + written <= (double)device->l2_bytes;

    c[GMT_M_l2_read_sectors] = global + local_misses(device, class);
    c[GMT_M_l2_write_sectors] = gmt_known(store.sectors) + gmt_known(c[GMT_M_local_store_sectors]) +
                                gmt_known(c[GMT_M_global_atomic_sectors]);
    c[GMT_M_dram_read_bytes] = fits ? read : middle(read, global * GMT_SECTOR_BYTES);
    c[GMT_M_dram_write_bytes] = fits ? written : middle(written, stored);
    c[GMT_M_l1_load_sectors] = load.sectors;
    c[GMT_M_l1_load_hit_sectors] = gmt_known(load.sectors) - global;
    c[GMT_M_achieved_occupancy_percent] = 100 * occupancy_of(device, class);
}

/* Loads of each warp one after the other, beside those of the other resident warps. */
static double latency_ns(const struct gmt_model *model, const struct gmt_tl_device *device,
                         const struct gmt_tl_class *class)
{
    const double *c = class->counter;
    double requests = gmt_known(c[GMT_M_global_load_requests]);
    double local = gmt_known(c[GMT_M_local_load_requests]);
    double used = fmin((double)device->sm_count, volume(class->grid));
    double warps = used * (double)device->max_threads_per_sm / WARP_LANES *
                   c[GMT_M_achieved_occupancy_percent] / 100;
    double far = c[GMT_M_global_load_sectors] > 0
                     ? fmin(1, c[GMT_M_l2_read_sectors] / c[GMT_M_global_load_sectors])
                     : 0;
    double near_ns = GMT_L1_HIT_CYCLES / clock_of(model, device);
    double wait_ns = requests * (far * gmt_known(model->dram_load_ns) + (1 - far) * near_ns) +
                     local * near_ns;

    return warps > 0 ? gmt_known(wait_ns / warps / gmt_price_loads_at_once(class)) : 0;
}

static double constants_ns(const struct gmt_model *model, const struct gmt_timeline *tl,
                           const struct gmt_tl_class *class)
{
    struct gmt_constants constants = gmt_constants_of(class);

    return gmt_known(constants.words * 1e9 / model->constant_words_per_s) /
           gmt_price_busy_share(tl, class);
}

static void time_class(struct gmt_timeline *tl, const struct gmt_model *model,
                       struct gmt_tl_class *class, struct gmt_tl_class *priced,
                       const struct host_use *host)
{
    double clock = clock_of(model, &tl->device), busy = gmt_price_busy_share(tl, class);

    *priced = *class;
    add_traffic(&tl->device, priced);
    /* Bounds by the time of the launch: there is none yet. */
    priced->median_ns = INFINITY;
    struct gmt_work work = gmt_work_of_class(tl, priced);
    gmt_price_scattered_ns(model, priced, &work.lone_dram_ns, &work.lone_l2_ns);
    work.partial_ns = gmt_price_partial_ns(model, priced);
    double slots = SCHEDULERS * (double)tl->device.sm_count * busy * clock;
    work.issue_ns = gmt_known(priced->counter[GMT_M_instructions] / slots);
    double ns = gmt_price_work_ns(model, tl, priced, &work);
    ns = gmt_price_overlap(ns, constants_ns(model, tl, priced));
    ns = gmt_price_overlap(ns, latency_ns(model, &tl->device, priced));
    if (host->touched > 0) {
        double once_ns = gmt_price_mapped_once(model, GMT_MAPPED_EITHER, host->touched);

        ns = gmt_price_overlap(ns, once_ns * fmax(1, host->moved / host->touched));
    }
    ns = gmt_price_overlap(ns, gmt_known(volume(class->grid) * gmt_price_block_start_ns(model)));
    ns = gmt_price_overlap(ns, GMT_KERNEL_LEAST_NS);
    priced->counter[GMT_M_sm_cycles_active] = ns * clock;
    priced->median_ns = class->median_ns = ns;
    priced->total_ns = class->total_ns = ns * (double)class->launches;
    class->priced = priced;
}

static bool is_counted(const struct gmt_tl_class *class)
{
    const double *c = class->counter;

    return isfinite(c[GMT_M_instructions]) || isfinite(c[GMT_M_global_load_sectors]) ||
           isfinite(c[GMT_M_global_store_sectors]) || isfinite(c[GMT_M_shared_load_wavefronts]);
}

/* By the index of the class. */
static int load_host_uses(const struct gmt_timeline *tl, struct host_use *uses)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, tl->db, GMT_HOST_FOOTPRINTS);

    while (rc == 0 && gmt_query_next(&query)) {
        int32_t class = gmt_timeline_class(tl, gmt_query_id(&query, 0));

        if (class >= 0) {
            uses[class] = (struct host_use){gmt_known(gmt_query_real(&query, 1)),
                                            gmt_known(gmt_query_real(&query, 2))};
        }
    }
    return gmt_query_close(&query, rc);
}

/* How many instructions of each class load global memory; a trace without instructions has none. */
static int load_sites(struct gmt_timeline *tl)
{
    struct gmt_query query;

    if (!tl->has_instructions) {
        return 0;
    }
    int rc = gmt_query_open(&query, tl->db,
                            "SELECT class_id, count(DISTINCT site) FROM instruction "
                            "WHERE kind IN ('global_load', 'async_copy') GROUP BY class_id");
    while (rc == 0 && gmt_query_next(&query)) {
        int32_t class = gmt_timeline_class(tl, gmt_query_id(&query, 0));

        if (class >= 0) {
            tl->classes[class].load_sites = gmt_query_real(&query, 1);
        }
    }
    return gmt_query_close(&query, rc);
}

/* The next place of so much work; an empty one where it is not known. */
static struct gmt_interval place(struct gmt_timeline *tl, double ns)
{
    int64_t begin = tl->modelled_end_ns;
    int64_t length = isfinite(ns) && ns > 0 ? gmt_integer_clamped(fmin(ns, 1e17)) : 0;

    /* Sums of what was not measured end somewhere: nobody waits for years. */
    if (begin <= INT64_MAX / 2) {
        tl->modelled_end_ns += length;
    }
    return (struct gmt_interval){begin, tl->modelled_end_ns};
}

static double copy_ns(const struct gmt_model *model, const struct gmt_tl_copy *copy)
{
    double bytes = (double)copy->bytes;
    bool known = copy->host_class == GMT_MEM_PINNED || copy->host_class == GMT_MEM_PAGEABLE;

    if (copy->direction == GMT_DIR_D2D) {
        return gmt_curve_at(&model->on_device, bytes);
    }
    if (!known) {
        return NAN;
    }
    return gmt_curve_at(copy->run >= 0
                            ? gmt_price_run_curve(model, copy)
                            : gmt_price_curve(model, copy, copy->host_class == GMT_MEM_PINNED),
                        bytes);
}

static void time_copies(struct gmt_timeline *tl, const struct gmt_model *model,
                        struct gmt_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        runs->runs[i].cost_ns = 0;
    }
    for (size_t i = 0; i < tl->copy_count; i++) {
        struct gmt_tl_copy *copy = &tl->copies[i];

        copy->modelled = place(tl, copy_ns(model, copy));
        if (copy->run >= 0) {
            runs->runs[copy->run].cost_ns += gmt_copy_cost_ns(tl, copy);
        }
    }
}

/* What a model of an earlier version does not say stays that of the software device. */
static void take_limits(struct gmt_tl_device *device, const struct gmt_model *model)
{
    const struct gmt_model_limits *limits = &model->limits;
    const struct {
        double value;
        int64_t *place;
    } rows[] = {
        {limits->sm_count, &device->sm_count},
        {limits->l2_bytes, &device->l2_bytes},
        {limits->max_warps_per_sm * WARP_LANES, &device->max_threads_per_sm},
        {limits->max_blocks_per_sm, &device->max_blocks_per_sm},
        {limits->shared_bytes_per_sm, &device->shared_bytes_per_sm},
        {limits->registers_per_sm, &device->registers_per_sm},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].value >= 1) {
            *rows[i].place = gmt_integer_clamped(rows[i].value);
        }
    }
}

double gmt_modelled_pair_ns(const struct gmt_model *model, const struct gmt_memory_row *row)
{
    const struct gmt_model_curve *curve = &model->malloc_free;

    if (row->host) {
        curve = row->kind == GMT_ALLOC_REGISTERED ? &model->register_unregister : &model->pin_unpin;
    } else if (row->kind == GMT_ALLOC_ASYNC) {
        curve = &model->malloc_async_free_async;
    }
    return gmt_curve_at(curve, (double)row->bytes) / (row->free_begin_ns != GMT_NO_TIME ? 1 : 2);
}

int gmt_modelled_times(struct gmt_timeline *tl, const struct gmt_model *model,
                       const struct gmt_memory *memory, struct gmt_runs *runs)
{
    struct host_use *uses = NULL;

    if (!tl->simulated || model->provenance == GMT_MODEL_NONE) {
        return 0;
    }
    take_limits(&tl->device, model);
    if (!(clock_of(model, &tl->device) > 0) || !isfinite(clock_of(model, &tl->device))) {
        return 0; /* a model of copies alone says nothing of kernels: no ranking comes of it */
    }
    uses = calloc(tl->class_count + 1, sizeof(*uses));
    free(tl->priced_classes);
    tl->priced_classes = calloc(tl->class_count + 1, sizeof(*tl->priced_classes));
    int rc = uses == NULL || tl->priced_classes == NULL ? -ENOMEM : load_host_uses(tl, uses);
    if (rc == 0) {
        rc = load_sites(tl);
    }
    if (rc == 0) {
        tl->modelled = true;
        tl->modelled_end_ns = 0;
        time_copies(tl, model, runs);
    }
    for (size_t i = 0; rc == 0 && i < tl->class_count; i++) {
        struct gmt_tl_class *class = &tl->classes[i];

        if (class->launches == 0 || !is_counted(class)) {
            continue;
        }
        time_class(tl, model, class, &tl->priced_classes[i], &uses[i]);
        class->modelled = place(tl, class->total_ns);
    }
    for (size_t i = 0; rc == 0 && i < memory->count; i++) {
        (void)place(tl, gmt_modelled_pair_ns(model, &memory->rows[i]));
    }
    free(uses);
    return rc;
}

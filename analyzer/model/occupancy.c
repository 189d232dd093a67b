/* SPDX-License-Identifier: Apache-2.0 */
/* The occupancy calculator, around the functions of the toolkit's cuda_occupancy.h. */
#include "analyzer/model/occupancy.h"
#include "libtrace/record/checked.h"

#include <cuda_occupancy.h>
#include <limits.h>

enum {
    WARP_LANES = 32,
    BLOCK_MOST = 1024,            /* threads, on every device since compute capability 2.0 */
    SHARED_WITHOUT_OPTIN = 49152, /* bytes, likewise */
    REGISTERS_MOST = 255,         /* per thread, since 3.5 */
    SHARED_STEP = 128,            /* no device allocates in finer steps */
    BARRIERS_MOST = 16,           /* that a block can name */
    CARVEOUT_MOST = 100,
    DEVICE_MOST = 1 << 20, /* registers and threads of a multiprocessor are far below */
    REGISTERS_SAFE = 1024, /* per thread, likewise */
    SHARED_MOST = 1 << 28  /* bytes, likewise */
};

/* What cuda_occupancy.h is asked. */
struct occupancy_query {
    cudaOccDeviceProp device;
    cudaOccFuncAttributes kernel;
    cudaOccDeviceState state;
    int64_t block, static_bytes, dynamic_bytes;
    int64_t optin_bytes; /* most shared memory of a block, static and dynamic */
};

static const char *const names[] = {
#define GMT_ROW(symbol, name, words) name,
    GMT_OCCUPANCY_LIMITERS(GMT_ROW)
#undef GMT_ROW
};
static const char *const words_of[] = {
#define GMT_ROW(symbol, name, words) words,
    GMT_OCCUPANCY_LIMITERS(GMT_ROW)
#undef GMT_ROW
};

const char *gmt_occupancy_limiter_name(enum gmt_occupancy_limiter limiter)
{
    return names[limiter];
}

const char *gmt_occupancy_limiter_words(enum gmt_occupancy_limiter limiter)
{
    return words_of[limiter];
}

/* Whatever a trace says: cuda_occupancy.h multiplies these by each other in an int. */
static int as_int(int64_t value)
{
    return (int)gmt_clamp(value, 0, DEVICE_MOST);
}

static int as_registers(int64_t value)
{
    return (int)gmt_clamp(value, 0, REGISTERS_SAFE);
}

static int64_t as_shared(int64_t bytes)
{
    return gmt_clamp(bytes, 0, SHARED_MOST);
}

static int64_t threads_of(const struct gmt_tl_class *class)
{
    return gmt_mul_clamped(gmt_mul_clamped(class->block[0], class->block[1]), class->block[2]);
}

/* Shared memory of a block as asked for; the runtime's own part is the device's, not the kernel's. */
static void set_shared(struct occupancy_query *q, int64_t bytes)
{
    q->kernel.sharedSizeBytes = (size_t)(bytes < q->static_bytes ? bytes : q->static_bytes);
    q->dynamic_bytes = bytes - (int64_t)q->kernel.sharedSizeBytes;
    /* Whoever takes more than 48 KiB has opted in, or the launch would have failed. */
    int64_t most = bytes > SHARED_WITHOUT_OPTIN ? q->optin_bytes : SHARED_WITHOUT_OPTIN;
    int64_t dynamic = most - (int64_t)q->kernel.sharedSizeBytes;
    q->kernel.maxDynamicSharedSizeBytes = dynamic > 0 ? (size_t)dynamic : 0;
}

/* Why there is no answer, or NULL and the question as the trace has it. */
static const char *ask(const struct gmt_timeline *timeline, const struct gmt_tl_class *class,
                       struct occupancy_query *q)
{
    const struct gmt_tl_device *d = &timeline->device;

    if (d->compute_major <= 0 || d->max_threads_per_sm <= 0 || d->registers_per_sm <= 0 ||
        d->shared_bytes_per_sm <= 0 || d->sm_count <= 0) {
        return "the trace does not hold the limits of the device";
    }
    if (threads_of(class) <= 0 || class->registers <= 0) {
        return "the trace does not hold the block size or the registers of the kernel";
    }
    *q = (struct occupancy_query){
        .device = {.computeMajor = as_int(d->compute_major),
                   .computeMinor = as_int(d->compute_minor),
                   .maxThreadsPerBlock = BLOCK_MOST,
                   .maxThreadsPerMultiprocessor = as_int(d->max_threads_per_sm),
                   .regsPerBlock = as_int(d->registers_per_sm),
                   .regsPerMultiprocessor = as_int(d->registers_per_sm),
                   .warpSize = WARP_LANES,
                   .sharedMemPerBlock = SHARED_WITHOUT_OPTIN,
                   .sharedMemPerMultiprocessor = (size_t)as_shared(d->shared_bytes_per_sm),
                   .numSms = as_int(d->sm_count),
                   .reservedSharedMemPerBlock = (size_t)as_int(d->reserved_shared_bytes_per_block)},
        .kernel = {.maxThreadsPerBlock = class->max_threads_per_block > 0
                                             ? as_int(class->max_threads_per_block)
                                             : BLOCK_MOST,
                   .numRegs = as_registers(class->registers),
                   .partitionedGCConfig = PARTITIONED_GC_OFF,
                   .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
                   .numBlockBarriers = 1},
        .state = {.cacheConfig = CACHE_PREFER_NONE, .carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT},
        .block = gmt_clamp(threads_of(class), 0, DEVICE_MOST),
        .static_bytes = as_shared(class->static_shared_bytes),
        .optin_bytes = d->shared_bytes_per_block_optin > 0
                           ? as_shared(d->shared_bytes_per_block_optin)
                           : as_shared(d->shared_bytes_per_sm -
                                       d->reserved_shared_bytes_per_block)};
    q->device.sharedMemPerBlockOptin = (size_t)q->optin_bytes;
    set_shared(q, q->static_bytes + as_shared(class->dynamic_shared_bytes));
    return NULL;
}

/* Resident blocks; -1: cuda_occupancy.h does not know the device. */
static int64_t answer(const struct occupancy_query *q, cudaOccResult *result)
{
    cudaOccResult own;

    if (result == NULL) {
        result = &own;
    }
    if (cudaOccMaxActiveBlocksPerMultiprocessor(result, &q->device, &q->kernel, &q->state,
                                                as_int(q->block),
                                                (size_t)q->dynamic_bytes) != CUDA_OCC_SUCCESS) {
        return -1;
    }
    return result->activeBlocksPerMultiprocessor;
}

/*
 * What the program asked for and the trace does not hold, from the driver's lower answer: the largest
 * carve-out that explains it, else the fewest barriers that do; else the question stays.
 */
static void deduce(struct occupancy_query *q, int64_t driver)
{
    struct occupancy_query tried = *q;

    if (driver <= 0 || driver >= answer(q, NULL)) {
        return;
    }
    for (int percent = CARVEOUT_MOST; percent >= 0; percent--) {
        tried.state.carveoutConfig = percent;
        if (answer(&tried, NULL) == driver) {
            *q = tried;
            return;
        }
    }
    tried = *q;
    for (int barriers = 2; barriers <= BARRIERS_MOST; barriers++) {
        tried.kernel.numBlockBarriers = barriers;
        if (answer(&tried, NULL) == driver) {
            *q = tried;
            return;
        }
    }
}

/* ask, deduce, and that there is an answer at all. */
static const char *prepare(const struct gmt_timeline *timeline, const struct gmt_tl_class *class,
                           struct occupancy_query *q)
{
    const char *unknown = ask(timeline, class, q);

    if (unknown != NULL) {
        return unknown;
    }
    if (answer(q, NULL) < 0) {
        return "the cuda_occupancy.h that gmanalyze was built with does not support this device";
    }
    deduce(q, class->max_blocks_per_sm);
    return NULL;
}

static int64_t most_warps(const struct occupancy_query *q)
{
    return q->device.maxThreadsPerMultiprocessor / WARP_LANES;
}

static int64_t warps_of(const struct occupancy_query *q)
{
    return (q->block + WARP_LANES - 1) / WARP_LANES;
}

static double occupancy_of(const struct occupancy_query *q, int64_t blocks)
{
    double warps = (double)blocks * (double)warps_of(q);

    return fmin(1.0, warps / (double)most_warps(q));
}

static int64_t best_block(const struct occupancy_query *q, int *grid)
{
    int block = 0;

    *grid = 0;
    if (cudaOccMaxPotentialOccupancyBlockSize(grid, &block, &q->device, &q->kernel, &q->state, NULL,
                                              (size_t)q->dynamic_bytes) != CUDA_OCC_SUCCESS) {
        return 0;
    }
    return block;
}

static int64_t limit_or_none(int blocks)
{
    return blocks == INT_MAX ? INT64_MAX : blocks;
}

static double without_limiter(const struct occupancy_query *q, const struct gmt_occupancy *o)
{
    int64_t next = INT64_MAX;

    if (o->limiter == GMT_OCCUPANCY_WARPS || o->limiter == GMT_OCCUPANCY_BLOCKS) {
        struct occupancy_query better = *q;
        int grid;

        better.block = best_block(q, &grid);
        return better.block > 0 ? fmax(o->occupancy, occupancy_of(&better, answer(&better, NULL)))
                                : o->occupancy;
    }
    for (int i = 0; i < GMT_OCCUPANCY_LIMITER_COUNT; i++) {
        if (i != (int)o->limiter && o->limit[i] < next) {
            next = o->limit[i];
        }
    }
    return next == INT64_MAX ? 1.0 : fmax(o->occupancy, occupancy_of(q, next));
}

static void change(struct occupancy_query *q, const struct gmt_occupancy_whatif *whatif)
{
    if (whatif->block_threads > 0) {
        q->block = whatif->block_threads;
    }
    if (whatif->registers > 0) {
        q->kernel.numRegs = as_registers(whatif->registers);
    }
    if (whatif->shared_bytes != 0) {
        set_shared(q, whatif->shared_bytes > 0 ? whatif->shared_bytes : 0);
    }
}

struct gmt_occupancy gmt_occupancy_of(const struct gmt_timeline *timeline,
                                      const struct gmt_tl_class *class,
                                      const struct gmt_occupancy_whatif *whatif)
{
    static const struct gmt_occupancy_whatif as_launched = {0, 0, 0};
    struct occupancy_query q;
    cudaOccResult result;
    struct gmt_occupancy o = {
        .unknown = prepare(timeline, class, &q), .occupancy = NAN, .without_limiter = NAN};

    if (o.unknown != NULL) {
        return o;
    }
    if (whatif == NULL) {
        whatif = &as_launched;
    }
    change(&q, whatif);
    o.blocks = answer(&q, &result);
    bool changed = whatif->block_threads > 0 || whatif->registers > 0 || whatif->shared_bytes != 0;
    if (!changed && class->max_blocks_per_sm > 0) {
        o.blocks = class->max_blocks_per_sm;
    }
    o.warps = o.blocks * warps_of(&q);
    o.occupancy = occupancy_of(&q, o.blocks);
    o.carveout_percent = q.state.carveoutConfig;
    o.barriers = q.kernel.numBlockBarriers;
    o.limit[GMT_OCCUPANCY_WARPS] = result.blockLimitWarps;
    o.limit[GMT_OCCUPANCY_REGISTERS] = limit_or_none(result.blockLimitRegs);
    o.limit[GMT_OCCUPANCY_SHARED] = limit_or_none(result.blockLimitSharedMem);
    o.limit[GMT_OCCUPANCY_BLOCKS] = result.blockLimitBlocks;
    o.limit[GMT_OCCUPANCY_BARRIERS] = limit_or_none(result.blockLimitBarriers);
    for (int i = 1; i < GMT_OCCUPANCY_LIMITER_COUNT; i++) {
        if (o.limit[i] < o.limit[o.limiter]) {
            o.limiter = (enum gmt_occupancy_limiter)i;
        }
    }
    o.limited = o.occupancy < 1;
    o.without_limiter = without_limiter(&q, &o);
    return o;
}

int64_t gmt_occupancy_best_block(const struct gmt_timeline *timeline,
                                 const struct gmt_tl_class *class, int64_t *grid)
{
    struct occupancy_query q;
    int blocks = 0;
    int64_t best = prepare(timeline, class, &q) == NULL ? best_block(&q, &blocks) : 0;

    if (grid != NULL) {
        *grid = blocks;
    }
    return best;
}

/* One of the what-ifs over registers and shared memory: what is tried, from where to where. */
struct axis {
    void (*set)(struct occupancy_query *q, int64_t value);
    int64_t first, last, step;
};

static void set_registers(struct occupancy_query *q, int64_t registers)
{
    q->kernel.numRegs = as_registers(registers);
}

static void set_block(struct occupancy_query *q, int64_t threads)
{
    q->block = threads;
}

static struct axis axis_of(const struct occupancy_query *q, enum gmt_occupancy_axis axis)
{
    int64_t block = q->kernel.maxThreadsPerBlock < BLOCK_MOST ? q->kernel.maxThreadsPerBlock
                                                              : BLOCK_MOST;

    switch (axis) {
    case GMT_OCCUPANCY_REGISTER_AXIS: return (struct axis){set_registers, 1, REGISTERS_MOST, 1};
    case GMT_OCCUPANCY_SHARED_AXIS:
        return (struct axis){set_shared, 0, q->optin_bytes, SHARED_STEP};
    case GMT_OCCUPANCY_BLOCK_AXIS: break;
    }
    return (struct axis){set_block, WARP_LANES, block, WARP_LANES};
}

/*
 * The largest value from `from` on with at least so many blocks, or less than `from`. More registers
 * or shared memory never make room for more blocks, so the answer lies between halves.
 */
static int64_t largest_with(struct occupancy_query *q, const struct axis *axis, int64_t from,
                            int64_t blocks)
{
    int64_t low = -1, high = (axis->last - from) / axis->step + 1; /* in steps: fits, does not */

    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;

        axis->set(q, from + middle * axis->step);
        if (answer(q, NULL) >= blocks) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return from + low * axis->step;
}

static int64_t largest_for(const struct gmt_timeline *timeline, const struct gmt_tl_class *class,
                           enum gmt_occupancy_axis which, int64_t blocks)
{
    struct occupancy_query q;

    if (prepare(timeline, class, &q) != NULL) {
        return -1;
    }
    struct axis axis = axis_of(&q, which);
    int64_t found = largest_with(&q, &axis, axis.first, blocks);
    return found >= axis.first ? found : -1;
}

int64_t gmt_occupancy_registers_for(const struct gmt_timeline *timeline,
                                    const struct gmt_tl_class *class, int64_t blocks)
{
    return largest_for(timeline, class, GMT_OCCUPANCY_REGISTER_AXIS, blocks);
}

int64_t gmt_occupancy_shared_for(const struct gmt_timeline *timeline,
                                 const struct gmt_tl_class *class, int64_t blocks)
{
    return largest_for(timeline, class, GMT_OCCUPANCY_SHARED_AXIS, blocks);
}

size_t gmt_occupancy_curve(const struct gmt_timeline *timeline, const struct gmt_tl_class *class,
                           enum gmt_occupancy_axis which, struct gmt_occupancy_point *points,
                           size_t most)
{
    struct occupancy_query q;
    size_t n = 0;

    if (prepare(timeline, class, &q) != NULL) {
        return 0;
    }
    struct axis axis = axis_of(&q, which);
    for (int64_t value = axis.first; value <= axis.last && n < most; value += axis.step) {
        axis.set(&q, value);
        int64_t blocks = answer(&q, NULL);

        if (blocks <= 0 && which != GMT_OCCUPANCY_BLOCK_AXIS) {
            break;
        }
        if (which != GMT_OCCUPANCY_BLOCK_AXIS) {
            value = largest_with(&q, &axis, value, blocks);
        }
        if (blocks > 0) {
            points[n++] = (struct gmt_occupancy_point){value, blocks, occupancy_of(&q, blocks)};
        }
    }
    return n;
}

int64_t gmt_occupancy_cluster_blocks(const struct gmt_tl_class *class)
{
    int64_t blocks = class->cluster[0] * class->cluster[1] * class->cluster[2];

    return blocks > 0 ? blocks : 1;
}

int64_t gmt_occupancy_clusters_at_most(const struct gmt_timeline *timeline,
                                       const struct gmt_tl_class *class)
{
    struct gmt_occupancy o = gmt_occupancy_of(timeline, class, NULL);

    return o.blocks * timeline->device.sm_count / gmt_occupancy_cluster_blocks(class);
}

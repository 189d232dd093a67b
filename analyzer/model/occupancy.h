/* SPDX-License-Identifier: Apache-2.0 */
/* The occupancy calculator: what a multiprocessor holds of a kernel, what bounds it, what if. */
#ifndef GMT_ANALYZER_MODEL_OCCUPANCY_H
#define GMT_ANALYZER_MODEL_OCCUPANCY_H

#include "analyzer/trace/timeline.h"

/* What can bound the resident blocks of a multiprocessor. The size of the grid is no such thing. */
#define GMT_OCCUPANCY_LIMITERS(X) \
    X(WARPS, "warps", "warps per multiprocessor") \
    X(REGISTERS, "registers", "registers") \
    X(SHARED, "shared", "shared memory") \
    X(BLOCKS, "blocks", "blocks per multiprocessor") \
    X(BARRIERS, "barriers", "barriers")

enum gmt_occupancy_limiter {
#define GMT_ROW(symbol, name, words) GMT_OCCUPANCY_##symbol,
    GMT_OCCUPANCY_LIMITERS(GMT_ROW)
#undef GMT_ROW
        GMT_OCCUPANCY_LIMITER_COUNT
};

/* A launch that differs from the one in the trace; all zero: as it was launched. */
struct gmt_occupancy_whatif {
    int64_t block_threads; /* 0: as launched */
    int64_t registers;     /* per thread; 0: as compiled */
    int64_t shared_bytes;  /* per block, static and dynamic; 0: as launched; -1: none */
};
#define GMT_OCCUPANCY_NO_SHARED (-1)

struct gmt_occupancy {
    const char *unknown;      /* why nothing could be computed, or NULL; then all below is 0, NAN */
    int64_t blocks;           /* resident per multiprocessor; 0: such a launch cannot run */
    int64_t warps;            /* the same, in warps */
    double occupancy;         /* resident warps / most warps, 0..1 */
    double without_limiter;   /* if the limiter set no bound; with the best block size where the
                                 limiter is of warps or blocks */
    int64_t carveout_percent; /* of shared memory that the program must have asked for; -1: as much
                                 as blocks need, the default */
    int64_t barriers;         /* named barriers that the kernel must use; 1 where not known    */
    int64_t limit[GMT_OCCUPANCY_LIMITER_COUNT]; /* blocks that each allows; INT64_MAX: no bound */
    enum gmt_occupancy_limiter limiter;         /* the tightest; of equal ones the first */
    bool limited;                               /* occupancy is below 1 */
};

/*
 * Computed by NVIDIA's cuda_occupancy.h (the toolkit's; used at build time, which stops without it)
 * from the limits of the device and the resources of the kernel as the trace has them. What the
 * trace does not hold is the same on every device since Turing: registers per block are those of a
 * multiprocessor, 48 KiB of shared memory per block without opting in, 1024 threads per block.
 *
 * As launched, blocks is what the driver answered when the launch was recorded. Where that is less
 * than computed, the carve-out of shared memory or the number of named barriers that explains it is
 * deduced, and holds in what-ifs, too. whatif NULL: as launched.
 */
struct gmt_occupancy gmt_occupancy_of(const struct gmt_timeline *timeline,
                                      const struct gmt_tl_class *class,
                                      const struct gmt_occupancy_whatif *whatif);

/* "shared", as in JSON, and "shared memory", as in sentences. */
const char *gmt_occupancy_limiter_name(enum gmt_occupancy_limiter limiter);
const char *gmt_occupancy_limiter_words(enum gmt_occupancy_limiter limiter);

/*
 * The block size that cudaOccupancyMaxPotentialBlockSize chooses where dynamic shared memory does
 * not depend on it, and the smallest grid that fills the device with such blocks (may be NULL).
 * 0: unknown, or the kernel cannot run.
 */
int64_t gmt_occupancy_best_block(const struct gmt_timeline *timeline,
                                 const struct gmt_tl_class *class, int64_t *grid);

/*
 * The most registers per thread, and the most bytes of shared memory per block (static and
 * dynamic), with which `blocks` blocks of the launched size are resident. -1: not with any.
 */
int64_t gmt_occupancy_registers_for(const struct gmt_timeline *timeline,
                                    const struct gmt_tl_class *class, int64_t blocks);
int64_t gmt_occupancy_shared_for(const struct gmt_timeline *timeline,
                                 const struct gmt_tl_class *class, int64_t blocks);

/*
 * What-if curves. Block size: every multiple of the warp size that the kernel may be launched with.
 * Registers, shared memory: a point per step, the largest value with so many resident blocks, most
 * blocks first. Returns the number of points written, at most `most`; 0: unknown.
 */
enum gmt_occupancy_axis {
    GMT_OCCUPANCY_BLOCK_AXIS,
    GMT_OCCUPANCY_REGISTER_AXIS,
    GMT_OCCUPANCY_SHARED_AXIS
};
enum { GMT_OCCUPANCY_POINTS = 32 }; /* that any curve has at most */
struct gmt_occupancy_point {
    int64_t value, blocks;
    double occupancy;
};
size_t gmt_occupancy_curve(const struct gmt_timeline *timeline, const struct gmt_tl_class *class,
                           enum gmt_occupancy_axis axis, struct gmt_occupancy_point *points,
                           size_t most);

/* Blocks of a cluster; 1: no clusters. */
int64_t gmt_occupancy_cluster_blocks(const struct gmt_tl_class *class);
/*
 * Clusters that can be resident on the device at most: resident blocks over blocks of a cluster.
 * The driver's answer can be lower, because a cluster lies within one GPC, and the trace does not
 * show how many multiprocessors each GPC has.
 */
int64_t gmt_occupancy_clusters_at_most(const struct gmt_timeline *timeline,
                                       const struct gmt_tl_class *class);

#endif

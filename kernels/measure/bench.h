/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every measurement shares: the device, its buffers, the raw results, and the seam to the
 * kernels.
 */
#ifndef GMT_KERNELS_MEASURE_BENCH_H
#define GMT_KERNELS_MEASURE_BENCH_H

#include <cuda_runtime.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/measure/turns.h"
#include "kernels/variants/variants.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Shares of one pass in the progress bar, where a family of kernels is one unit. */
#define GMT_COST_UNITS 2.5
#define GMT_BATCH_UNITS 2.0
#define GMT_TRANSFER_UNITS 4.0

/* As many processes as a calibration of this kind usually has. */
#define GMT_PROCESSES_USUAL UINT_MAX

struct json_t;
struct gmt_progress;

/* Bytes read past the source half of the arena by the offset variants. */
#define GMT_ARENA_PAD_BYTES 4096

struct gmt_bench {
    struct cudaDeviceProp properties;
    int device;
    unsigned sm_count;
    unsigned max_warps_per_sm;

    cudaStream_t stream; /* does not synchronize with the legacy stream */
    cudaEvent_t start;
    cudaEvent_t stop;

    /*
     * Two working sets one after the other, source then destination, and the pad; a power of two
     * each.
     */
    unsigned char *arena;
    size_t working_set_bytes;

    /* Memory for transfers, touched, of host_bytes each; far_* lie on the device. */
    unsigned char *pageable;
    unsigned char *pinned;
    unsigned char *registered;
    bool is_registered; /* registered is page-locked */
    unsigned char *far_from;
    unsigned char *far_to;
    size_t host_bytes;
    unsigned char *mapped;      /* of family mapped: page-locked, in the device's address space */
    unsigned char *mapped_copy; /* of family mapped: as much on the device */

    unsigned sample_count; /* of each kernel */
    unsigned pass;         /* of what the host's clock times: 0 .. pass_count - 1 */
    unsigned pass_count;   /* of each process */
    /* Set before gmt_bench_open. 0: what the host's clock times is measured in this process. */
    unsigned process_count;
    bool quick;
    bool hurried;       /* the time budget is nearly spent: fewer samples from here on */
    uint64_t budget_ns; /* what a run may take */
    uint64_t began_ns;

    struct json_t *raw;
    struct gmt_progress *progress;
    char error[256]; /* one line, set by whoever returns non-zero */
};

/* What one launch of a variant does, computed from the launch shape. Zero = none of it. */
struct gmt_work {
    double bytes_asked; /* global bytes that requests ask for; what lanes share counts once */
    double load_requests;
    double load_sectors;
    double store_requests;
    double store_sectors;
    double shared_load_requests;
    double shared_load_bytes;
    double wavefronts; /* of the shared loads */
    double ideal_wavefronts;
    double local_load_requests;
    double constant_requests;
    double constant_addresses; /* different ones of each request, summed */
    double spilled_words;      /* words of the frame, once for each round and warp */
    double blocks_per_sm;      /* of the occupancy family, 0 elsewhere */
    double warps_per_sm;
    double occupancy;
    double dependent_loads; /* length of the chain in each thread */
};

/*
 * A family of variants. prepare (may be NULL) writes what the kernels read into the arena; launch
 * enqueues the variant once on the stream; work tells what a launch does. Each returns 0 or a
 * negative errno with bench->error set; -ENOTSUP without a message from work: this device cannot
 * run the variant.
 */
struct gmt_family {
    const char *name;
    int (*prepare)(struct gmt_bench *bench);
    int (*launch)(struct gmt_bench *bench, const struct gmt_variant *variant);
    int (*work)(struct gmt_bench *bench, const struct gmt_variant *variant, struct gmt_work *work);
    unsigned launches_timed; /* in each sample, which is their mean; 0: one */
    bool host_bound;         /* how fast the host launches counts: measured in the passes */
};

#define GMT_ROW(name) extern const struct gmt_family gmt_family_##name;
GMT_FAMILIES(GMT_ROW)
#undef GMT_ROW

/* NULL for an unknown name. */
const struct gmt_family *gmt_family_find(const char *name);

/* 0, or -EIO with "<what>: <CUDA's text>" in bench->error. */
int gmt_bench_check(struct gmt_bench *bench, cudaError_t status, const char *what);

/* Needs rc and a label out in the function around it. */
#define GMT_TRY(bench, call) \
    do { \
        if ((rc = gmt_bench_check((bench), (call), #call)) != 0) \
            goto out; \
    } while (0)

/* Host clock, monotonic. */
uint64_t gmt_now_ns(void);

/* Samples to take from here on; drops to the least once the time budget is nearly spent. */
unsigned gmt_bench_samples(struct gmt_bench *bench);

/*
 * How often a point is taken in the pass that goes on, of which one turn works on so many bytes; 0:
 * its time does not grow with them. None at all for long ones in most passes.
 */
struct gmt_turns gmt_bench_turns(struct gmt_bench *bench, size_t bytes);

/* Will this much more work overrun the budget? The caller then leaves it out and notes it. */
bool gmt_bench_too_late(const struct gmt_bench *bench, double work_ns);

/* Adds a sentence to the notes of the result, once. */
void gmt_bench_note(struct gmt_bench *bench, const char *text);

/* Opens the device and allocates the arena, smaller where memory is short. 0 or negative errno. */
int gmt_bench_open(struct gmt_bench *bench, int device);
void gmt_bench_close(struct gmt_bench *bench);

/*
 * Measures the variants of one family, all of them in turn within each round; of one that is bound by
 * the host, as much as belongs to the pass that goes on. 0 or negative errno.
 */
int gmt_bench_family(struct gmt_bench *bench, const struct gmt_family *family);

/* The counters of one launch as an object; what there is none of is left out. The caller owns it. */
struct json_t *gmt_work_json(const struct gmt_work *work);

/*
 * Host buffers, then copies over size, copies in runs, and the costs of calls: one pass of each. 0 or
 * negative errno.
 */
int gmt_bench_host_buffers(struct gmt_bench *bench);
void gmt_bench_release_buffers(struct gmt_bench *bench);
int gmt_bench_transfers(struct gmt_bench *bench);
int gmt_bench_batches(struct gmt_bench *bench);
int gmt_bench_copies_2d(struct gmt_bench *bench); /* a part of the batches */
int gmt_bench_costs(struct gmt_bench *bench);

/* Enqueues a kernel that reads (or writes) the memory once, 16 bytes per lane, coalesced. */
cudaError_t gmt_launch_sweep(struct gmt_bench *bench, void *memory, size_t bytes, bool write);

/* Enqueues a kernel that does nothing. */
cudaError_t gmt_launch_empty(cudaStream_t stream);

/* The same under a name of its own, gmt_mark: a boundary that a trace shows. */
cudaError_t gmt_launch_mark(cudaStream_t stream);

/*
 * Holds the stream for some 20 us, so that what is enqueued meanwhile runs without gaps: device
 * events around it then do not time the host.
 */
cudaError_t gmt_launch_delay(cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif

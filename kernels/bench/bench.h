/* SPDX-License-Identifier: Apache-2.0 */
/* What every measurement shares: the device, its buffers, and the raw results. */
#ifndef GMT_KERNELS_BENCH_BENCH_H
#define GMT_KERNELS_BENCH_BENCH_H

#include <cuda_runtime.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As many processes as a calibration of this kind usually has. */
#define GMT_PROCESSES_USUAL UINT_MAX

struct json_t;

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
    char error[256]; /* one line, set by whoever returns non-zero */
};

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

/* Will this much more work overrun the budget? The caller then leaves it out and notes it. */
bool gmt_bench_too_late(const struct gmt_bench *bench, double work_ns);

/* Adds a sentence to the notes of the result, once. */
void gmt_bench_note(struct gmt_bench *bench, const char *text);

/* Opens the device and allocates the arena, smaller where memory is short. 0 or negative errno. */
int gmt_bench_open(struct gmt_bench *bench, int device);
void gmt_bench_close(struct gmt_bench *bench);

/* Memory for transfers, which is there already in all passes but the first. 0 or negative errno. */
int gmt_bench_host_buffers(struct gmt_bench *bench);
void gmt_bench_release_buffers(struct gmt_bench *bench);

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

/* SPDX-License-Identifier: Apache-2.0 */
/* Family small_kernels: 16 independent kernels of a few blocks, in one stream or in several. */
#include "kernels/families/launch.cuh"

#define KERNELS 16u
#define BLOCKS 4u
#define BLOCK_THREADS 256u
#define ROUNDS 600u
#define WORDS (BLOCKS * BLOCK_THREADS) /* of one kernel */

__global__ void gmt_kernel_small(const float *source, float *target, unsigned rounds)
{
    unsigned i = blockIdx.x * BLOCK_THREADS + threadIdx.x;

    gmt_store(target + i, gmt_multiply_add<4>(gmt_load(source + i), rounds));
}

/* Made once and kept until the process ends: calibration measures one device. */
static struct {
    cudaStream_t stream[KERNELS];
    cudaEvent_t joined[KERNELS];
    cudaEvent_t forked;
    bool made;
} side;

static int prepare(struct gmt_bench *bench)
{
    int rc = 0;

    if (side.made)
        return 0;
    GMT_TRY(bench, cudaEventCreateWithFlags(&side.forked, cudaEventDisableTiming));
    for (unsigned i = 0; i < KERNELS; i++) {
        GMT_TRY(bench, cudaStreamCreateWithFlags(&side.stream[i], cudaStreamNonBlocking));
        GMT_TRY(bench, cudaEventCreateWithFlags(&side.joined[i], cudaEventDisableTiming));
    }
    side.made = true;
out:
    return rc;
}

/* The streams begin when the caller's has come here, and it goes on when all of them are done. */
static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    unsigned streams = variant->parameter;
    int rc = 0;

    if (streams > 1) {
        GMT_TRY(bench, cudaEventRecord(side.forked, bench->stream));
        for (unsigned i = 0; i < streams; i++)
            GMT_TRY(bench, cudaStreamWaitEvent(side.stream[i], side.forked, 0));
    }
    for (unsigned i = 0; i < KERNELS; i++) {
        cudaStream_t stream = streams > 1 ? side.stream[i % streams] : bench->stream;

        gmt_kernel_small<<<BLOCKS, BLOCK_THREADS, 0, stream>>>(
            (const float *)bench->arena + (size_t)i * WORDS, gmt_target(bench) + (size_t)i * WORDS,
            ROUNDS);
        GMT_TRY(bench, cudaGetLastError());
    }
    for (unsigned i = 0; streams > 1 && i < streams; i++) {
        GMT_TRY(bench, cudaEventRecord(side.joined[i], side.stream[i]));
        GMT_TRY(bench, cudaStreamWaitEvent(bench->stream, side.joined[i], 0));
    }
out:
    return rc;
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double words = (double)KERNELS * WORDS;

    (void)bench;
    gmt_work_copy(work, words, words / 32, words / 32 * variant->sectors_per_request);
    return 0;
}

const struct gmt_family gmt_family_small_kernels = {
    "small_kernels", prepare, launch, work, 1, true};

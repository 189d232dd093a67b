/* SPDX-License-Identifier: Apache-2.0 */
/* Family launch_bound: 256 short steps by a launch each, by one graph, and in one kernel. */
#include "kernels/families/launch.cuh"

#define STEPS 256u
#define BLOCKS 64u
#define BLOCK_THREADS 256u
#define WORDS (BLOCKS * BLOCK_THREADS)

__global__ void gmt_kernel_step(const float *source, float *target)
{
    unsigned i = blockIdx.x * BLOCK_THREADS + threadIdx.x;

    gmt_store(target + i, fmaf(gmt_load(source + i), 0.5f, 1.0f));
}

__global__ void gmt_kernel_steps_fused(const float *source, float *target, unsigned steps)
{
    unsigned i = blockIdx.x * BLOCK_THREADS + threadIdx.x;
    float value = gmt_load(source + i);

#pragma unroll 1
    for (unsigned step = 0; step < steps; step++)
        value = fmaf(value, 0.5f, 1.0f);
    gmt_store(target + i, value);
}

/* Each step reads what the one before it wrote, so none can run beside another. */
static void enqueue_steps(const struct gmt_bench *bench, cudaStream_t stream)
{
    float *ends[2] = {(float *)bench->arena, gmt_target(bench)};

    for (unsigned step = 0; step < STEPS; step++)
        gmt_kernel_step<<<BLOCKS, BLOCK_THREADS, 0, stream>>>(ends[step % 2], ends[(step + 1) % 2]);
}

/* Made once and kept until the process ends: calibration measures one device with one arena. */
static cudaGraphExec_t graph_of_steps;

static int prepare(struct gmt_bench *bench)
{
    cudaStream_t stream = NULL;
    cudaGraph_t graph = NULL;
    int rc = 0;

    if (graph_of_steps != NULL)
        return 0;
    GMT_TRY(bench, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    GMT_TRY(bench, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    enqueue_steps(bench, stream);
    GMT_TRY(bench, cudaStreamEndCapture(stream, &graph));
    GMT_TRY(bench, cudaGraphInstantiate(&graph_of_steps, graph, 0));
    GMT_TRY(bench, cudaGraphUpload(graph_of_steps, bench->stream));
out:
    if (graph != NULL)
        cudaGraphDestroy(graph);
    if (stream != NULL)
        cudaStreamDestroy(stream);
    return rc;
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    int rc = 0;

    if (variant->kernel == GMT_KERNEL_steps_fused)
        gmt_kernel_steps_fused<<<BLOCKS, BLOCK_THREADS, 0, bench->stream>>>(
            (const float *)bench->arena, gmt_target(bench), STEPS);
    else if (variant->parameter == 1)
        GMT_TRY(bench, cudaGraphLaunch(graph_of_steps, bench->stream));
    else
        enqueue_steps(bench, bench->stream);
    GMT_TRY(bench, cudaGetLastError());
out:
    return rc;
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double words = variant->kernel == GMT_KERNEL_steps_fused ? WORDS : (double)WORDS * STEPS;

    (void)bench;
    gmt_work_copy(work, words, words / 32, words / 32 * variant->sectors_per_request);
    return 0;
}

const struct gmt_family gmt_family_launch_bound = {"launch_bound", prepare, launch, work, 1, true};

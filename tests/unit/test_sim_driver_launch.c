/* SPDX-License-Identifier: Apache-2.0 */
/* Launches: parameters, configurations, attributes and cooperative ones. */
#include <string.h>

#include "sim_driver_fixture.h"

static CUdeviceptr memory;

static CUfunction start(const char *ptx, const char *name)
{
    sim_start(1);
    OK(cuMemAlloc(&memory, 4096));
    return sim_kernel_of(ptx, name);
}

static unsigned word(size_t index)
{
    unsigned value = 0;
    OK(cuMemcpyDtoH(&value, memory + index * 4, sizeof value));
    return value;
}

Test(sim_driver_launch, parameters_come_by_pointers_or_in_a_buffer)
{
    CUfunction fill = start(sim_ptx_fill, "fill");
    unsigned value = 100;
    OK(sim_launch_one(fill, 64, (void *[]){&memory, &value}));
    cr_expect_eq(word(63), 163);
    struct {
        CUdeviceptr out;
        unsigned value;
    } packed = {memory, 200};
    size_t bytes = 12;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    OK(cuLaunchKernel(fill, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, extra));
    cr_expect_eq(word(63), 263);
    bytes = 8;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(fill, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, extra));
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuLaunchKernel(fill, 1, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&memory, &value}, extra));
    FAILS(CUDA_ERROR_INVALID_VALUE, sim_launch_one(fill, 64, NULL));
    FAILS(CUDA_ERROR_INVALID_VALUE, sim_launch_one(fill, 64, (void *[]){&memory, NULL}));
}

Test(sim_driver_launch, limits_of_grids_and_blocks)
{
    CUfunction fill = start(sim_ptx_fill, "fill");
    unsigned value = 0;
    void *params[] = {&memory, &value};
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuLaunchKernel(fill, 1, 65536, 1, 1, 1, 1, 0, NULL, params, NULL));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(fill, 1, 1, 1, 1, 1, 65, 0, NULL, params, NULL));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(fill, 1, 1, 0, 1, 1, 1, 0, NULL, params, NULL));
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuLaunchKernel(fill, 1, 1, 1, 64, 32, 1, 0, NULL, params, NULL));
    OK(cuLaunchKernel(fill, 2, 1, 1, 16, 4, 16, 0, NULL, params, NULL));
    OK(cuCtxSynchronize());
}

Test(sim_driver_launch, much_shared_memory_wants_opting_in)
{
    CUfunction fill = start(sim_ptx_fill, "fill");
    unsigned value = 0;
    void *params[] = {&memory, &value};
    OK(cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 48 << 10, NULL, params, NULL));
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, (48 << 10) + 1, NULL, params, NULL));
    OK(cuFuncSetAttribute(fill, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 227 << 10));
    OK(cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 227 << 10, NULL, params, NULL));
    OK(cuCtxSynchronize());
}

static CUresult launch_with(CUfunction function, CUlaunchAttribute attribute, unsigned blocks)
{
    unsigned value = 0;
    CUlaunchConfig config = {.gridDimX = blocks,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 32,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .attrs = &attribute,
                             .numAttrs = 1};
    return cuLaunchKernelEx(&config, function, (void *[]){&memory, &value}, NULL);
}

Test(sim_driver_launch, clusters_are_refused_by_name)
{
    CUfunction fill = start(sim_ptx_fill, "fill");
    CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                 .value.clusterDim = {1, 1, 1}};
    OK(launch_with(fill, cluster, 4));
    cluster.value.clusterDim.x = 2;
    sim_capture_stderr();
    FAILS(CUDA_ERROR_NOT_SUPPORTED, launch_with(fill, cluster, 4));
    const char *said = sim_captured_stderr();
    cr_expect_not_null(strstr(said, "clusters of 2 x 1 x 1"), "%s", said);
    OK(cuCtxSynchronize());
}

static const char grid_barrier[] = SIM_PTX_HEAD
    ".visible .entry meet(.param .u64 out, .param .u32 value)\n"
    "{\n .reg .b32 %r<2>;\n mov.u32 %r1, %envreg2;\n ret;\n}\n";

Test(sim_driver_launch, cooperative_ones_must_fit_and_not_meet)
{
    CUfunction fill = start(sim_ptx_fill, "fill");
    CUlaunchAttribute together = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    OK(launch_with(fill, together, 132 * 32));
    FAILS(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, launch_with(fill, together, 132 * 32 + 1));
    CUfunction meet = sim_kernel_of(grid_barrier, "meet");
    sim_capture_stderr();
    FAILS(CUDA_ERROR_NOT_SUPPORTED, launch_with(meet, together, 2));
    const char *said = sim_captured_stderr();
    cr_expect_not_null(strstr(said, "kernel meet: a barrier over the whole grid"), "%s", said);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios about descriptors of tensor maps, and kernels that are given them and do not read them. */
#include "client.h"

#include <stdio.h>
#include <string.h>

/* A descriptor as a parameter; one as a member, 192 bytes into a structure. */
static const char kernels[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry given(.param .align 128 .b8 map[128], .param .u64 out)\n"
    "{\n .reg .b64 %rd<2>;\n .reg .b32 %r<2>;\n ld.param.u64 %rd1, [out];\n"
    " mov.u32 %r1, 7;\n st.global.u32 [%rd1], %r1;\n ret;\n}\n"
    ".visible .entry inside(.param .u64 out, .param .align 128 .b8 all[384])\n"
    "{\n .reg .b64 %rd<2>;\n .reg .b32 %r<2>;\n ld.param.u64 %rd1, [out];\n"
    " mov.u32 %r1, 9;\n st.global.u32 [%rd1], %r1;\n ret;\n}\n";

struct holder {
    CUtensorMap first;
    cuuint64_t numbers[8];
    char map[128]; /* of a lesser alignment than the type's: drivers demand 64 bytes */
    cuuint64_t more[8];
};

static const cuuint64_t dims[2] = {64, 256}, strides[1] = {128};
static const cuuint32_t steps[5] = {1, 1, 1, 1, 1};

static CUresult encode(CUtensorMap *map, CUdeviceptr memory, cuuint32_t inner,
                       CUtensorMapSwizzle swizzle)
{
    const cuuint32_t box[2] = {inner, 32};
    return cu.cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void *)memory, dims,
                                     strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                     CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                     CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static void encode_image(CUtensorMap *map, CUdeviceptr memory)
{
    const cuuint64_t sizes[4] = {32, 16, 16, 2}, steps_of[3] = {64, 1024, 16384};
    const int low[2] = {-1, -1}, high[2] = {-1, -1};
    CHECK(cu.cuTensorMapEncodeIm2col(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, (void *)memory, sizes,
                                     steps_of, low, high, 32, 64, steps, 0, 0, 0, 0));
}

/* N launches, a descriptor encoded for each; then one inside a structure, and calls of other kinds. */
int scenario_tensor_maps(long n)
{
    static struct holder holder;
    static CUtensorMap map, other;
    CUdeviceptr memory, out;
    CUmodule module;
    CUfunction given, inside;
    unsigned word = 0;
    client_start();
    CHECK(cu.cuModuleLoadData(&module, kernels));
    CHECK(cu.cuModuleGetFunction(&given, module, "given"));
    CHECK(cu.cuModuleGetFunction(&inside, module, "inside"));
    CHECK(cu.cuMemAlloc(&memory, 65536));
    CHECK(cu.cuMemAlloc(&out, 64));
    void *given_parameters[] = {&map, &out}, *inside_parameters[] = {&out, &holder};
    for (long i = 0; i < (n > 0 ? n : 3); i++) {
        CHECK(encode(&map, memory, 64, CU_TENSOR_MAP_SWIZZLE_128B));
        CHECK(cu.cuLaunchKernel(given, 1, 1, 1, 32, 1, 1, 0, NULL, given_parameters, NULL));
    }
    CHECK(encode(&other, memory, 8, CU_TENSOR_MAP_SWIZZLE_NONE));
    memcpy(holder.map, &other, sizeof holder.map);
    CHECK(cu.cuLaunchKernel(inside, 1, 1, 1, 32, 1, 1, 0, NULL, inside_parameters, NULL));
    CHECK(cu.cuTensorMapReplaceAddress(&other, (void *)(memory + 4096)));
    encode_image(&other, memory);
    /* Rows of 24 bytes, and rows that are too wide for the swizzle. */
    int refused = encode(&other, memory, 12, CU_TENSOR_MAP_SWIZZLE_NONE) != CUDA_SUCCESS;
    refused += encode(&other, memory, 64, CU_TENSOR_MAP_SWIZZLE_32B) != CUDA_SUCCESS;
    CHECK(cu.cuMemcpyDtoH(&word, out, sizeof word));
    printf("wrote %u, %d refused\n", word, refused);
    CHECK(cu.cuMemFree(memory));
    CHECK(cu.cuMemFree(out));
    return 0;
}

/* The software device refuses it before it looks at the descriptor. */
int scenario_tensor_map_nowhere(long n)
{
    static CUtensorMap map;
    CUdeviceptr memory;
    (void)n;
    client_start();
    CHECK(cu.cuMemAlloc(&memory, 65536));
    CHECK(encode(&map, memory, 64, CU_TENSOR_MAP_SWIZZLE_128B));
    CHECK(cu.cuCtxSetCurrent(NULL));
    printf("%d\n", (int)cu.cuTensorMapReplaceAddress((void *)4096, (void *)memory));
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of tensor maps: what cuda.h demands of their arguments, and what equal ones have in common. */
#include <stdint.h>
#include <string.h>

#include "sim_driver_fixture.h"

/* A matrix of 256 rows of 64 half floats, in boxes of 32 rows of 64 bytes. */
struct arguments {
    CUtensorMapDataType type;
    cuuint32_t rank;
    uintptr_t address;
    cuuint64_t dims[5], strides[4];
    cuuint32_t box[5], steps[5];
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion promotion;
    CUtensorMapFloatOOBfill fill;
};

static const struct arguments good = {
    .type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
    .rank = 2,
    .address = 0x10000,
    .dims = {64, 256, 8, 8, 8},
    .strides = {128, 32768, 262144, 2097152},
    .box = {32, 32, 1, 1, 1},
    .steps = {1, 1, 1, 1, 1},
};

static CUtensorMap map;

static CUresult encode(struct arguments a)
{
    return cuTensorMapEncodeTiled(&map, a.type, a.rank, (void *)a.address, a.dims, a.strides, a.box,
                                  a.steps, a.interleave, a.swizzle, a.promotion, a.fill);
}

/* The good arguments with one of them changed. */
#define WITH(MEMBER, VALUE) \
    ({ \
        struct arguments changed = good; \
        changed.MEMBER = (VALUE); \
        encode(changed); \
    })
#define IS_WRONG(MEMBER, VALUE) FAILS(CUDA_ERROR_INVALID_VALUE, WITH(MEMBER, VALUE))

Test(sim_driver_tensor_maps, need_a_context)
{
    FAILS(CUDA_ERROR_NOT_INITIALIZED, encode(good));
    OK(cuInit(0));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, encode(good));
}

Test(sim_driver_tensor_maps, are_equal_for_equal_arguments_alone)
{
    CUtensorMap first;
    sim_start(1);
    OK(encode(good));
    first = map;
    memset(&map, 0xff, sizeof map);
    OK(encode(good));
    cr_expect_arr_eq(&map, &first, sizeof map);
    OK(WITH(steps[0], 0)); /* ignored */
    cr_expect_arr_eq(&map, &first, sizeof map);
    OK(WITH(swizzle, CU_TENSOR_MAP_SWIZZLE_64B));
    cr_expect_arr_neq(&map, &first, sizeof map);
    OK(WITH(address, 0x10010));
    cr_expect_arr_neq(&map, &first, sizeof map);
    OK(cuTensorMapReplaceAddress(&map, (void *)0x10000));
    cr_expect_arr_eq(&map, &first, sizeof map);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuTensorMapReplaceAddress(&map, (void *)0x10008));
    memset(&map, 0, sizeof map);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuTensorMapReplaceAddress(&map, (void *)0x10000));
}

Test(sim_driver_tensor_maps, demand_what_is_documented)
{
    sim_start(1);
    IS_WRONG(type, (CUtensorMapDataType)16);
    IS_WRONG(rank, 0);
    IS_WRONG(rank, 6);
    OK(WITH(rank, 5));
    IS_WRONG(address, 0x10008);
    IS_WRONG(dims[1], 0);
    OK(WITH(dims[1], UINT64_C(1) << 32));
    IS_WRONG(dims[1], (UINT64_C(1) << 32) + 1);
    IS_WRONG(strides[0], 136);
    IS_WRONG(strides[0], UINT64_C(1) << 40);
    IS_WRONG(box[0], 0);
    IS_WRONG(box[0], 4); /* 8 bytes */
    IS_WRONG(box[1], 257);
    IS_WRONG(steps[1], 0);
    IS_WRONG(steps[1], 9);
    IS_WRONG(swizzle, CU_TENSOR_MAP_SWIZZLE_32B); /* of 64 bytes */
    IS_WRONG(swizzle, (CUtensorMapSwizzle)7);
    IS_WRONG(promotion, (CUtensorMapL2promotion)4);
    OK(WITH(fill, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA));
    IS_WRONG(interleave, CU_TENSOR_MAP_INTERLEAVE_16B); /* of two dimensions */
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuTensorMapEncodeTiled((CUtensorMap *)((char *)&map + 32), good.type, 2,
                                 (void *)good.address, good.dims, good.strides, good.box,
                                 good.steps, 0, 0, 0, 0));
}

Test(sim_driver_tensor_maps, demand_more_of_other_layouts)
{
    struct arguments a = good;
    sim_start(1);
    a.rank = 3;
    a.interleave = CU_TENSOR_MAP_INTERLEAVE_32B;
    FAILS(CUDA_ERROR_INVALID_VALUE, encode(a)); /* it wants that swizzle */
    a.swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
    OK(encode(a));
    a.address += 16;
    FAILS(CUDA_ERROR_INVALID_VALUE, encode(a));
    a = good;
    a.type = CU_TENSOR_MAP_DATA_TYPE_INT32;
    a.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
    FAILS(CUDA_ERROR_INVALID_VALUE, encode(a));
    a = good;
    a.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B;
    a.dims[0] = a.box[0] = 128;
    OK(encode(a));
    a.swizzle = CU_TENSOR_MAP_SWIZZLE_64B;
    FAILS(CUDA_ERROR_INVALID_VALUE, encode(a));
    a.swizzle = 0;
    a.box[0] = 64;
    FAILS(CUDA_ERROR_INVALID_VALUE, encode(a));
}

Test(sim_driver_tensor_maps, of_images_have_offsets_and_pixels)
{
    const int low[3] = {-1, -1, 0};
    int high[3] = {1, 1, 0};
#define IMAGE(RANK, CHANNELS, PIXELS) \
    cuTensorMapEncodeIm2col(&map, good.type, (RANK), (void *)good.address, good.dims, \
                            good.strides, low, high, (CHANNELS), (PIXELS), good.steps, 0, 0, 0, 0)
    sim_start(1);
    OK(IMAGE(4, 64, 1024));
    FAILS(CUDA_ERROR_INVALID_VALUE, IMAGE(2, 64, 32));
    FAILS(CUDA_ERROR_INVALID_VALUE, IMAGE(4, 257, 32));
    FAILS(CUDA_ERROR_INVALID_VALUE, IMAGE(4, 64, 1025));
    high[1] = 128;
    FAILS(CUDA_ERROR_INVALID_VALUE, IMAGE(4, 64, 32));
    OK(IMAGE(3, 64, 32));
}

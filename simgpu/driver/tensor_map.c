/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors of tensor maps: their arguments are checked as cuda.h documents them, and kept in 128 bytes
 * of the device's own layout. Nothing here reads them: kernels that would are refused (image.c).
 */
#include <assert.h>
#include <string.h>

#include "simgpu/driver/driver.h"

enum {
    MAX_RANK = 5,
    MAX_BOX = 256,
    MAX_PIXELS = 1024,
    MAX_ELEMENT_STRIDE = 8,
    ALIGNMENT = 64,       /* of a descriptor */
    CHUNK_BYTES = 16,     /* alignment of addresses, strides and inner boxes */
    WIDE_BYTES = 32,      /* the same for some layouts */
    PACKED_ELEMENTS = 128 /* of the packed types that lie 16 bytes apart */
};
#define MAX_DIM (UINT64_C(1) << 32)
#define MAX_STRIDE (UINT64_C(1) << 40)   /* the first that is too large */
#define MAGIC UINT64_C(0x70616d2d6d6973) /* "sim-map" */

/* What both kinds of descriptor are made of. */
struct tensor_shape {
    CUtensorMapDataType type;
    cuuint32_t rank;
    uint64_t address;
    const cuuint64_t *dims, *strides;
    const cuuint32_t *element_strides;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion promotion;
    CUtensorMapFloatOOBfill fill;
};

/* The layout of CUtensorMap here. */
struct descriptor {
    uint64_t address, magic;
    uint32_t dims[MAX_RANK];        /* less 1 */
    uint32_t strides[MAX_RANK - 1]; /* in chunks of 16 bytes */
    uint16_t box[MAX_RANK];
    int16_t lower[MAX_RANK - 2], upper[MAX_RANK - 2];
    uint8_t element_strides[MAX_RANK];
    uint8_t kind, rank, type, interleave, swizzle, promotion, fill;
    uint8_t reserved[42];
};
static_assert(sizeof(struct descriptor) == sizeof(CUtensorMap),
              "it is what programs have room for");

enum { TILED = 1, IM2COL };

static unsigned element_bits(CUtensorMapDataType type)
{
    switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8: return 8;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16: return 16;
    case CU_TENSOR_MAP_DATA_TYPE_UINT32:
    case CU_TENSOR_MAP_DATA_TYPE_INT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ: return 32;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64: return 64;
    case CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B:
    case CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B: return 4;
    case CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B: return 6;
    }
    return 0;
}

static bool is_float(CUtensorMapDataType type)
{
    return type == CU_TENSOR_MAP_DATA_TYPE_FLOAT16 || type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 ||
           type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32 || type == CU_TENSOR_MAP_DATA_TYPE_FLOAT64 ||
           type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ ||
           type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 || type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

/* 16 packed values, and a gap behind them. */
static bool has_gaps(CUtensorMapDataType type)
{
    return type == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B ||
           type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B;
}

/* Most bytes of an inner box with this swizzle. */
static unsigned swizzle_bytes(CUtensorMapSwizzle swizzle)
{
    switch (swizzle) {
    case CU_TENSOR_MAP_SWIZZLE_NONE: return UINT32_MAX;
    case CU_TENSOR_MAP_SWIZZLE_32B: return 32;
    case CU_TENSOR_MAP_SWIZZLE_64B: return 64;
    case CU_TENSOR_MAP_SWIZZLE_128B:
    case CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B:
    case CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B:
    case CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B: return 128;
    }
    return 0;
}

static uint64_t alignment_of(const struct tensor_shape *shape)
{
    return shape->interleave == CU_TENSOR_MAP_INTERLEAVE_32B || has_gaps(shape->type) ? WIDE_BYTES
                                                                                      : CHUNK_BYTES;
}

static bool swizzle_ok(const struct tensor_shape *shape)
{
    CUtensorMapSwizzle swizzle = shape->swizzle;
    bool of_both = swizzle == CU_TENSOR_MAP_SWIZZLE_NONE || swizzle == CU_TENSOR_MAP_SWIZZLE_128B ||
                   swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B;
    if (swizzle_bytes(swizzle) == 0 || (shape->interleave == CU_TENSOR_MAP_INTERLEAVE_32B &&
                                        swizzle != CU_TENSOR_MAP_SWIZZLE_32B)) {
        return false;
    }
    if (shape->type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B) {
        return of_both || swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B;
    }
    return of_both || shape->type != CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B;
}

static bool kinds_ok(const struct tensor_shape *shape)
{
    return element_bits(shape->type) != 0 &&
           (unsigned)shape->interleave <= CU_TENSOR_MAP_INTERLEAVE_32B &&
           (shape->type != CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B ||
            shape->interleave == CU_TENSOR_MAP_INTERLEAVE_NONE) &&
           swizzle_ok(shape) && (unsigned)shape->promotion <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B &&
           (shape->fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE ||
            (shape->fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA &&
             is_float(shape->type)));
}

/* How the strides are made of the dimensions is described there, not demanded. */
static bool sizes_ok(const struct tensor_shape *shape)
{
    uint64_t alignment = alignment_of(shape);
    bool plain = shape->interleave == CU_TENSOR_MAP_INTERLEAVE_NONE;
    for (cuuint32_t i = 0; i < shape->rank; i++) {
        cuuint32_t step = shape->element_strides[i];
        if (shape->dims[i] == 0 || shape->dims[i] > MAX_DIM ||
            ((step == 0 || step > MAX_ELEMENT_STRIDE) && (i != 0 || !plain))) {
            return false;
        }
    }
    for (cuuint32_t i = 0; i + 1 < shape->rank; i++) {
        if (shape->strides[i] % alignment != 0 || shape->strides[i] >= MAX_STRIDE) {
            return false;
        }
    }
    return shape->address % alignment == 0 &&
           (!has_gaps(shape->type) || shape->dims[0] % PACKED_ELEMENTS == 0) &&
           (shape->type != CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B || shape->dims[0] % 2 == 0);
}

/* The elements of a row of a box, in the tensor's innermost dimension. */
static bool inner_ok(const struct tensor_shape *shape, cuuint32_t elements)
{
    unsigned bits = elements * element_bits(shape->type);
    return elements != 0 && elements <= MAX_BOX &&
           (!has_gaps(shape->type) || elements == PACKED_ELEMENTS) &&
           (shape->interleave != CU_TENSOR_MAP_INTERLEAVE_NONE ||
            bits / 8 <= swizzle_bytes(shape->swizzle));
}

static bool shape_ok(const CUtensorMap *map, const struct tensor_shape *shape,
                     cuuint32_t least_rank)
{
    return map != NULL && (uintptr_t)map % ALIGNMENT == 0 && shape->dims != NULL &&
           shape->element_strides != NULL && (shape->strides != NULL || shape->rank == 1) &&
           shape->rank >= least_rank && shape->rank <= MAX_RANK && kinds_ok(shape) &&
           sizes_ok(shape);
}

static struct descriptor describe(const struct tensor_shape *shape, unsigned kind)
{
    struct descriptor made = {.address = shape->address,
                              .magic = MAGIC,
                              .kind = (uint8_t)kind,
                              .rank = (uint8_t)shape->rank,
                              .type = (uint8_t)shape->type,
                              .interleave = (uint8_t)shape->interleave,
                              .swizzle = (uint8_t)shape->swizzle,
                              .promotion = (uint8_t)shape->promotion,
                              .fill = (uint8_t)shape->fill};
    for (cuuint32_t i = 0; i < shape->rank; i++) {
        made.dims[i] = (uint32_t)(shape->dims[i] - 1);
        made.element_strides[i] = (uint8_t)shape->element_strides[i];
    }
    for (cuuint32_t i = 0; i + 1 < shape->rank; i++) {
        made.strides[i] = (uint32_t)(shape->strides[i] / CHUNK_BYTES);
    }
    if (shape->interleave == CU_TENSOR_MAP_INTERLEAVE_NONE) {
        made.element_strides[0] = 1; /* whatever was given is ignored */
    }
    return made;
}

CUresult sim_cuTensorMapEncodeTiled(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType,
                                    cuuint32_t tensorRank, void *globalAddress,
                                    const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
                                    const cuuint32_t *boxDim, const cuuint32_t *elementStrides,
                                    CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                    CUtensorMapL2promotion l2Promotion,
                                    CUtensorMapFloatOOBfill oobFill)
{
    const struct tensor_shape shape = {tensorDataType, tensorRank,    (uintptr_t)globalAddress,
                                       globalDim,      globalStrides, elementStrides,
                                       interleave,     swizzle,       l2Promotion,
                                       oobFill};
    bool plain = interleave == CU_TENSOR_MAP_INTERLEAVE_NONE;
    if (sim_current() == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (!shape_ok(tensorMap, &shape, plain ? 1 : 3) || boxDim == NULL ||
        !inner_ok(&shape, boxDim[0]) ||
        (plain && boxDim[0] * element_bits(tensorDataType) % (8 * CHUNK_BYTES) != 0)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct descriptor made = describe(&shape, TILED);
    for (cuuint32_t i = 0; i < tensorRank; i++) {
        if (boxDim[i] == 0 || boxDim[i] > MAX_BOX) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        made.box[i] = (uint16_t)boxDim[i];
    }
    memcpy(tensorMap, &made, sizeof made);
    return CUDA_SUCCESS;
}

CUresult sim_cuTensorMapEncodeIm2col(
    CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank,
    void *globalAddress, const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
    const int *pixelBoxLowerCorner, const int *pixelBoxUpperCorner, cuuint32_t channelsPerPixel,
    cuuint32_t pixelsPerColumn, const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill)
{
    static const int most[MAX_RANK + 1] = {[3] = 32767, [4] = 127, [5] = 15}; /* by rank */
    const struct tensor_shape shape = {tensorDataType, tensorRank,    (uintptr_t)globalAddress,
                                       globalDim,      globalStrides, elementStrides,
                                       interleave,     swizzle,       l2Promotion,
                                       oobFill};
    if (sim_current() == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (!shape_ok(tensorMap, &shape, 3) || pixelBoxLowerCorner == NULL ||
        pixelBoxUpperCorner == NULL || !inner_ok(&shape, channelsPerPixel) ||
        pixelsPerColumn > MAX_PIXELS) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct descriptor made = describe(&shape, IM2COL);
    made.box[0] = (uint16_t)channelsPerPixel;
    made.box[1] = (uint16_t)pixelsPerColumn;
    for (cuuint32_t i = 0; i + 2 < tensorRank; i++) {
        int lower = pixelBoxLowerCorner[i], upper = pixelBoxUpperCorner[i];
        if (lower < -most[tensorRank] - 1 || lower > most[tensorRank] ||
            upper < -most[tensorRank] - 1 || upper > most[tensorRank]) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        made.lower[i] = (int16_t)lower;
        made.upper[i] = (int16_t)upper;
    }
    memcpy(tensorMap, &made, sizeof made);
    return CUDA_SUCCESS;
}

CUresult sim_cuTensorMapReplaceAddress(CUtensorMap *tensorMap, void *globalAddress)
{
    struct descriptor made;
    if (sim_current() == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (tensorMap == NULL || (uintptr_t)tensorMap % ALIGNMENT != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    memcpy(&made, tensorMap, sizeof made);
    const struct tensor_shape shape = {.type = made.type, .interleave = made.interleave};
    if (made.magic != MAGIC || (uintptr_t)globalAddress % alignment_of(&shape) != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    made.address = (uintptr_t)globalAddress;
    memcpy(tensorMap, &made, sizeof made);
    return CUDA_SUCCESS;
}

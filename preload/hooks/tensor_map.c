/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks: descriptors of tensor maps are encoded, on the host. A descriptor is described once and known by
 * its 128 bytes from then on: programs encode equal ones again and again, and pass them to kernels by value.
 */
#include "preload/hooks/hook.h"
#include "preload/state/allocmap.h"
#include "preload/state/tensor_maps.h"

static void record(const struct gmt_hook_call *call, const CUtensorMap *made,
                   struct gmt_tensor_map map)
{
    struct gmt_allocation found;
    map.alloc = gmt_allocmap_find(map.address, &found) ? found.id : 0;
    struct gmt_encoding encoding = {.tensor_map = gmt_tensor_map_id_for(made, &map)};
    if (encoding.tensor_map == 0) {
        gmt_spool_loss("tensor map not described", "table full or no memory", 1);
    }
    gmt_hook_call_record_with(GMT_REC_ENCODE, call, 0, &encoding);
}

/* Arrays as they were given; NULL: the function has none. */
struct map_arrays {
    const cuuint64_t *dims, *strides;
    const cuuint32_t *box, *element_strides;
    const int *lower, *upper;
};

/* Of a call that has succeeded, so that all arrays have as many members as it needs. */
static void record_with(const struct gmt_hook_call *call, const CUtensorMap *made,
                        struct gmt_tensor_map map, struct map_arrays arrays)
{
    if (call->result != CUDA_SUCCESS || made == NULL || map.rank == 0 || arrays.dims == NULL ||
        arrays.element_strides == NULL || (arrays.strides == NULL && map.rank > 1)) {
        gmt_hook_call_record(GMT_REC_CALL, call, 0);
        return;
    }
    for (unsigned i = 0; i < map.rank; i++) {
        map.dims[i] = arrays.dims[i];
        map.element_strides[i] = arrays.element_strides[i];
        if (arrays.box != NULL) {
            map.box[i] = arrays.box[i];
        }
    }
    for (unsigned i = 0; i + 1u < map.rank; i++) {
        map.strides[i] = arrays.strides[i];
    }
    for (unsigned i = 0; arrays.lower != NULL && arrays.upper != NULL && i + 2u < map.rank; i++) {
        map.lower[i] = arrays.lower[i];
        map.upper[i] = arrays.upper[i];
    }
    record(call, made, map);
}

#define MAP(KIND, ...) \
    ((struct gmt_tensor_map){.kind = (KIND), \
                             .rank = (uint8_t)(rank <= 5 ? rank : 0), \
                             .address = (uint64_t)(uintptr_t)address, \
                             .data_type = (uint8_t)type, \
                             .interleave = (uint8_t)interleave, \
                             .swizzle = (uint8_t)swizzle, \
                             .l2_promotion = (uint8_t)promotion, \
                             .oob_fill = (uint8_t)fill, \
                             __VA_ARGS__})

GMT_DEFINE_HOOK(cuTensorMapEncodeTiled,
                (CUtensorMap * made, CUtensorMapDataType type, cuuint32_t rank, void *address,
                 const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box,
                 const cuuint32_t *element_strides, CUtensorMapInterleave interleave,
                 CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                 CUtensorMapFloatOOBfill fill),
                (made, type, rank, address, dims, strides, box, element_strides, interleave,
                 swizzle, promotion, fill),
                NULL, 0, (void)0,
                record_with(&call, made, MAP(GMT_MAP_TILED, ),
                            (struct map_arrays){.dims = dims,
                                                .strides = strides,
                                                .box = box,
                                                .element_strides = element_strides}))

GMT_DEFINE_HOOK(cuTensorMapEncodeIm2col,
                (CUtensorMap * made, CUtensorMapDataType type, cuuint32_t rank, void *address,
                 const cuuint64_t *dims, const cuuint64_t *strides, const int *lower,
                 const int *upper, cuuint32_t channels, cuuint32_t pixels,
                 const cuuint32_t *element_strides, CUtensorMapInterleave interleave,
                 CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                 CUtensorMapFloatOOBfill fill),
                (made, type, rank, address, dims, strides, lower, upper, channels, pixels,
                 element_strides, interleave, swizzle, promotion, fill),
                NULL, 0, (void)0,
                record_with(&call, made, MAP(GMT_MAP_IM2COL, .box = {channels, pixels}),
                            (struct map_arrays){.dims = dims,
                                                .strides = strides,
                                                .element_strides = element_strides,
                                                .lower = lower,
                                                .upper = upper}))

GMT_DEFINE_HOOK(cuTensorMapEncodeIm2colWide,
                (CUtensorMap * made, CUtensorMapDataType type, cuuint32_t rank, void *address,
                 const cuuint64_t *dims, const cuuint64_t *strides, int lower, int upper,
                 cuuint32_t channels, cuuint32_t pixels, const cuuint32_t *element_strides,
                 CUtensorMapInterleave interleave, CUtensorMapIm2ColWideMode mode,
                 CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                 CUtensorMapFloatOOBfill fill),
                (made, type, rank, address, dims, strides, lower, upper, channels, pixels,
                 element_strides, interleave, mode, swizzle, promotion, fill),
                NULL, 0, (void)0,
                record_with(&call, made,
                            MAP(GMT_MAP_IM2COL_WIDE, .box = {channels, pixels}, .lower = {lower},
                                .upper = {upper}, .wide_mode = (uint8_t)mode),
                            (struct map_arrays){.dims = dims,
                                                .strides = strides,
                                                .element_strides = element_strides}))

/* What a descriptor of these arguments describes at another address. */
static void record_replaced(const struct gmt_hook_call *call, const CUtensorMap *made,
                            uint32_t before, uint64_t address)
{
    if (call->result != CUDA_SUCCESS || before == 0) {
        gmt_hook_call_record(GMT_REC_CALL, call, 0);
        return;
    }
    struct gmt_tensor_map map = *gmt_tensor_map_of(before);
    map.address = address;
    record(call, made, map);
}

GMT_DEFINE_HOOK_SAVING(cuTensorMapReplaceAddress, uint32_t, (CUtensorMap * map, void *address),
                       (map, address), NULL, 0, *saved = gmt_tensor_map_id_at(map),
                       record_replaced(&call, map, *saved, (uint64_t)(uintptr_t)address))

/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks: arrays and mipmaps come to life and go. Their handle stands for the address. */
#include "preload/hooks/array.h"

#include <string.h>

#include "preload/hooks/alloc_record.h"
#include "preload/hooks/hook.h"

uint64_t gmt_array_channel_bytes(CUarray_format format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 4;
    default: return 0;
    }
}

static uint64_t at_least_one(uint64_t size)
{
    return size != 0 ? size : 1;
}

/* What the texels take, without the driver's padding; 0: not known, or nothing yet (sparse arrays and
 * those mapped later). */
static uint64_t level_bytes(const CUDA_ARRAY3D_DESCRIPTOR *shape, unsigned level)
{
    bool layered = (shape->Flags & CUDA_ARRAY3D_LAYERED) != 0;
    uint64_t depth = layered ? shape->Depth : shape->Depth >> level;
    if ((shape->Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING)) != 0) {
        return 0;
    }
    return gmt_array_channel_bytes(shape->Format) * shape->NumChannels *
           at_least_one(shape->Width >> level) * at_least_one(shape->Height >> level) *
           at_least_one(depth);
}

static void record(const struct gmt_hook_call *call, enum gmt_alloc_kind kind, const void *handle,
                   const CUDA_ARRAY3D_DESCRIPTOR *shape, unsigned levels)
{
    uint64_t bytes = 0;
    const void *created = NULL;
    if (call->result != CUDA_SUCCESS || handle == NULL || shape == NULL) {
        gmt_hook_call_record(GMT_REC_CALL, call, 0);
        return;
    }
    for (unsigned level = 0; level < levels && level < 32; level++) {
        bytes += level_bytes(shape, level);
    }
    memcpy(&created, handle, sizeof(created));
    gmt_alloc_record(call, kind, (uint64_t)(uintptr_t)created, bytes,
                     (struct gmt_alloc_shape){.width = shape->Width * shape->NumChannels *
                                                       gmt_array_channel_bytes(shape->Format),
                                              .height = at_least_one(shape->Height),
                                              .flags = shape->Flags,
                                              .is_handle = true});
    if ((shape->Flags & CUDA_ARRAY3D_SURFACE_LDST) != 0) {
        (void)gmt_allocmap_share((uint64_t)(uintptr_t)created, 1); /* by surfaces */
    }
}

static void record_2d(const struct gmt_hook_call *call, const CUarray *array,
                      const CUDA_ARRAY_DESCRIPTOR *flat)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = {0};
    if (flat != NULL) {
        shape = (CUDA_ARRAY3D_DESCRIPTOR){.Width = flat->Width,
                                          .Height = flat->Height,
                                          .Format = flat->Format,
                                          .NumChannels = flat->NumChannels};
    }
    record(call, GMT_ALLOC_ARRAY, array, flat != NULL ? &shape : NULL, 1);
}

GMT_DEFINE_HOOK(cuArrayCreate_v2, (CUarray * array, const CUDA_ARRAY_DESCRIPTOR *shape),
                (array, shape), NULL, 0, (void)0, record_2d(&call, array, shape))
GMT_DEFINE_HOOK(cuArray3DCreate_v2, (CUarray * array, const CUDA_ARRAY3D_DESCRIPTOR *shape),
                (array, shape), NULL, 0, (void)0, record(&call, GMT_ALLOC_ARRAY, array, shape, 1))
GMT_DEFINE_HOOK(cuMipmappedArrayCreate,
                (CUmipmappedArray * mipmap, const CUDA_ARRAY3D_DESCRIPTOR *shape, unsigned levels),
                (mipmap, shape, levels), NULL, 0, (void)0,
                record(&call, GMT_ALLOC_MIPMAP, mipmap, shape, levels))
GMT_DEFINE_HOOK(cuExternalMemoryGetMappedMipmappedArray,
                (CUmipmappedArray * mipmap, CUexternalMemory memory,
                 const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *description),
                (mipmap, memory, description), NULL, 0, (void)0,
                record(&call, GMT_ALLOC_MIPMAP, mipmap,
                       description != NULL ? &description->arrayDesc : NULL,
                       description != NULL ? description->numLevels : 0))

#define DESTROY(SYMBOL, TYPE) \
    GMT_DEFINE_HOOK_SAVING( \
        SYMBOL, struct gmt_freed, (TYPE handle), (handle), NULL, 0, \
        saved->known = gmt_alloc_begin_free((uint64_t)(uintptr_t)handle, &saved->gone), \
        gmt_alloc_record_free(&call, saved->known, &saved->gone))
DESTROY(cuArrayDestroy, CUarray)
DESTROY(cuMipmappedArrayDestroy, CUmipmappedArray)

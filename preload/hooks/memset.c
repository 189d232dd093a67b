/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks: memset. */
#include "preload/hooks/memset.h"

#include <string.h>

#include "preload/hooks/hook.h"
#include "preload/state/allocmap.h"

static void record(const struct gmt_hook_call *call, uint64_t dst, uint32_t value,
                   uint8_t element_bytes, uint64_t count)
{
    struct gmt_memset set = {.dst = dst, .value = value, .element_bytes = element_bytes};
    set.dst_class = (uint8_t)gmt_allocmap_class(dst, GMT_MEM_DEVICE, &set.dst_alloc);
    gmt_hook_call_record_with(GMT_REC_MEMSET, call, count * element_bytes, &set);
}

static void record_2d(const struct gmt_hook_call *call, uint64_t dst, uint64_t pitch,
                      uint32_t value, uint8_t element_bytes, uint64_t width, uint64_t height)
{
    struct gmt_memset set = {.dst = dst,
                             .value = value,
                             .element_bytes = element_bytes,
                             .pitch = pitch,
                             .width = width,
                             .height = height};
    set.dst_class = (uint8_t)gmt_allocmap_class(dst, GMT_MEM_DEVICE, &set.dst_alloc);
    gmt_hook_call_record_with(GMT_REC_MEMSET, call, width * height * element_bytes, &set);
}

#define SET(SYMBOL, TYPE, FLAGS) \
    GMT_DEFINE_HOOK(SYMBOL, (CUdeviceptr dst, TYPE value, size_t count), (dst, value, count), \
                    NULL, FLAGS, (void)0, record(&call, dst, value, sizeof(TYPE), count))
#define SET_ASYNC(SYMBOL, TYPE, FLAGS) \
    GMT_DEFINE_HOOK(SYMBOL, (CUdeviceptr dst, TYPE value, size_t count, CUstream stream), \
                    (dst, value, count, stream), stream, FLAGS, (void)0, \
                    record(&call, dst, value, sizeof(TYPE), count))
#define SET_2D(SYMBOL, TYPE, FLAGS) \
    GMT_DEFINE_HOOK(SYMBOL, \
                    (CUdeviceptr dst, size_t pitch, TYPE value, size_t width, size_t height), \
                    (dst, pitch, value, width, height), NULL, FLAGS, (void)0, \
                    record_2d(&call, dst, pitch, value, sizeof(TYPE), width, height))
#define SET_2D_ASYNC(SYMBOL, TYPE, FLAGS) \
    GMT_DEFINE_HOOK( \
        SYMBOL, \
        (CUdeviceptr dst, size_t pitch, TYPE value, size_t width, size_t height, CUstream stream), \
        (dst, pitch, value, width, height, stream), stream, FLAGS, (void)0, \
        record_2d(&call, dst, pitch, value, sizeof(TYPE), width, height))

/* The synchronous forms return before the device is done, except for pinned host memory. */
SET(cuMemsetD8_v2, unsigned char, 0)
SET(cuMemsetD8_v2_ptds, unsigned char, GMT_CALL_PER_THREAD)
SET(cuMemsetD16_v2, unsigned short, 0)
SET(cuMemsetD16_v2_ptds, unsigned short, GMT_CALL_PER_THREAD)
SET(cuMemsetD32_v2, unsigned int, 0)
SET(cuMemsetD32_v2_ptds, unsigned int, GMT_CALL_PER_THREAD)
SET_ASYNC(cuMemsetD8Async, unsigned char, 0)
SET_ASYNC(cuMemsetD8Async_ptsz, unsigned char, GMT_CALL_PER_THREAD)
SET_ASYNC(cuMemsetD16Async, unsigned short, 0)
SET_ASYNC(cuMemsetD16Async_ptsz, unsigned short, GMT_CALL_PER_THREAD)
SET_ASYNC(cuMemsetD32Async, unsigned int, 0)
SET_ASYNC(cuMemsetD32Async_ptsz, unsigned int, GMT_CALL_PER_THREAD)
SET_2D(cuMemsetD2D8_v2, unsigned char, 0)
SET_2D(cuMemsetD2D8_v2_ptds, unsigned char, GMT_CALL_PER_THREAD)
SET_2D(cuMemsetD2D16_v2, unsigned short, 0)
SET_2D(cuMemsetD2D16_v2_ptds, unsigned short, GMT_CALL_PER_THREAD)
SET_2D(cuMemsetD2D32_v2, unsigned int, 0)
SET_2D(cuMemsetD2D32_v2_ptds, unsigned int, GMT_CALL_PER_THREAD)
SET_2D_ASYNC(cuMemsetD2D8Async, unsigned char, 0)
SET_2D_ASYNC(cuMemsetD2D8Async_ptsz, unsigned char, GMT_CALL_PER_THREAD)
SET_2D_ASYNC(cuMemsetD2D16Async, unsigned short, 0)
SET_2D_ASYNC(cuMemsetD2D16Async_ptsz, unsigned short, GMT_CALL_PER_THREAD)
SET_2D_ASYNC(cuMemsetD2D32Async, unsigned int, 0)
SET_2D_ASYNC(cuMemsetD2D32Async_ptsz, unsigned int, GMT_CALL_PER_THREAD)

CUresult gmt_memset_step(const struct gmt_hook_call *graph, const CUDA_MEMSET_NODE_PARAMS *set)
{
    bool per_thread = (graph->flags & GMT_CALL_PER_THREAD) != 0;
    static const enum gmt_hook_id ids[][2] = {
        [1] = {GMT_HOOK_cuMemsetD2D8Async, GMT_HOOK_cuMemsetD2D8Async_ptsz},
        [2] = {GMT_HOOK_cuMemsetD2D16Async, GMT_HOOK_cuMemsetD2D16Async_ptsz},
        [4] = {GMT_HOOK_cuMemsetD2D32Async, GMT_HOOK_cuMemsetD2D32Async_ptsz},
    };
    struct gmt_hook_call call = {
        .id = ids[set->elementSize][per_thread],
        .flags = (graph->flags & GMT_CALL_PER_THREAD) | GMT_CALL_STEP,
        .stream = graph->stream,
        .at = graph->at,
    };
    /* One row may have any pitch in a node. */
    size_t height = set->height != 0 ? set->height : 1;
    size_t pitch = height > 1 ? set->pitch : set->width * set->elementSize;
    CUresult (*of_bytes)(CUdeviceptr, size_t, unsigned char, size_t, size_t, CUstream);
    CUresult (*of_halves)(CUdeviceptr, size_t, unsigned short, size_t, size_t, CUstream);
    CUresult (*of_words)(CUdeviceptr, size_t, unsigned int, size_t, size_t, CUstream);
    void *real = gmt_hook_find_real(call.id);
    if (real == NULL) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    call.begin_ticks = gmt_clock_ticks();
    if (set->elementSize == 1) {
        memcpy(&of_bytes, &real, sizeof(real));
        call.result = of_bytes(set->dst, pitch, (unsigned char)set->value, set->width, height,
                               graph->stream);
    } else if (set->elementSize == 2) {
        memcpy(&of_halves, &real, sizeof(real));
        call.result = of_halves(set->dst, pitch, (unsigned short)set->value, set->width, height,
                                graph->stream);
    } else {
        memcpy(&of_words, &real, sizeof(real));
        call.result = of_words(set->dst, pitch, set->value, set->width, height, graph->stream);
    }
    call.end_ticks = gmt_clock_ticks();
    record_2d(&call, set->dst, pitch, set->value, (uint8_t)set->elementSize, set->width, height);
    return call.result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks: memset. */
#include "preload/hooks/hook.h"
#include "preload/state/allocmap.h"

static void record(const struct gmt_site *site, uint64_t dst, uint32_t value, uint8_t element_bytes,
                   uint64_t count)
{
    struct gmt_memset set = {.dst = dst, .value = value, .element_bytes = element_bytes};
    set.dst_class = (uint8_t)gmt_allocmap_class(dst, GMT_MEM_DEVICE, &set.dst_alloc);
    gmt_site_record_with(GMT_REC_MEMSET, site, count * element_bytes, &set);
}

static void record_2d(const struct gmt_site *site, uint64_t dst, uint64_t pitch, uint32_t value,
                      uint8_t element_bytes, uint64_t width, uint64_t height)
{
    struct gmt_memset set = {.dst = dst,
                             .value = value,
                             .element_bytes = element_bytes,
                             .pitch = pitch,
                             .width = width,
                             .height = height};
    set.dst_class = (uint8_t)gmt_allocmap_class(dst, GMT_MEM_DEVICE, &set.dst_alloc);
    gmt_site_record_with(GMT_REC_MEMSET, site, width * height * element_bytes, &set);
}

#define SET(SYMBOL, TYPE, FLAGS) \
    GMT_DEFINE_HOOK(SYMBOL, (CUdeviceptr dst, TYPE value, size_t count), (dst, value, count), \
                    NULL, FLAGS, (void)0, record(&site, dst, value, sizeof(TYPE), count))
#define SET_ASYNC(SYMBOL, TYPE, FLAGS) \
    GMT_DEFINE_HOOK(SYMBOL, (CUdeviceptr dst, TYPE value, size_t count, CUstream stream), \
                    (dst, value, count, stream), stream, FLAGS, (void)0, \
                    record(&site, dst, value, sizeof(TYPE), count))
#define SET_2D(SYMBOL, TYPE, FLAGS) \
    GMT_DEFINE_HOOK(SYMBOL, \
                    (CUdeviceptr dst, size_t pitch, TYPE value, size_t width, size_t height), \
                    (dst, pitch, value, width, height), NULL, FLAGS, (void)0, \
                    record_2d(&site, dst, pitch, value, sizeof(TYPE), width, height))
#define SET_2D_ASYNC(SYMBOL, TYPE, FLAGS) \
    GMT_DEFINE_HOOK( \
        SYMBOL, \
        (CUdeviceptr dst, size_t pitch, TYPE value, size_t width, size_t height, CUstream stream), \
        (dst, pitch, value, width, height, stream), stream, FLAGS, (void)0, \
        record_2d(&site, dst, pitch, value, sizeof(TYPE), width, height))

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

/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks: memory comes to life and goes, on the device and page-locked on the host. */
#include "preload/hooks/alloc_record.h"
#include "preload/hooks/hook.h"
#include "preload/hooks/pool.h"
#include "preload/repeat/repeat.h"

static uint64_t pointer_at(void *const *address, CUresult result)
{
    return result == CUDA_SUCCESS && address != NULL ? (uint64_t)(uintptr_t)*address : 0;
}

#define ALLOC_AFTER(BEFORE, SYMBOL, KIND, PARAMETERS, ARGUMENTS, STREAM, FLAGS, ADDRESS, BYTES, \
                    ...) \
    GMT_DEFINE_HOOK( \
        SYMBOL, PARAMETERS, ARGUMENTS, STREAM, FLAGS, BEFORE, \
        gmt_alloc_record(&call, KIND, ADDRESS, BYTES, (struct gmt_alloc_shape){__VA_ARGS__}))

#define ALLOC(...) ALLOC_AFTER((void)0, __VA_ARGS__)
#define ALLOC_DEVICE(BYTES, ...) ALLOC_AFTER(gmt_repeat_make_room(BYTES), __VA_ARGS__)

#define FREE(SYMBOL, PARAMETERS, ARGUMENTS, STREAM, FLAGS, ADDRESS) \
    GMT_DEFINE_HOOK_SAVING(SYMBOL, struct gmt_freed, PARAMETERS, ARGUMENTS, STREAM, FLAGS, \
                           saved->known = gmt_alloc_begin_free(ADDRESS, &saved->gone), \
                           gmt_alloc_record_free(&call, saved->known, &saved->gone))

ALLOC_DEVICE(bytes, cuMemAlloc_v2, GMT_ALLOC_DEVICE, (CUdeviceptr * address, size_t bytes),
             (address, bytes), NULL, 0, gmt_alloc_value_at(address, call.result), bytes, 0)

/* A failed call returns no pitch: the width that was asked for is the least. */
static uint64_t pitched_bytes(const size_t *pitch, size_t width, size_t height, CUresult result)
{
    return (result == CUDA_SUCCESS && pitch != NULL ? *pitch : width) * height;
}

ALLOC_DEVICE(width *height, cuMemAllocPitch_v2, GMT_ALLOC_PITCHED,
             (CUdeviceptr * address, size_t *pitch, size_t width, size_t height,
              unsigned element_bytes),
             (address, pitch, width, height, element_bytes), NULL, 0,
             gmt_alloc_value_at(address, call.result),
             pitched_bytes(pitch, width, height, call.result),
             .pitch = pitched_bytes(pitch, 0, 1, call.result), .width = width, .height = height)
ALLOC(cuMemAllocManaged, GMT_ALLOC_MANAGED, (CUdeviceptr * address, size_t bytes, unsigned flags),
      (address, bytes, flags), NULL, 0, gmt_alloc_value_at(address, call.result), bytes,
      .flags = flags)
ALLOC_DEVICE(bytes, cuMemAllocAsync, GMT_ALLOC_ASYNC,
             (CUdeviceptr * address, size_t bytes, CUstream stream), (address, bytes, stream),
             stream, 0, gmt_alloc_value_at(address, call.result), bytes, 0)
ALLOC_DEVICE(bytes, cuMemAllocAsync_ptsz, GMT_ALLOC_ASYNC,
             (CUdeviceptr * address, size_t bytes, CUstream stream), (address, bytes, stream),
             stream, GMT_CALL_PER_THREAD, gmt_alloc_value_at(address, call.result), bytes, 0)
ALLOC_DEVICE(bytes, cuMemAllocFromPoolAsync,
             gmt_pool_kind(pool, gmt_alloc_value_at(address, call.result)),
             (CUdeviceptr * address, size_t bytes, CUmemoryPool pool, CUstream stream),
             (address, bytes, pool, stream), stream, 0, gmt_alloc_value_at(address, call.result),
             bytes, .pool = (uint64_t)(uintptr_t)pool)
ALLOC_DEVICE(bytes, cuMemAllocFromPoolAsync_ptsz,
             gmt_pool_kind(pool, gmt_alloc_value_at(address, call.result)),
             (CUdeviceptr * address, size_t bytes, CUmemoryPool pool, CUstream stream),
             (address, bytes, pool, stream), stream, GMT_CALL_PER_THREAD,
             gmt_alloc_value_at(address, call.result), bytes, .pool = (uint64_t)(uintptr_t)pool)
ALLOC(cuMemAllocHost_v2, GMT_ALLOC_HOST, (void **address, size_t bytes), (address, bytes), NULL, 0,
      pointer_at(address, call.result), bytes, 0)
ALLOC(cuMemHostAlloc, GMT_ALLOC_HOST, (void **address, size_t bytes, unsigned flags),
      (address, bytes, flags), NULL, 0, pointer_at(address, call.result), bytes, .flags = flags)
ALLOC(cuMemHostRegister, GMT_ALLOC_REGISTERED, (void *address, size_t bytes, unsigned flags),
      (address, bytes, flags), NULL, 0, (uint64_t)(uintptr_t)address, bytes, .flags = flags)
ALLOC(cuMemHostRegister_v2, GMT_ALLOC_REGISTERED, (void *address, size_t bytes, unsigned flags),
      (address, bytes, flags), NULL, 0, (uint64_t)(uintptr_t)address, bytes, .flags = flags)

FREE(cuMemFree_v2, (CUdeviceptr address), (address), NULL, 0, address)
FREE(cuMemFreeAsync, (CUdeviceptr address, CUstream stream), (address, stream), stream, 0, address)
FREE(cuMemFreeAsync_ptsz, (CUdeviceptr address, CUstream stream), (address, stream), stream,
     GMT_CALL_PER_THREAD, address)
FREE(cuMemFreeHost, (void *address), (address), NULL, 0, (uint64_t)(uintptr_t)address)
FREE(cuMemHostUnregister, (void *address), (address), NULL, 0, (uint64_t)(uintptr_t)address)

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pinned-cache (GM207): page-locked memory of cuMemAllocHost and cuMemHostAlloc that the program frees is kept, and is what an allocation of
 * equal size by the same function with equal flags in the same context gets, in place of new memory.
 *
 * What is kept is what block_cache.c states; freeing waits for all work of the context there as well. Besides:
 * - New pages are zero: kept memory is set to zero when it is handed out (clear=0: it is not, as no document promises it).
 * - Memory that the program registers (cuMemHostRegister) is its own, and never kept: after free() and malloc() of the same address the device
 *   would use other pages.
 * - An access of the host to memory that it has freed does not end the program; nor does one of a device or of a read() that is
 *   still under way then and that CUDA does not know of: it reaches what has the memory next.
 *
 * Conditions are those of block_cache.c, too.
 */
#include <assert.h>
#include <cuda.h>
#include <stdint.h>

#include "preload/apply/cache.h"
#include "preload/apply/calls.h"
#include "preload/apply/state.h"

static void *real[GMT_HOOK_COUNT];

static CUresult pass_plain(const struct gmt_cache_call *call)
{
    return ((CUresult(*)(void **, size_t))real[GMT_HOOK_cuMemAllocHost_v2])((void **)call->out,
                                                                            call->bytes);
}

static CUresult cache_cuMemAllocHost_v2(void **address, size_t bytes)
{
    static_assert(sizeof(*address) == sizeof(uint64_t), "an address has 64 bits");
    const struct gmt_cache_call call = {.kind = GMT_BLOCK_LOCKED,
                                        .out = (uint64_t *)address,
                                        .bytes = bytes,
                                        .flags = GMT_BLOCK_PLAIN,
                                        .pass = pass_plain};
    return gmt_cache_allocate(&call);
}

static CUresult pass_alloc(const struct gmt_cache_call *call)
{
    return ((CUresult(*)(void **, size_t, unsigned))real[GMT_HOOK_cuMemHostAlloc])(
        (void **)call->out, call->bytes, call->flags);
}

static CUresult cache_cuMemHostAlloc(void **address, size_t bytes, unsigned flags)
{
    const struct gmt_cache_call call = {.kind = GMT_BLOCK_LOCKED,
                                        .out = (uint64_t *)address,
                                        .bytes = bytes,
                                        .flags = flags,
                                        .pass = pass_alloc};
    return gmt_cache_allocate(&call);
}

static CUresult pass_free(const struct gmt_cache_call *call)
{
    return ((CUresult(*)(void *))real[GMT_HOOK_cuMemFreeHost])((void *)(uintptr_t)call->address);
}

static CUresult cache_cuMemFreeHost(void *address)
{
    const struct gmt_cache_call call = {
        .kind = GMT_BLOCK_LOCKED, .address = (uint64_t)(uintptr_t)address, .pass = pass_free};
    return gmt_cache_free(&call);
}

#define REPLACED(SYMBOL) \
    gmt_apply_replace(GMT_HOOK_##SYMBOL, (void *)cache_##SYMBOL, &real[GMT_HOOK_##SYMBOL])

void gmt_apply_install_pinned_cache(void)
{
    REPLACED(cuMemAllocHost_v2);
    REPLACED(cuMemHostAlloc);
    REPLACED(cuMemFreeHost);
}

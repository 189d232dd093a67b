/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block-cache (GM201): device memory of cuMemAlloc that the program frees is kept, and is what an allocation of equal size in the same
 * context gets, in place of new memory.
 *
 * What is kept, as CUDA documents it:
 * - Freeing waits for all work of the context. Where that work failed it is the driver that frees, and returns the error.
 * - The address, its range and its attributes are those of an allocation of that size; its content is undefined, as that of new
 *   memory is. The identity (CU_POINTER_ATTRIBUTE_BUFFER_ID) is the one of before, so a block that the program has asked it
 *   of is not kept; nor is one with an IPC handle, a handle for other devices on the bus, or an attribute that was set.
 * - Memory that was freed is not there: whoever names an address in it (another free, a question, a copy, a memset, an IPC handle)
 *   makes it go back to the driver first, which then answers. Kernels, batches and nodes of graphs that use it are not noticed.
 * - All goes back before cuMemGetInfo answers and before the program learns that there is no memory: the call is made again then.
 *   Giving back waits for the device; where it has work for more than 100 ms, cuMemGetInfo counts what is kept as free instead.
 *   Other processes, and NVML, see memory that is kept as used.
 *
 * Conditions; in doubt the call passes unchanged:
 * - the block has min_bytes, was allocated by cuMemAlloc in a call that was seen, and is the same allocation still, by its
 *   identity and range. Memory of pools, managed, pitched and mapped memory are never kept;
 * - its context is current and the only one of the process: so there is no peer access, and no other context uses it;
 * - no stream of the process is being captured.
 */
#include <assert.h>
#include <cuda.h>
#include <stdint.h>

#include "preload/apply/cache.h"
#include "preload/apply/calls.h"
#include "preload/apply/state.h"

static void *real[GMT_HOOK_COUNT];

static CUresult pass_alloc(const struct gmt_cache_call *call)
{
    return ((CUresult(*)(CUdeviceptr *, size_t))real[GMT_HOOK_cuMemAlloc_v2])(
        (CUdeviceptr *)call->out, call->bytes);
}

static CUresult cache_cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
    static_assert(sizeof(*address) == sizeof(uint64_t), "an address has 64 bits");
    const struct gmt_cache_call call = {.kind = GMT_BLOCK_DEVICE,
                                        .out = (uint64_t *)address,
                                        .bytes = bytes,
                                        .flags = GMT_BLOCK_PLAIN,
                                        .pass = pass_alloc};
    return gmt_cache_allocate(&call);
}

static CUresult pass_free(const struct gmt_cache_call *call)
{
    return ((CUresult(*)(CUdeviceptr))real[GMT_HOOK_cuMemFree_v2])(call->address);
}

static CUresult cache_cuMemFree_v2(CUdeviceptr address)
{
    const struct gmt_cache_call call = {
        .kind = GMT_BLOCK_DEVICE, .address = address, .pass = pass_free};
    return gmt_cache_free(&call);
}

#define REPLACED(SYMBOL) \
    gmt_apply_replace(GMT_HOOK_##SYMBOL, (void *)cache_##SYMBOL, &real[GMT_HOOK_##SYMBOL])

void gmt_apply_install_block_cache(void)
{
    REPLACED(cuMemAlloc_v2);
    REPLACED(cuMemFree_v2);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks: memory pools, and prefetches and discards in batches. */
#include "preload/hooks/pool.h"

#include <string.h>

#include "preload/driver/resolve.h"
#include "preload/hooks/alloc_record.h"
#include "preload/hooks/hook.h"
#include "preload/state/hazards.h"

#define CALL(SYMBOL, PARAMETERS, ARGUMENTS, STREAM, FLAGS, BYTES) \
    GMT_DEFINE_HOOK(SYMBOL, PARAMETERS, ARGUMENTS, STREAM, FLAGS, (void)0, \
                    gmt_hook_call_record(GMT_REC_CALL, &call, BYTES))
#define BOTH GMT_CALL_PER_THREAD

/* The driver is asked once for a pool: programs allocate from few, and often. */
#define POOLS 64u
static struct {
    _Atomic uintptr_t pool; /* 0: free */
    _Atomic uint8_t kind;
} kinds[POOLS];

static enum gmt_alloc_kind ask_kind(uint64_t address)
{
    unsigned type = 0, managed = 0;
    if (gmt_driver.cuPointerGetAttribute == NULL ||
        gmt_driver.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) !=
            CUDA_SUCCESS) {
        return GMT_ALLOC_POOL;
    }
    (void)gmt_driver.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address);
    return managed != 0                 ? GMT_ALLOC_MANAGED
           : type == CU_MEMORYTYPE_HOST ? GMT_ALLOC_HOST
                                        : GMT_ALLOC_POOL;
}

enum gmt_alloc_kind gmt_pool_kind(CUmemoryPool pool, uint64_t address)
{
    unsigned at = (unsigned)(((uintptr_t)pool * UINT64_C(0x9e3779b97f4a7c15)) >> 32) % POOLS;
    if (address == 0 || gmt_captures != 0) {
        return GMT_ALLOC_POOL; /* nothing to ask about, or nothing may be asked */
    }
    if (kinds[at].pool == (uintptr_t)pool) {
        enum gmt_alloc_kind known = (enum gmt_alloc_kind)kinds[at].kind;
        if (kinds[at].pool ==
            (uintptr_t)pool) { /* still: nobody has just given the place to another */
            return known;
        }
    }
    enum gmt_alloc_kind kind = ask_kind(address);
    kinds[at].pool = 0;
    kinds[at].kind = (uint8_t)kind;
    kinds[at].pool = (uintptr_t)pool;
    return kind;
}

/* Its handle may come back as another pool. */
static void forget_kind(CUmemoryPool pool)
{
    for (unsigned i = 0; i < POOLS; i++) {
        uintptr_t known = (uintptr_t)pool;
        (void)atomic_compare_exchange_strong(&kinds[i].pool, &known, 0);
    }
}

GMT_DEFINE_HOOK(cuMemPoolDestroy, (CUmemoryPool pool), (pool), NULL, 0, forget_kind(pool),
                gmt_hook_call_record(GMT_REC_CALL, &call, 0))

/* What addresses of 57 bits reach: more bytes a trace does not hold (GMT_BYTES_MOST). */
#define BYTES_MOST (UINT64_C(1) << 57)

/* Of the attributes only the release threshold is a number of bytes; NCCL's is the largest number: to keep all there is. */
static uint64_t attribute_bytes(CUmemPool_attribute attribute, const void *value, CUresult result)
{
    cuuint64_t bytes = 0;
    if (result == CUDA_SUCCESS && value != NULL && attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
        memcpy(&bytes, value, sizeof(bytes));
    }
    return bytes < BYTES_MOST ? bytes : BYTES_MOST;
}

CALL(cuMemPoolSetAttribute, (CUmemoryPool pool, CUmemPool_attribute attribute, void *value),
     (pool, attribute, value), NULL, 0, attribute_bytes(attribute, value, call.result))

/* What is allocated in another context is known by that (hazards.h). */
GMT_DEFINE_HOOK(cuMemPoolSetAccess,
                (CUmemoryPool pool, const CUmemAccessDesc *access, size_t count),
                (pool, access, count), NULL, 0, (void)0, {
                    if (gmt_access_of_others(&call, access, count)) {
                        gmt_hazards_opened(
                            &call, "pools that several devices can use (cuMemPoolSetAccess)");
                    }
                    gmt_hook_call_record(GMT_REC_CALL, &call, 0);
                })

GMT_DEFINE_HOOK(cuMemPoolExportPointer, (CUmemPoolPtrExportData * exported, CUdeviceptr address),
                (exported, address), NULL, 0, (void)0, {
                    gmt_hazards_exported(&call, address, 1);
                    gmt_hook_call_record(GMT_REC_CALL, &call, 0);
                    gmt_alloc_record_export(&call, exported, sizeof(*exported), address);
                })

GMT_DEFINE_HOOK(cuMemPoolImportPointer,
                (CUdeviceptr * address, CUmemoryPool pool, CUmemPoolPtrExportData *exported),
                (address, pool, exported), NULL, 0, (void)0, {
                    gmt_hazards_opened(&call, "memory of other processes (cuMemPoolImport...)");
                    uint64_t base = gmt_alloc_value_at(address, call.result);
                    gmt_alloc_record(
                        &call, GMT_ALLOC_IPC, base, gmt_alloc_bytes_at(base),
                        (struct gmt_alloc_shape){.pool = (uint64_t)(uintptr_t)pool,
                                                 .handle_hash = gmt_alloc_handle_hash(
                                                     &call, exported, sizeof(*exported))});
                })

/* ---- prefetch and discard in batches: calls with the bytes they are about ----------------------- */

static uint64_t sum(const size_t *sizes, size_t count, CUresult result)
{
    uint64_t bytes = 0;
    for (size_t i = 0; result == CUDA_SUCCESS && sizes != NULL && i < count; i++) {
        bytes += sizes[i];
    }
    return bytes;
}

#define PREFETCH_BATCH(SYMBOL, FLAGS) \
    CALL(SYMBOL, \
         (CUdeviceptr * addresses, size_t * sizes, size_t count, CUmemLocation * locations, \
          size_t * indexes, size_t location_count, unsigned long long flags, CUstream stream), \
         (addresses, sizes, count, locations, indexes, location_count, flags, stream), stream, \
         FLAGS, sum(sizes, count, call.result))
#define DISCARD_BATCH(SYMBOL, FLAGS) \
    CALL(SYMBOL, \
         (CUdeviceptr * addresses, size_t * sizes, size_t count, unsigned long long flags, \
          CUstream stream), \
         (addresses, sizes, count, flags, stream), stream, FLAGS, sum(sizes, count, call.result))
PREFETCH_BATCH(cuMemPrefetchBatchAsync, 0)
PREFETCH_BATCH(cuMemPrefetchBatchAsync_ptsz, BOTH)
PREFETCH_BATCH(cuMemDiscardAndPrefetchBatchAsync, 0)
PREFETCH_BATCH(cuMemDiscardAndPrefetchBatchAsync_ptsz, BOTH)
DISCARD_BATCH(cuMemDiscardBatchAsync, 0)
DISCARD_BATCH(cuMemDiscardBatchAsync_ptsz, BOTH)

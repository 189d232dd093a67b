/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks: memory and events of other processes and of other APIs. */
#include "preload/hooks/alloc_record.h"
#include "preload/hooks/hook.h"
#include "preload/state/hazards.h"

/* ---- between processes ------------------------------------------------------------------------ */

GMT_DEFINE_HOOK(cuIpcGetMemHandle, (CUipcMemHandle * handle, CUdeviceptr address),
                (handle, address), NULL, 0, (void)0, {
                    gmt_hazards_exported(&call, address, 1);
                    gmt_hook_call_record(GMT_REC_CALL, &call, 0);
                    gmt_alloc_record_export(&call, handle, sizeof(*handle), address);
                })

/* Opening the same handle again gives the same address: one allocation, until the last one is closed. */
static void record_open(const struct gmt_hook_call *call, const CUdeviceptr *address,
                        const CUipcMemHandle *handle)
{
    uint64_t base = gmt_alloc_value_at(address, call->result);
    struct gmt_allocation known;
    if (base != 0 && gmt_allocmap_find(base, &known) && known.base == base) {
        gmt_hook_call_record(GMT_REC_CALL, call, known.bytes);
        return;
    }
    gmt_alloc_record(call, GMT_ALLOC_IPC, base, gmt_alloc_bytes_at(base),
                     (struct gmt_alloc_shape){
                         .handle_hash = gmt_alloc_handle_hash(call, handle, sizeof(*handle))});
}

#define OPEN(SYMBOL) \
    GMT_DEFINE_HOOK(SYMBOL, (CUdeviceptr * address, CUipcMemHandle handle, unsigned flags), \
                    (address, handle, flags), NULL, 0, (void)0, { \
                        gmt_hazards_opened(&call, \
                                           "memory of other processes (cuIpcOpenMemHandle)"); \
                        record_open(&call, address, &handle); \
                    })
OPEN(cuIpcOpenMemHandle)
OPEN(cuIpcOpenMemHandle_v2)

static void record_close(const struct gmt_hook_call *call, bool known,
                         const struct gmt_allocation *gone)
{
    if (known && call->result == CUDA_SUCCESS && gmt_alloc_bytes_at(gone->base) != 0) {
        gmt_allocmap_restore(gone); /* opened once more: it is still there */
        gmt_hook_call_record(GMT_REC_CALL, call, gone->bytes);
        return;
    }
    gmt_alloc_record_free(call, known, gone);
}

GMT_DEFINE_HOOK_SAVING(cuIpcCloseMemHandle, struct gmt_freed, (CUdeviceptr address), (address),
                       NULL, 0, saved->known = gmt_alloc_begin_free(address, &saved->gone),
                       record_close(&call, saved->known, &saved->gone))

/* ---- of other APIs: a mapped buffer goes with cuMemFree ---------------------------------------- */

GMT_DEFINE_HOOK(cuImportExternalMemory,
                (CUexternalMemory * memory, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *description),
                (memory, description), NULL, 0, (void)0,
                gmt_hook_call_record(GMT_REC_CALL, &call,
                                     call.result == CUDA_SUCCESS && description != NULL
                                         ? description->size
                                         : 0))
GMT_DEFINE_HOOK(cuExternalMemoryGetMappedBuffer,
                (CUdeviceptr * address, CUexternalMemory memory,
                 const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *description),
                (address, memory, description), NULL, 0, (void)0,
                gmt_alloc_record(&call, GMT_ALLOC_EXTERNAL,
                                 gmt_alloc_value_at(address, call.result),
                                 description != NULL ? description->size : 0,
                                 (struct gmt_alloc_shape){0}))

/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks: memory and events of other processes and of other APIs. */
#include "preload/hooks/alloc_record.h"
#include "preload/hooks/hook.h"
#include "preload/state/hazards.h"

#define CALL(SYMBOL, PARAMETERS, ARGUMENTS, STREAM, FLAGS, BYTES) \
    GMT_DEFINE_HOOK(SYMBOL, PARAMETERS, ARGUMENTS, STREAM, FLAGS, (void)0, \
                    gmt_site_record(GMT_REC_CALL, &site, BYTES))

/* ---- between processes ------------------------------------------------------------------------ */

GMT_DEFINE_HOOK(cuIpcGetMemHandle, (CUipcMemHandle * handle, CUdeviceptr address),
                (handle, address), NULL, 0, (void)0, {
                    gmt_hazards_exported(&site);
                    gmt_site_record(GMT_REC_CALL, &site, 0);
                })
CALL(cuIpcGetEventHandle, (CUipcEventHandle * handle, CUevent event), (handle, event), NULL, 0, 0)

GMT_DEFINE_HOOK(cuIpcOpenEventHandle, (CUevent * event, CUipcEventHandle handle), (event, handle),
                NULL, 0, (void)0, {
                    gmt_hazards_opened(&site, "events of other processes (cuIpcOpenEventHandle)");
                    gmt_site_record(GMT_REC_CALL, &site, 0);
                })

/* Opening the same handle again gives the same address: one allocation, until the last one is closed. */
static void record_open(const struct gmt_site *site, const CUdeviceptr *address)
{
    uint64_t base = gmt_alloc_value_at(address, site->result);
    struct gmt_allocation known;
    if (base != 0 && gmt_allocmap_find(base, &known) && known.base == base) {
        gmt_site_record(GMT_REC_CALL, site, known.bytes);
        return;
    }
    gmt_alloc_record(site, GMT_ALLOC_IPC, base, gmt_alloc_bytes_at(base),
                     (struct gmt_alloc_shape){0});
}

#define OPEN(SYMBOL) \
    GMT_DEFINE_HOOK(SYMBOL, (CUdeviceptr * address, CUipcMemHandle handle, unsigned flags), \
                    (address, handle, flags), NULL, 0, (void)0, { \
                        gmt_hazards_opened(&site, \
                                           "memory of other processes (cuIpcOpenMemHandle)"); \
                        record_open(&site, address); \
                    })
OPEN(cuIpcOpenMemHandle)
OPEN(cuIpcOpenMemHandle_v2)

static void record_close(const struct gmt_site *site, bool known, const struct gmt_allocation *gone)
{
    if (known && site->result == CUDA_SUCCESS && gmt_alloc_bytes_at(gone->base) != 0) {
        gmt_allocmap_restore(gone); /* opened once more: it is still there */
        gmt_site_record(GMT_REC_CALL, site, gone->bytes);
        return;
    }
    gmt_alloc_record_free(site, known, gone);
}

GMT_DEFINE_HOOK_KEEPING(cuIpcCloseMemHandle, struct gmt_freed, (CUdeviceptr address), (address),
                        NULL, 0, kept->known = gmt_alloc_begin_free(address, &kept->gone),
                        record_close(&site, kept->known, &kept->gone))

/* ---- of other APIs: a mapped buffer goes with cuMemFree ---------------------------------------- */

CALL(cuImportExternalMemory,
     (CUexternalMemory * memory, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *description),
     (memory, description), NULL, 0,
     site.result == CUDA_SUCCESS && description != NULL ? description->size : 0)
CALL(cuDestroyExternalMemory, (CUexternalMemory memory), (memory), NULL, 0, 0)
GMT_DEFINE_HOOK(cuExternalMemoryGetMappedBuffer,
                (CUdeviceptr * address, CUexternalMemory memory,
                 const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *description),
                (address, memory, description), NULL, 0, (void)0,
                gmt_alloc_record(&site, GMT_ALLOC_EXTERNAL,
                                 gmt_alloc_value_at(address, site.result),
                                 description != NULL ? description->size : 0,
                                 (struct gmt_alloc_shape){0}))
CALL(cuImportExternalSemaphore,
     (CUexternalSemaphore * semaphore, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *description),
     (semaphore, description), NULL, 0, 0)
CALL(cuDestroyExternalSemaphore, (CUexternalSemaphore semaphore), (semaphore), NULL, 0, 0)

#define SIGNAL(SYMBOL, FLAGS) \
    CALL(SYMBOL, \
         (const CUexternalSemaphore *semaphores, \
          const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *parameters, unsigned count, \
          CUstream stream), \
         (semaphores, parameters, count, stream), stream, FLAGS, 0)
SIGNAL(cuSignalExternalSemaphoresAsync, 0)
SIGNAL(cuSignalExternalSemaphoresAsync_ptsz, GMT_CALL_PER_THREAD)

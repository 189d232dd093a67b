/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks: memory that is mapped or written in ways of its own (multicast, sparse arrays, graphics,
 * values written by a stream, decompression): calls with their bytes.
 */
#include "preload/hooks/hook.h"
#include "preload/state/hazards.h"

#define CALL(SYMBOL, PARAMETERS, ARGUMENTS, STREAM, FLAGS, BYTES) \
    GMT_DEFINE_HOOK(SYMBOL, PARAMETERS, ARGUMENTS, STREAM, FLAGS, (void)0, \
                    gmt_hook_call_record(GMT_REC_CALL, &call, BYTES))

/* ---- one address for the memory of many devices ------------------------------------------------- */

#define MULTICAST(SYMBOL, PARAMETERS, ARGUMENTS, BYTES) \
    GMT_DEFINE_HOOK(SYMBOL, PARAMETERS, ARGUMENTS, NULL, 0, (void)0, { \
        gmt_hazards_opened(&call, "multicast memory"); \
        gmt_hook_call_record(GMT_REC_CALL, &call, BYTES); \
    })
MULTICAST(cuMulticastCreate,
          (CUmemGenericAllocationHandle * handle, const CUmulticastObjectProp *properties),
          (handle, properties), properties != NULL ? properties->size : 0)
MULTICAST(cuMulticastAddDevice, (CUmemGenericAllocationHandle handle, CUdevice device),
          (handle, device), 0)
MULTICAST(cuMulticastBindMem,
          (CUmemGenericAllocationHandle handle, size_t offset, CUmemGenericAllocationHandle memory,
           size_t memory_offset, size_t bytes, unsigned long long flags),
          (handle, offset, memory, memory_offset, bytes, flags), bytes)
MULTICAST(cuMulticastBindAddr,
          (CUmemGenericAllocationHandle handle, size_t offset, CUdeviceptr memory, size_t bytes,
           unsigned long long flags),
          (handle, offset, memory, bytes, flags), bytes)
CALL(cuMulticastUnbind,
     (CUmemGenericAllocationHandle handle, CUdevice device, size_t offset, size_t bytes),
     (handle, device, offset, bytes), NULL, 0, bytes)

/* ---- sparse arrays ---------------------------------------------------------------------------- */

#define MAP_ARRAY(SYMBOL, FLAGS) \
    CALL(SYMBOL, (CUarrayMapInfo * list, unsigned count, CUstream stream), (list, count, stream), \
         stream, FLAGS, 0)
MAP_ARRAY(cuMemMapArrayAsync, 0)
MAP_ARRAY(cuMemMapArrayAsync_ptsz, GMT_CALL_PER_THREAD)

/* ---- of graphics: mapped until they are unmapped ------------------------------------------------ */

#define RESOURCES(SYMBOL, FLAGS) \
    CALL(SYMBOL, (unsigned count, CUgraphicsResource *resources, CUstream stream), \
         (count, resources, stream), stream, FLAGS, 0)
/* What a kernel writes there is shown by others, and may be an array that no hook sees. */
#define MAP_RESOURCES(SYMBOL, FLAGS) \
    GMT_DEFINE_HOOK(SYMBOL, (unsigned count, CUgraphicsResource *resources, CUstream stream), \
                    (count, resources, stream), stream, FLAGS, (void)0, { \
                        gmt_hazards_exported(&call); \
                        gmt_hook_call_record(GMT_REC_CALL, &call, 0); \
                    })
MAP_RESOURCES(cuGraphicsMapResources, 0)
MAP_RESOURCES(cuGraphicsMapResources_ptsz, GMT_CALL_PER_THREAD)
RESOURCES(cuGraphicsUnmapResources, 0)
RESOURCES(cuGraphicsUnmapResources_ptsz, GMT_CALL_PER_THREAD)
CALL(cuGraphicsResourceGetMappedPointer_v2,
     (CUdeviceptr * address, size_t *bytes, CUgraphicsResource resource),
     (address, bytes, resource), NULL, 0, call.result == CUDA_SUCCESS && bytes != NULL ? *bytes : 0)
CALL(cuGraphicsResourceGetMappedMipmappedArray,
     (CUmipmappedArray * mipmap, CUgraphicsResource resource), (mipmap, resource), NULL, 0, 0)

/* ---- written neither by a copy nor by a kernel -------------------------------------------------- */

#define WRITE_VALUE(SYMBOL, TYPE, FLAGS) \
    CALL(SYMBOL, (CUstream stream, CUdeviceptr address, TYPE value, unsigned flags), \
         (stream, address, value, flags), stream, FLAGS, sizeof(TYPE))
WRITE_VALUE(cuStreamWriteValue32, cuuint32_t, 0)
WRITE_VALUE(cuStreamWriteValue32_ptsz, cuuint32_t, GMT_CALL_PER_THREAD)
WRITE_VALUE(cuStreamWriteValue32_v2, cuuint32_t, 0)
WRITE_VALUE(cuStreamWriteValue32_v2_ptsz, cuuint32_t, GMT_CALL_PER_THREAD)
WRITE_VALUE(cuStreamWriteValue64, cuuint64_t, 0)
WRITE_VALUE(cuStreamWriteValue64_ptsz, cuuint64_t, GMT_CALL_PER_THREAD)
WRITE_VALUE(cuStreamWriteValue64_v2, cuuint64_t, 0)
WRITE_VALUE(cuStreamWriteValue64_v2_ptsz, cuuint64_t, GMT_CALL_PER_THREAD)

static uint64_t decompressed_bytes(const CUmemDecompressParams *list, size_t count, CUresult result)
{
    uint64_t bytes = 0;
    for (size_t i = 0; result == CUDA_SUCCESS && list != NULL && i < count; i++) {
        bytes += list[i].dstNumBytes;
    }
    return bytes;
}

#define DECOMPRESS(SYMBOL, FLAGS) \
    CALL(SYMBOL, \
         (CUmemDecompressParams * list, size_t count, unsigned flags, size_t *failed, \
          CUstream stream), \
         (list, count, flags, failed, stream), stream, FLAGS, \
         decompressed_bytes(list, count, call.result))
DECOMPRESS(cuMemBatchDecompressAsync, 0)
DECOMPRESS(cuMemBatchDecompressAsync_ptsz, GMT_CALL_PER_THREAD)

/* Waits until what other devices wrote over the bus can be seen. */
CALL(cuFlushGPUDirectRDMAWrites,
     (CUflushGPUDirectRDMAWritesTarget target, CUflushGPUDirectRDMAWritesScope scope),
     (target, scope), NULL, GMT_CALL_BLOCKING, 0)

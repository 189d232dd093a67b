/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks: memory that is mapped or written in ways of its own (multicast, graphics, decompression): calls with
 * the bytes that their parameters lead to.
 */
#include "preload/hooks/hook.h"
#include "preload/state/hazards.h"

#define CALL(SYMBOL, PARAMETERS, ARGUMENTS, STREAM, FLAGS, BYTES) \
    GMT_DEFINE_HOOK(SYMBOL, PARAMETERS, ARGUMENTS, STREAM, FLAGS, (void)0, \
                    gmt_hook_call_record(GMT_REC_CALL, &call, BYTES))

GMT_DEFINE_HOOK(cuMulticastCreate,
                (CUmemGenericAllocationHandle * handle, const CUmulticastObjectProp *properties),
                (handle, properties), NULL, 0, (void)0, {
                    gmt_hazards_opened(&call, "multicast memory");
                    gmt_hook_call_record(GMT_REC_CALL, &call,
                                         properties != NULL ? properties->size : 0);
                })

CALL(cuGraphicsResourceGetMappedPointer_v2,
     (CUdeviceptr * address, size_t *bytes, CUgraphicsResource resource),
     (address, bytes, resource), NULL, 0, call.result == CUDA_SUCCESS && bytes != NULL ? *bytes : 0)

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

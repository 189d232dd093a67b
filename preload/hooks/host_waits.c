/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks: work in streams that waits for the host, and memory of devices that is opened to one another. */
#include "preload/hooks/hook.h"
#include "preload/state/hazards.h"
#include "preload/state/waits.h"

#define WAIT(SYMBOL, PARAMETERS, ARGUMENTS, STREAM, FLAGS) \
    GMT_DEFINE_HOOK(SYMBOL, PARAMETERS, ARGUMENTS, STREAM, FLAGS, gmt_waits_begin(), { \
        gmt_waits_end(&call); \
        gmt_hook_call_record(GMT_REC_CALL, &call, 0); \
    })

#define WAIT_VALUE(SYMBOL, TYPE, FLAGS) \
    WAIT(SYMBOL, (CUstream stream, CUdeviceptr address, TYPE value, unsigned flags), \
         (stream, address, value, flags), stream, FLAGS)
WAIT_VALUE(cuStreamWaitValue32, cuuint32_t, 0)
WAIT_VALUE(cuStreamWaitValue32_ptsz, cuuint32_t, GMT_CALL_PER_THREAD)
WAIT_VALUE(cuStreamWaitValue32_v2, cuuint32_t, 0)
WAIT_VALUE(cuStreamWaitValue32_v2_ptsz, cuuint32_t, GMT_CALL_PER_THREAD)
WAIT_VALUE(cuStreamWaitValue64, cuuint64_t, 0)
WAIT_VALUE(cuStreamWaitValue64_ptsz, cuuint64_t, GMT_CALL_PER_THREAD)
WAIT_VALUE(cuStreamWaitValue64_v2, cuuint64_t, 0)
WAIT_VALUE(cuStreamWaitValue64_v2_ptsz, cuuint64_t, GMT_CALL_PER_THREAD)

#define BATCH_OPERATIONS(SYMBOL, FLAGS) \
    WAIT(SYMBOL, \
         (CUstream stream, unsigned count, CUstreamBatchMemOpParams *operations, unsigned flags), \
         (stream, count, operations, flags), stream, FLAGS)
BATCH_OPERATIONS(cuStreamBatchMemOp, 0)
BATCH_OPERATIONS(cuStreamBatchMemOp_ptsz, GMT_CALL_PER_THREAD)
BATCH_OPERATIONS(cuStreamBatchMemOp_v2, 0)
BATCH_OPERATIONS(cuStreamBatchMemOp_v2_ptsz, GMT_CALL_PER_THREAD)

#define HOST_FUNCTION(SYMBOL, FLAGS) \
    WAIT(SYMBOL, (CUstream stream, CUhostFn function, void *data), (stream, function, data), \
         stream, FLAGS)
HOST_FUNCTION(cuLaunchHostFunc, 0)
HOST_FUNCTION(cuLaunchHostFunc_ptsz, GMT_CALL_PER_THREAD)

#define CALLBACK(SYMBOL, FLAGS) \
    WAIT(SYMBOL, (CUstream stream, CUstreamCallback callback, void *data, unsigned flags), \
         (stream, callback, data, flags), stream, FLAGS)
CALLBACK(cuStreamAddCallback, 0)
CALLBACK(cuStreamAddCallback_ptsz, GMT_CALL_PER_THREAD)

#define WAIT_EXTERNAL(SYMBOL, FLAGS) \
    WAIT(SYMBOL, \
         (const CUexternalSemaphore *semaphores, \
          const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *parameters, unsigned count, CUstream stream), \
         (semaphores, parameters, count, stream), stream, FLAGS)
WAIT_EXTERNAL(cuWaitExternalSemaphoresAsync, 0)
WAIT_EXTERNAL(cuWaitExternalSemaphoresAsync_ptsz, GMT_CALL_PER_THREAD)

GMT_DEFINE_HOOK(cuCtxEnablePeerAccess, (CUcontext peer, unsigned flags), (peer, flags), NULL, 0,
                (void)0, {
                    gmt_hazards_opened(&call,
                                       "peer access between devices (cuCtxEnablePeerAccess)");
                    gmt_hook_call_record(GMT_REC_CALL, &call, 0);
                })
GMT_DEFINE_HOOK(cuCtxDisablePeerAccess, (CUcontext peer), (peer), NULL, 0, (void)0,
                gmt_hook_call_record(GMT_REC_CALL, &call, 0))

/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks: waiting for streams, contexts and events. */
#include "preload/hooks/hook.h"
#include "preload/hooks/waited.h"

static void after(struct gmt_hook_call *call)
{
    gmt_hook_call_record(GMT_REC_SYNC, call, 0);
    gmt_waited(call);
}

#define WAIT(SYMBOL, KIND, PARAMETERS, ARGUMENTS, STREAM, FLAGS) \
    GMT_DEFINE_HOOK(SYMBOL, PARAMETERS, ARGUMENTS, STREAM, (FLAGS) | GMT_CALL_BLOCKING, \
                    call.detail = (KIND), after(&call))

WAIT(cuStreamSynchronize, GMT_SYNC_STREAM, (CUstream stream), (stream), stream, 0)
WAIT(cuStreamSynchronize_ptsz, GMT_SYNC_STREAM, (CUstream stream), (stream), stream,
     GMT_CALL_PER_THREAD)
GMT_DEFINE_HOOK_VOID(cuCtxSynchronize, GMT_CALL_BLOCKING, call.detail = GMT_SYNC_CONTEXT,
                     after(&call))
WAIT(cuCtxSynchronize_v2, GMT_SYNC_CONTEXT, (CUcontext context), (context), NULL, 0)
WAIT(cuEventSynchronize, GMT_SYNC_EVENT, (CUevent event), (event), NULL, 0)

/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks: waiting for streams, contexts and events. */
#include "preload/hooks/hook.h"
#include "preload/hooks/waited.h"
#include "preload/state/context.h"
#include "preload/state/waits.h"

static void after(struct gmt_hook_call *call)
{
    gmt_hook_call_record(GMT_REC_SYNC, call, 0);
    gmt_waited(call);
}

static void after_all(struct gmt_hook_call *call, CUcontext context)
{
    if (context == NULL) {
        (void)gmt_context_current(&context);
    }
    if (call->result == CUDA_SUCCESS) {
        gmt_waits_drained(context, call->begin_ticks);
    }
    after(call);
}

#define WAIT(SYMBOL, KIND, PARAMETERS, ARGUMENTS, STREAM, FLAGS) \
    GMT_DEFINE_HOOK(SYMBOL, PARAMETERS, ARGUMENTS, STREAM, (FLAGS) | GMT_CALL_BLOCKING, \
                    call.detail = (KIND), after(&call))

WAIT(cuStreamSynchronize, GMT_SYNC_STREAM, (CUstream stream), (stream), stream, 0)
WAIT(cuStreamSynchronize_ptsz, GMT_SYNC_STREAM, (CUstream stream), (stream), stream,
     GMT_CALL_PER_THREAD)
GMT_DEFINE_HOOK_VOID(cuCtxSynchronize, GMT_CALL_BLOCKING, call.detail = GMT_SYNC_CONTEXT,
                     after_all(&call, NULL))
GMT_DEFINE_HOOK(cuCtxSynchronize_v2, (CUcontext context), (context), NULL, GMT_CALL_BLOCKING,
                call.detail = GMT_SYNC_CONTEXT, after_all(&call, context))
WAIT(cuEventSynchronize, GMT_SYNC_EVENT, (CUevent event), (event), NULL, 0)

/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks: modules and libraries, contexts that go, and streams that go and are captured. */
#include "preload/hooks/context_end.h"
#include "preload/hooks/hook.h"
#include "preload/session/session.h"
#include "preload/state/context.h"
#include "preload/state/device.h"
#include "preload/state/kernels.h"
#include "preload/state/waits.h"

#define CALL(SYMBOL, PARAMETERS, ARGUMENTS, STREAM, FLAGS, BEFORE, AFTER) \
    GMT_DEFINE_HOOK(SYMBOL, PARAMETERS, ARGUMENTS, STREAM, FLAGS, BEFORE, { \
        AFTER; \
        gmt_hook_call_record(GMT_REC_CALL, &call, 0); \
    })

CALL(cuModuleUnload, (CUmodule module), (module), NULL, 0, gmt_kernel_modules_going(),
     gmt_kernel_modules_gone())
CALL(cuLibraryUnload, (CUlibrary library), (library), NULL, 0, gmt_kernel_modules_going(),
     gmt_kernel_modules_gone())
GMT_DEFINE_HOOK(cuLibraryEnumerateKernels, (CUkernel * kernels, unsigned count, CUlibrary library),
                (kernels, count, library), NULL, 0, (void)0, {
                    for (unsigned i = 0;
                         call.result == CUDA_SUCCESS && kernels != NULL && i < count; i++) {
                        if (kernels[i] != NULL) {
                            gmt_kernel_note_library_kernel(kernels[i]);
                        }
                    }
                })
/* Asked for by the thousand and of no interest in itself: only the handle is remembered. */
GMT_DEFINE_HOOK(cuLibraryGetKernel, (CUkernel * kernel, CUlibrary library, const char *name),
                (kernel, library, name), NULL, 0, (void)0, {
                    if (call.result == CUDA_SUCCESS && kernel != NULL) {
                        gmt_kernel_note_library_kernel(*kernel);
                    }
                })

#define DESTROY(SYMBOL) \
    CALL(SYMBOL, (CUcontext context), (context), NULL, 0, gmt_context_going(context), \
         gmt_context_gone(&call, context))
DESTROY(cuCtxDestroy)
DESTROY(cuCtxDestroy_v2)

/* The primary context must be looked up before the reset destroys it. */
#define PRIMARY(SYMBOL, BEFORE, AFTER) \
    GMT_DEFINE_HOOK_SAVING( \
        SYMBOL, CUcontext, (CUdevice device), (device), NULL, 0, \
        { \
            *saved = gmt_context_primary(device); \
            BEFORE; \
        }, \
        { \
            AFTER; \
            gmt_hook_call_record(GMT_REC_CALL, &call, 0); \
        })
#define RESET(SYMBOL) \
    PRIMARY( \
        SYMBOL, \
        { \
            gmt_primary_resetting(device); \
            gmt_context_going(*saved); \
        }, \
        gmt_context_gone(&call, *saved))
#define RELEASE(SYMBOL) \
    PRIMARY( \
        SYMBOL, if (gmt_primary_releasing(device)) { gmt_context_releasing(*saved); }, \
        gmt_context_released(&call, *saved, device))
RESET(cuDevicePrimaryCtxReset)
RESET(cuDevicePrimaryCtxReset_v2)
RELEASE(cuDevicePrimaryCtxRelease)
RELEASE(cuDevicePrimaryCtxRelease_v2)

#define STREAM_DESTROY(SYMBOL) \
    CALL( \
        SYMBOL, (CUstream stream), (stream), stream, 0, \
        { \
            gmt_waits_stream_going(stream); \
            call.stream_context = gmt_stream_forget(stream); \
            call.stream_gone = true; \
        }, \
        (void)0)
STREAM_DESTROY(cuStreamDestroy)
STREAM_DESTROY(cuStreamDestroy_v2)

/* Counted before it begins: from then on nothing may be asked of its streams. */
static void before_capture(CUstream stream, uint8_t flags)
{
    CUcontext context = NULL;
    uint16_t id = gmt_context_current(&context);
    gmt_stream_note(context, id, stream, (flags & GMT_CALL_PER_THREAD) != 0);
    if (gmt_collector != NULL) {
        gmt_collector->capture_begins(gmt_capture_began);
    } else {
        gmt_capture_began();
    }
}

#define BEGIN(SYMBOL, PARAMETERS, ARGUMENTS, FLAGS) \
    CALL( \
        SYMBOL, PARAMETERS, ARGUMENTS, stream, FLAGS, before_capture(stream, FLAGS), \
        if (call.result != CUDA_SUCCESS) { gmt_capture_ended(); })
/* A stream that was not being captured ends nobody's capture. */
#define END(SYMBOL, FLAGS) \
    GMT_DEFINE_HOOK_SAVING( \
        SYMBOL, bool, (CUstream stream, CUgraph * graph), (stream, graph), stream, FLAGS, \
        *saved = gmt_stream_is_in_capture(stream, ((FLAGS)&GMT_CALL_PER_THREAD) != 0), { \
            if (*saved) { \
                gmt_capture_ended(); \
            } \
            gmt_hook_call_record(GMT_REC_CALL, &call, 0); \
        })

BEGIN(cuStreamBeginCapture, (CUstream stream), (stream), 0)
BEGIN(cuStreamBeginCapture_ptsz, (CUstream stream), (stream), GMT_CALL_PER_THREAD)
BEGIN(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode), (stream, mode), 0)
BEGIN(cuStreamBeginCapture_v2_ptsz, (CUstream stream, CUstreamCaptureMode mode), (stream, mode),
      GMT_CALL_PER_THREAD)
BEGIN(cuStreamBeginCaptureToGraph,
      (CUstream stream, CUgraph graph, const CUgraphNode *nodes, const CUgraphEdgeData *edges,
       size_t count, CUstreamCaptureMode mode),
      (stream, graph, nodes, edges, count, mode), 0)
BEGIN(cuStreamBeginCaptureToGraph_ptsz,
      (CUstream stream, CUgraph graph, const CUgraphNode *nodes, const CUgraphEdgeData *edges,
       size_t count, CUstreamCaptureMode mode),
      (stream, graph, nodes, edges, count, mode), GMT_CALL_PER_THREAD)
END(cuStreamEndCapture, 0)
END(cuStreamEndCapture_ptsz, GMT_CALL_PER_THREAD)

/* SPDX-License-Identifier: Apache-2.0 */
/* Copies, captures and ends of contexts on their way from a hook to the driver (calls.h). */
#include "preload/apply/calls.h"

#include <stdatomic.h>

#include "libtrace/threads/cancellation.h"
#include "preload/apply/cache.h"
#include "preload/apply/copy.h"
#include "preload/apply/gather.h"
#include "preload/apply/state.h"

/* The driver's own. */
static void *real[GMT_HOOK_COUNT];

/* Calls that the driver, or a handler of a signal, makes within ours pass. */
static _Thread_local __attribute__((tls_model("initial-exec"))) bool is_inside;

struct replaced {
    enum gmt_hook_id id;
    void *function;
};

/* ---- copies ------------------------------------------------------------------------------------- */

static CUresult run_copy(struct gmt_copy *copy)
{
    CUresult result = CUDA_SUCCESS;
    uint64_t count = 0;
    if (is_inside) {
        return copy->pass(copy, 0);
    }
    is_inside = true;
    struct gmt_cancellation of_program = gmt_cancellation_hold();
    gmt_cache_named(copy->dst);
    gmt_cache_named(copy->src);
    if (!gmt_gather_copy(copy, &result, &count)) {
        if (!gmt_apply_on[GMT_FIX_PAGEABLE_STAGING] || !gmt_staging_copy(copy, &result)) {
            gmt_cancellation_allow(of_program);
            result = copy->pass(copy, 0);
            of_program = gmt_cancellation_hold();
        }
        gmt_gather_passed(copy, result, count);
    }
    if (gmt_apply_watches && result == CUDA_SUCCESS && !gmt_apply_is_forked()) {
        gmt_downloads_note(copy);
    }
    is_inside = false;
    gmt_cancellation_allow(of_program);
    return result;
}

#define ADDRESS(value) ((uint64_t)(uintptr_t)(value))

#define COPY(SYMBOL, DIRECTION, DST, SRC, STREAM) \
    static CUresult pass_##SYMBOL(const struct gmt_copy *copy, size_t done) \
    { \
        return ((CUresult(*)(DST, SRC, size_t))real[GMT_HOOK_##SYMBOL])( \
            (DST)(copy->dst + done), (SRC)(copy->src + done), copy->bytes - done); \
    } \
    static CUresult apply_##SYMBOL(DST dst, SRC src, size_t bytes) \
    { \
        return run_copy(&(struct gmt_copy){ADDRESS(dst), ADDRESS(src), bytes, DIRECTION, true, \
                                           STREAM, pass_##SYMBOL}); \
    }
#define COPY_ASYNC(SYMBOL, DIRECTION, DST, SRC, STREAM) \
    static CUresult pass_##SYMBOL(const struct gmt_copy *copy, size_t done) \
    { \
        return ((CUresult(*)(DST, SRC, size_t, CUstream))real[GMT_HOOK_##SYMBOL])( \
            (DST)(copy->dst + done), (SRC)(copy->src + done), copy->bytes - done, copy->stream); \
    } \
    static CUresult apply_##SYMBOL(DST dst, SRC src, size_t bytes, CUstream stream) \
    { \
        return run_copy(&(struct gmt_copy){ADDRESS(dst), ADDRESS(src), bytes, DIRECTION, false, \
                                           stream != NULL ? stream : (STREAM), pass_##SYMBOL}); \
    }

#define OWN CU_STREAM_PER_THREAD
#define LEGACY CU_STREAM_LEGACY
#define HOST_TO const void *
COPY(cuMemcpyHtoD_v2, GMT_COPY_UPLOAD, CUdeviceptr, HOST_TO, LEGACY)
COPY(cuMemcpyHtoD_v2_ptds, GMT_COPY_UPLOAD, CUdeviceptr, HOST_TO, OWN)
COPY(cuMemcpyDtoH_v2, GMT_COPY_DOWNLOAD, void *, CUdeviceptr, LEGACY)
COPY(cuMemcpyDtoH_v2_ptds, GMT_COPY_DOWNLOAD, void *, CUdeviceptr, OWN)
COPY(cuMemcpy, GMT_COPY_UNKNOWN, CUdeviceptr, CUdeviceptr, LEGACY)
COPY(cuMemcpy_ptds, GMT_COPY_UNKNOWN, CUdeviceptr, CUdeviceptr, OWN)
COPY_ASYNC(cuMemcpyHtoDAsync_v2, GMT_COPY_UPLOAD, CUdeviceptr, HOST_TO, LEGACY)
COPY_ASYNC(cuMemcpyHtoDAsync_v2_ptsz, GMT_COPY_UPLOAD, CUdeviceptr, HOST_TO, OWN)
COPY_ASYNC(cuMemcpyDtoHAsync_v2, GMT_COPY_DOWNLOAD, void *, CUdeviceptr, LEGACY)
COPY_ASYNC(cuMemcpyDtoHAsync_v2_ptsz, GMT_COPY_DOWNLOAD, void *, CUdeviceptr, OWN)
COPY_ASYNC(cuMemcpyAsync, GMT_COPY_UNKNOWN, CUdeviceptr, CUdeviceptr, LEGACY)
COPY_ASYNC(cuMemcpyAsync_ptsz, GMT_COPY_UNKNOWN, CUdeviceptr, CUdeviceptr, OWN)

/* ---- captures ----------------------------------------------------------------------------------- */

/* Counted from before the call, so that no fix begins meanwhile. */
#define BEGIN(SYMBOL, PARAMETERS, ARGUMENTS) \
    static CUresult apply_##SYMBOL PARAMETERS \
    { \
        atomic_fetch_add(&gmt_apply_captures, 1); \
        gmt_cache_let_begin(); \
        gmt_gather_let_begin(); \
        CUresult result = ((CUresult(*) PARAMETERS)real[GMT_HOOK_##SYMBOL])ARGUMENTS; \
        if (result != CUDA_SUCCESS) { \
            atomic_fetch_sub(&gmt_apply_captures, 1); \
        } \
        return result; \
    }
#define TO_GRAPH \
    (CUstream stream, CUgraph graph, const CUgraphNode *nodes, const CUgraphEdgeData *edges, \
     size_t count, CUstreamCaptureMode mode)
BEGIN(cuStreamBeginCapture, (CUstream stream), (stream))
BEGIN(cuStreamBeginCapture_ptsz, (CUstream stream), (stream))
BEGIN(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode), (stream, mode))
BEGIN(cuStreamBeginCapture_v2_ptsz, (CUstream stream, CUstreamCaptureMode mode), (stream, mode))
BEGIN(cuStreamBeginCaptureToGraph, TO_GRAPH, (stream, graph, nodes, edges, count, mode))
BEGIN(cuStreamBeginCaptureToGraph_ptsz, TO_GRAPH, (stream, graph, nodes, edges, count, mode))

/* Only the end of a capture that there was counts: also of one that had been invalidated. */
static CUresult end_capture(CUresult (*end)(CUstream, CUgraph *), CUstream stream, CUgraph *graph,
                            CUstream meant)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    (void)gmt_apply_driver.cuStreamIsCapturing(meant, &status);
    CUresult result = end(stream, graph);
    if (result == CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE) {
        CUstreamCaptureStatus left = CU_STREAM_CAPTURE_STATUS_NONE;
        (void)gmt_apply_driver.cuStreamIsCapturing(meant, &left);
        atomic_fetch_sub(&gmt_apply_captures, left == CU_STREAM_CAPTURE_STATUS_NONE ? 1 : 0);
    }
    return result;
}

#define END(SYMBOL, STREAM) \
    static CUresult apply_##SYMBOL(CUstream stream, CUgraph *graph) \
    { \
        return end_capture((CUresult(*)(CUstream, CUgraph *))real[GMT_HOOK_##SYMBOL], stream, \
                           graph, stream != NULL ? stream : (STREAM)); \
    }
END(cuStreamEndCapture, LEGACY)
END(cuStreamEndCapture_ptsz, OWN)

/* ---- ends of contexts --------------------------------------------------------------------------- */

#define DESTROY(SYMBOL) \
    static CUresult apply_##SYMBOL(CUcontext context) \
    { \
        gmt_staging_context_ends(context, 0); \
        gmt_cache_context_ends(); \
        gmt_gather_context_ends(context, 0); \
        CUresult result = ((CUresult(*)(CUcontext))real[GMT_HOOK_##SYMBOL])(context); \
        if (result == CUDA_SUCCESS) { \
            gmt_contexts_destroyed(context); \
        } \
        return result; \
    }
#define RESET(SYMBOL) \
    static CUresult apply_##SYMBOL(CUdevice device) \
    { \
        gmt_staging_context_ends(NULL, device); \
        gmt_cache_context_ends(); \
        gmt_gather_context_ends(NULL, device); \
        return ((CUresult(*)(CUdevice))real[GMT_HOOK_##SYMBOL])(device); \
    }
/* The last release of a primary context destroys it. */
#define RELEASE(SYMBOL) \
    static CUresult apply_##SYMBOL(CUdevice device) \
    { \
        unsigned flags = 0; \
        int active = 1; \
        CUresult result = ((CUresult(*)(CUdevice))real[GMT_HOOK_##SYMBOL])(device); \
        if (gmt_apply_driver.cuDevicePrimaryCtxGetState(device, &flags, &active) != \
                CUDA_SUCCESS || \
            active == 0) { \
            gmt_staging_context_ends(NULL, device); \
            gmt_cache_context_ended(); \
            gmt_gather_context_ends(NULL, device); \
        } \
        return result; \
    }
DESTROY(cuCtxDestroy)
DESTROY(cuCtxDestroy_v2)
RESET(cuDevicePrimaryCtxReset)
RESET(cuDevicePrimaryCtxReset_v2)
RELEASE(cuDevicePrimaryCtxRelease)
RELEASE(cuDevicePrimaryCtxRelease_v2)

/* ---- the list ----------------------------------------------------------------------------------- */

#define REPLACED(SYMBOL) \
    { \
        GMT_HOOK_##SYMBOL, (void *)apply_##SYMBOL \
    }
/* Copies come first. */
static const struct replaced replaced[] = {
    REPLACED(cuMemcpyHtoD_v2),
    REPLACED(cuMemcpyHtoD_v2_ptds),
    REPLACED(cuMemcpyDtoH_v2),
    REPLACED(cuMemcpyDtoH_v2_ptds),
    REPLACED(cuMemcpy),
    REPLACED(cuMemcpy_ptds),
    REPLACED(cuMemcpyHtoDAsync_v2),
    REPLACED(cuMemcpyHtoDAsync_v2_ptsz),
    REPLACED(cuMemcpyDtoHAsync_v2),
    REPLACED(cuMemcpyDtoHAsync_v2_ptsz),
    REPLACED(cuMemcpyAsync),
    REPLACED(cuMemcpyAsync_ptsz),
    REPLACED(cuStreamBeginCapture),
    REPLACED(cuStreamBeginCapture_ptsz),
    REPLACED(cuStreamBeginCapture_v2),
    REPLACED(cuStreamBeginCapture_v2_ptsz),
    REPLACED(cuStreamBeginCaptureToGraph),
    REPLACED(cuStreamBeginCaptureToGraph_ptsz),
    REPLACED(cuStreamEndCapture),
    REPLACED(cuStreamEndCapture_ptsz),
    REPLACED(cuCtxDestroy),
    REPLACED(cuCtxDestroy_v2),
    REPLACED(cuDevicePrimaryCtxReset),
    REPLACED(cuDevicePrimaryCtxReset_v2),
    REPLACED(cuDevicePrimaryCtxRelease),
    REPLACED(cuDevicePrimaryCtxRelease_v2),
};

bool gmt_apply_is_copy(enum gmt_hook_id id)
{
    for (size_t i = 0; replaced[i].id != GMT_HOOK_cuStreamBeginCapture; i++) {
        if (replaced[i].id == id) {
            return true;
        }
    }
    return false;
}

void gmt_apply_install(void)
{
    for (size_t i = 0; i < sizeof(replaced) / sizeof(replaced[0]); i++) {
        gmt_apply_replace(replaced[i].id, replaced[i].function, &real[replaced[i].id]);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for uses of the driver that make measuring launches unsafe. */
#include "preload/hooks/hazards.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

#include "libtrace/record/spool.h"
#include "preload/driver/resolve.h"
#include "preload/hooks/hook.h"
#include "preload/hooks/waits.h"
#include "preload/session/options.h"

static _Atomic bool present, exported;

bool gmt_hazards_ignored(void)
{
    return gmt_options.counters == GMT_COUNTERS_ON || gmt_driver_is_software;
}

/* In a row of its own: that of the counters tells whether they were on. */
static void note(const char *what)
{
    char detail[128];
    if (!atomic_exchange_explicit(&present, true, memory_order_relaxed) && !gmt_hazards_ignored()) {
        (void)snprintf(detail, sizeof(detail),
                       "no launch is measured any more: the program uses %s", what);
        gmt_spool_capability("counters.shared", GMT_CAP_PARTIAL, 0, detail,
                             "GMTRACE_COUNTERS=on measures all the same; a kernel that waits for "
                             "another one or for the host can then hang");
    }
}

void gmt_hazards_start(void)
{
    unsigned ranks;
    (void)gmt_options_rank(&ranks);
    present = exported = false;
    if (ranks > 1 && gmt_options.counters == GMT_COUNTERS_AUTO) {
        note("several ranks");
    }
}

enum gmt_unmeasured gmt_hazards_of_process(void)
{
    return atomic_load_explicit(&present, memory_order_relaxed) ? GMT_UNMEASURED_SHARED
                                                                : GMT_MEASURABLE;
}

bool gmt_hazards_waiting(uint64_t within_ns)
{
    return !gmt_hazards_ignored() && gmt_waits_under_way_after(within_ns);
}

void gmt_hazards_opened(const struct gmt_site *site, const char *what)
{
    if (site->result == CUDA_SUCCESS) {
        note(what);
    }
}

void gmt_hazards_exported(const struct gmt_site *site)
{
    if (site->result == CUDA_SUCCESS) {
        atomic_store_explicit(&exported, true, memory_order_relaxed);
    }
}

bool gmt_hazards_any_exported(void)
{
    return atomic_load_explicit(&exported, memory_order_relaxed);
}

#define WAIT(SYMBOL, PARAMETERS, ARGUMENTS, STREAM, FLAGS) \
    GMT_DEFINE_HOOK(SYMBOL, PARAMETERS, ARGUMENTS, STREAM, FLAGS, gmt_waits_begin(), { \
        gmt_waits_end(&site); \
        gmt_site_record(GMT_REC_CALL, &site, 0); \
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
                    gmt_hazards_opened(&site,
                                       "peer access between devices (cuCtxEnablePeerAccess)");
                    gmt_site_record(GMT_REC_CALL, &site, 0);
                })
GMT_DEFINE_HOOK(cuCtxDisablePeerAccess, (CUcontext peer), (peer), NULL, 0, (void)0,
                gmt_site_record(GMT_REC_CALL, &site, 0))

/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks: cuProfilerStart and cuProfilerStop, which enclose a range of the whole process. */
#include <stdatomic.h>

#include "preload/hooks/hook.h"
#include "preload/state/user_ranges.h"

static _Atomic uint64_t open_range; /* 0: none */

/* Starting twice is starting once, as it is for the driver. */
static void started(const struct gmt_hook_call *call)
{
    gmt_hook_call_record(GMT_REC_CALL, call, 0);
    if (call->result != CUDA_SUCCESS || open_range != 0) {
        return;
    }
    uint64_t mine = gmt_user_ranges_begin(GMT_RANGE_PROFILER, NULL, "profiler"), none = 0;
    if (!atomic_compare_exchange_strong(&open_range, &none, mine)) {
        gmt_user_ranges_end(mine);
    }
}

static void stopped(const struct gmt_hook_call *call)
{
    gmt_user_ranges_end(atomic_exchange(&open_range, 0));
    gmt_hook_call_record(GMT_REC_CALL, call, 0);
}

GMT_DEFINE_HOOK_VOID(cuProfilerStart, 0, (void)0, started(&call))
GMT_DEFINE_HOOK_VOID(cuProfilerStop, 0, (void)0, stopped(&call))

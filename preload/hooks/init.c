/* SPDX-License-Identifier: Apache-2.0 */
/* Hook: cuInit, the first call of all, after which recording can begin. */
#include "preload/hooks/hook.h"
#include "preload/recording/start.h"
#include "preload/session/session.h"

GMT_EXPORT_DRIVER(cuInit) CUresult cuInit(unsigned flags)
{
    CUresult (*real)(unsigned) = gmt_hook_find_real(GMT_HOOK_cuInit);
    if (real == NULL) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    /* A driver that looks itself up while it starts must not find us (driver/resolve.c). */
    struct gmt_hook_call call = {.id = GMT_HOOK_cuInit, .at = GMT_GUARD_HERE};
    if (!gmt_guard_enter(GMT_GUARD_ALONE, call.at, &call.at)) {
        return real(flags);
    }
    if (!gmt_started) {
        gmt_clock_init();
    }
    call.begin_ticks = gmt_clock_ticks();
    call.result = real(flags);
    call.end_ticks = gmt_clock_ticks();
    gmt_guard_hold_cancellation();
    if (call.result == CUDA_SUCCESS && gmt_start()) {
        gmt_hook_call_record(GMT_REC_CALL, &call, 0);
    }
    gmt_guard_leave();
    return call.result;
}

static void record_init(struct gmt_callback *reported, const void *parameters)
{
    (void)parameters;
    if (!reported->entering) {
        gmt_hook_call_record(GMT_REC_CALL, &reported->call, 0);
    }
}

extern const struct gmt_hook_callbacks gmt_callbacks_of_cuInit;
const struct gmt_hook_callbacks gmt_callbacks_of_cuInit = {record_init, 0};

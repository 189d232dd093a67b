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
    struct gmt_site site = {.id = GMT_HOOK_cuInit, .at = GMT_GUARD_HERE};
    if (!gmt_guard_enter(GMT_GUARD_ALONE, site.at, &site.at)) {
        return real(flags);
    }
    if (!gmt_started) {
        gmt_clock_init();
    }
    site.begin_ticks = gmt_clock_ticks();
    site.result = real(flags);
    site.end_ticks = gmt_clock_ticks();
    gmt_guard_hold_cancellation();
    if (site.result == CUDA_SUCCESS && gmt_start()) {
        gmt_site_record(GMT_REC_CALL, &site, 0);
    }
    gmt_guard_leave();
    return site.result;
}

static void record_init(struct gmt_callback *told, const void *parameters)
{
    (void)parameters;
    if (!told->entering) {
        gmt_site_record(GMT_REC_CALL, &told->site, 0);
    }
}

extern const struct gmt_halves gmt_halves_of_cuInit;
const struct gmt_halves gmt_halves_of_cuInit = {record_init, 0};

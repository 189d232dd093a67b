/* SPDX-License-Identifier: Apache-2.0 */
/* Forgets what lay in a context that goes (context_end.h). */
#include "preload/hooks/context_end.h"

#include "preload/driver/resolve.h"
#include "preload/hooks/alloc_record.h"
#include "preload/repeat/scan.h"
#include "preload/repeat/snapshot.h"
#include "preload/state/allocmap.h"
#include "preload/state/context.h"
#include "preload/state/kernels.h"
#include "preload/state/waits.h"

void gmt_context_going(CUcontext handle)
{
    if (handle != NULL) {
        gmt_waits_forget(handle);
        gmt_scan_forget(handle);
        gmt_snapshot_forget(handle);
    }
    gmt_context_releasing(handle);
}

void gmt_context_gone(const struct gmt_hook_call *call, CUcontext handle)
{
    if (call->result != CUDA_SUCCESS) {
        return;
    }
    if (handle != NULL) {
        gmt_waits_forget(handle);
        gmt_scan_forget(handle);
        gmt_snapshot_forget(handle);
    }
    uint16_t id = gmt_context_forget(handle);
    struct gmt_allocation gone;
    /* A reset context keeps its handle and stays current: these records are the next one's first. */
    while (id != 0 && gmt_allocmap_take_from(id, &gone)) {
        gmt_alloc_record_free(call, true, &gone);
    }
    gmt_kernel_modules_changed();
}

void gmt_context_released(const struct gmt_hook_call *call, CUcontext primary, CUdevice device)
{
    unsigned flags;
    int active = 1;
    if (primary != NULL && call->result == CUDA_SUCCESS &&
        gmt_driver.cuDevicePrimaryCtxGetState(device, &flags, &active) == CUDA_SUCCESS &&
        active == 0) {
        gmt_context_gone(call, primary);
    }
}

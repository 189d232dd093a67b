/* SPDX-License-Identifier: Apache-2.0 */
/* A call of the program has waited for the device (waited.h). */
#include "preload/hooks/waited.h"

#include "preload/hooks/hook.h"
#include "preload/repeat/repeat.h"
#include "preload/session/session.h"

void gmt_waited(const struct gmt_hook_call *call)
{
    if (call->result != CUDA_SUCCESS) {
        return;
    }
    if (gmt_collector != NULL && gmt_collector->waited != NULL) {
        gmt_collector->waited();
    }
    gmt_repeat_waited();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for uses of the driver that make measuring launches unsafe. */
#include "preload/state/hazards.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

#include "libtrace/record/spool.h"
#include "preload/driver/resolve.h"
#include "preload/session/options.h"
#include "preload/state/hook_call.h"
#include "preload/state/waits.h"

static _Atomic bool present, exported;

bool gmt_hazards_ignored(void)
{
    return gmt_options.counters == GMT_COUNTERS_ON || gmt_driver_is_software;
}

/* In a row of its own: that of the counters says whether they were on. */
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

void gmt_hazards_opened(const struct gmt_hook_call *call, const char *what)
{
    if (call->result == CUDA_SUCCESS) {
        note(what);
    }
}

void gmt_hazards_exported(const struct gmt_hook_call *call)
{
    if (call->result == CUDA_SUCCESS) {
        atomic_store_explicit(&exported, true, memory_order_relaxed);
    }
}

bool gmt_hazards_any_exported(void)
{
    return atomic_load_explicit(&exported, memory_order_relaxed);
}

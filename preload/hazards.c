/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for uses of the driver that make measuring launches unsafe. */
#include "preload/hazards.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

#include "libtrace/record/spool.h"
#include "preload/options.h"
#include "preload/resolve.h"

static _Atomic bool present;

static void note(const char *what)
{
    char detail[128];
    if (!atomic_exchange_explicit(&present, true, memory_order_relaxed)) {
        (void)snprintf(detail, sizeof(detail),
                       "no launch is measured any more: the program uses %s", what);
        gmt_spool_capability("counters", GMT_CAP_PARTIAL, 0, detail,
                             "GMTRACE_COUNTERS=on measures all the same; a kernel that waits for "
                             "another one or for the host can then hang");
    }
}

void gmt_hazards_start(void)
{
    unsigned ranks;
    (void)gmt_options_rank(&ranks);
    present = false;
    if (ranks > 1 && gmt_options.counters == GMT_COUNTERS_AUTO) {
        note("several ranks");
    }
}

bool gmt_hazards_present(void)
{
    static const struct {
        const char *prefix, *what;
    } hazards[] = {
        {"cuStreamWaitValue", "stream waits on values (cuStreamWaitValue)"},
        {"cuStreamBatchMemOp", "stream memory operations (cuStreamBatchMemOp)"},
        {"cuLaunchHostFunc", "host functions in streams (cuLaunchHostFunc)"},
        {"cuStreamAddCallback", "host callbacks in streams (cuStreamAddCallback)"},
        {"cuWaitExternal", "external semaphores"},
        {"cuIpcOpen", "memory or events of other processes (cuIpcOpen...)"},
        {"cuMemImport", "memory of other processes (cuMemImport...)"},
        {"cuCtxEnablePeer", "peer access between devices"},
        {"cuMulticast", "multicast memory"},
    };
    if (gmt_options.counters == GMT_COUNTERS_ON) {
        return false;
    }
    for (size_t i = 0; !present && i < sizeof(hazards) / sizeof(hazards[0]); i++) {
        if (gmt_uncovered_calls(hazards[i].prefix) != 0) {
            note(hazards[i].what);
        }
    }
    return present;
}

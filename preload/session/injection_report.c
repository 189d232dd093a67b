/* SPDX-License-Identifier: Apache-2.0 */
/* Records in the trace what came of CUDA_INJECTION64_PATH (injection_report.h). */
#include "preload/session/injection_report.h"

#include <stddef.h>
#include <stdio.h>

#include "libtrace/record/spool.h"

struct gmt_injection gmt_injection;

void gmt_injection_report(void)
{
    static const struct {
        const char *detail, *remedy;
        enum gmt_capability_state is;
    } rows[] = {
        [GMT_INJECTION_PRELOADED] =
            {"CUDA_INJECTION64_PATH names gmtrace, which is preloaded as well: its hooks "
             "record the host side",
             "", GMT_CAP_OFF},
        [GMT_INJECTION_REPORTED] =
            {"the host side is recorded from CUPTI's driver callbacks, without stacks",
             "preload libgmtrace.so where the program is linked dynamically", GMT_CAP_PARTIAL},
        [GMT_INJECTION_NOT_COVERED] =
            {"host side not covered: ",
             "install CUPTI, or name it with GMTRACE_CUPTI; or link the program "
             "dynamically and preload libgmtrace.so",
             GMT_CAP_MISSING},
    };
    char detail[sizeof(gmt_injection.reason) + 128];
    if (gmt_injection.state != GMT_INJECTION_NOT_ASKED) {
        int length = snprintf(
            detail, sizeof(detail), "%s%s", rows[gmt_injection.state].detail,
            gmt_injection.state == GMT_INJECTION_NOT_COVERED ? gmt_injection.reason : "");
        if (gmt_injection.unreported != 0 && gmt_injection.state == GMT_INJECTION_REPORTED) {
            (void)snprintf(detail + length, sizeof(detail) - (size_t)length,
                           "; %d functions are not reported", gmt_injection.unreported);
        }
        gmt_spool_capability("injection", rows[gmt_injection.state].is, 0, detail,
                             rows[gmt_injection.state].remedy);
    }
}

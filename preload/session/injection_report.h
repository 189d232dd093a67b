/* SPDX-License-Identifier: Apache-2.0 */
/* What came of CUDA_INJECTION64_PATH (preload/lookup/injection.c), for the trace. */
#ifndef GMT_PRELOAD_SESSION_INJECTION_REPORT_H
#define GMT_PRELOAD_SESSION_INJECTION_REPORT_H

enum gmt_injection_state {
    GMT_INJECTION_NOT_ASKED,
    GMT_INJECTION_PRELOADED,
    GMT_INJECTION_REPORTED,
    GMT_INJECTION_NOT_COVERED,
};

struct gmt_injection {
    enum gmt_injection_state state;
    char reason[192]; /* of NOT_COVERED */
    int unreported;   /* functions that CUPTI does not report, or not as we were built to read it */
};
extern struct gmt_injection gmt_injection;

/* Write it into the trace; nothing if the variable was not used. */
void gmt_injection_report(void);

#endif

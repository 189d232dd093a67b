/* SPDX-License-Identifier: Apache-2.0 */
/* The program's calls of the driver, as CUPTI reports them: for processes without hooks. */
#ifndef GMT_CUPTI_DRIVER_CALLS_H
#define GMT_CUPTI_DRIVER_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One end of a call, in the thread that makes it. */
struct gmt_driver_call {
    uint32_t callback;      /* CUPTI_DRIVER_TRACE_CBID_* */
    uint32_t correlation;   /* the same at both ends */
    bool entering;          /* false: it has returned */
    int result;             /* CUresult; only then */
    const void *parameters; /* structure of generated_cuda_meta.h */
};

/* Have `report` called at entry and exit of every call of these kinds. `cupti` is the user's path or NULL.
 * Must be called once per process at most; inside of cuInit is early enough. Returns how many kinds this
 * CUPTI does not know, or negative errno with one sentence in `why`: then nothing is reported. */
int gmt_driver_calls_start(const char *cupti, const uint32_t *callbacks, size_t count,
                           void (*report)(const struct gmt_driver_call *call), char *why,
                           size_t why_bytes);

/* Has the process's one subscription been ours since the start? */
bool gmt_driver_calls_active(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What CUPTI refuses, and the remedy (refusal.h). */
#include "libtrace/cupti/base/refusal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/cupti/base/copies.h"
#include "libtrace/record/spool.h"

static const struct {
    CUptiResult code;
    const char *detail;
    const char *remedy;
} refusals[] = {
    {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES,
     "the driver gives performance counters to administrators only",
     "run as root, or load the nvidia module with NVreg_RestrictProfilingToAdminUsers=0"},
    {CUPTI_ERROR_HARDWARE_BUSY, "another program (often DCGM) holds the performance counters",
     "run `dcgmi profmetrics --pause` meanwhile, or stop the other profiler"},
    {CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, "another tool in this process uses CUPTI",
     "run the program without the other profiler"},
    {CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED,
     "the GPU is partitioned (MIG) and this partition has no counters",
     "use a whole GPU, or a MIG instance with profiling enabled"},
    {CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED,
     "another tool in this process uses CUPTI's older profiler", "run the program without it"},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, "the virtual GPU has no performance counters",
     "enable profiling for the vGPU"},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
     "profiling is not enabled for this virtual GPU", "enable profiling for the vGPU"},
    {CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED,
     "counters are not available with confidential computing", ""},
    {CUPTI_ERROR_INVALID_CHIP_NAME, "this CUPTI does not know the GPU",
     "set GMTRACE_CUPTI to a newer libcupti.so"},
    {CUPTI_ERROR_NOT_COMPATIBLE, "this CUPTI does not fit the driver",
     "set GMTRACE_CUPTI to the libcupti.so of the driver's CUDA version, or an older one"},
};

void gmt_refusal_no_cupti(const struct gmt_cupti_api *api, int error, const char *given)
{
    char detail[512];
    if (error == -ENOTSUP) {
        (void)snprintf(detail, sizeof(detail),
                       "CUPTI %u from %.400s is older than that of CUDA 11.8", api->version,
                       api->path);
    } else if (error == -ENOSYS) {
        (void)snprintf(detail, sizeof(detail), "the libcupti found is not one that can be used");
    } else if (given != NULL && given[0] != '\0') {
        (void)snprintf(detail, sizeof(detail), "no libcupti could be loaded from %.400s", given);
    } else {
        (void)snprintf(detail, sizeof(detail), "no libcupti.so was found");
    }
    gmt_spool_capability("cupti", GMT_CAP_MISSING, error, detail,
                         "install the CUDA toolkit's CUPTI, or set GMTRACE_CUPTI to libcupti.so");
}

/* The library that CUDA_INJECTION64_PATH names, as Nsight Systems and Compute set it: "" if that is not it. */
static const char *other_tool(CUptiResult result)
{
    const char *injected = getenv("CUDA_INJECTION64_PATH");
    bool another = injected != NULL && strstr(injected, "libgmtrace") == NULL;
    return result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED && another ? injected : "";
}

/* A function that this version of CUPTI does not have, rather than one that it refused. */
static bool is_missing(const struct gmt_cupti_api *api, const char *function)
{
    return function != NULL &&
           (function == api->missing_activity || function == api->missing_counters ||
            function == api->missing_callbacks || function == api->missing_sass);
}

void gmt_refusal_row(const char *name, const struct gmt_cupti_api *api, CUptiResult result,
                     const char *function)
{
    if (result == CUPTI_SUCCESS) {
        gmt_spool_capability(name, GMT_CAP_OK, 0, "", "");
        return;
    }
    const char *detail = "CUPTI refused";
    const char *remedy = "";
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        if (refusals[i].code == result) {
            detail = refusals[i].detail;
            remedy = refusals[i].remedy;
        }
    }
    char text[1024];
    if (is_missing(api, function)) {
        (void)snprintf(text, sizeof(text), "this CUPTI is too old for it: it has no %s", function);
        gmt_spool_capability(name, GMT_CAP_MISSING, (int)result, text,
                             "set GMTRACE_CUPTI to the libcupti.so of the driver's CUDA version");
        return;
    }
    const char *tool = other_tool(result);
    (void)snprintf(text, sizeof(text), "%s%s%.512s (%s: %s)", detail, tool[0] != '\0' ? ": " : "",
                   tool, function != NULL ? function : "?", gmt_cupti_error(api, result));
    gmt_spool_capability(name, gmt_refusal_is_of_group(result) ? GMT_CAP_PARTIAL : GMT_CAP_MISSING,
                         (int)result, text, remedy);
}

bool gmt_refusal_is_of_group(CUptiResult result)
{
    return result == CUPTI_ERROR_INVALID_METRIC_NAME;
}

void gmt_refusal_copies(void)
{
    static const struct {
        enum gmt_capability_state state;
        const char *before, *after, *remedy;
    } rows[GMT_COPY_FATES] = {
        [GMT_COPY_SERVED] = {GMT_CAP_OK, "the program's calls of ",
                             " are answered by the CUPTI that gmtrace uses", ""},
        [GMT_COPY_REFUSED] = {GMT_CAP_PARTIAL, "the program uses ",
                              ", which the driver refuses beside the CUPTI that gmtrace uses",
                              "set GMTRACE_CUPTI to that file, or GMTRACE_COLLECT=light"},
    };
    for (unsigned fate = 0; fate < GMT_COPY_FATES; fate++) {
        const char *path = gmt_copies_met((enum gmt_copy_fate)fate);
        char detail[GMT_CUPTI_PATH_BYTES + 128];
        if (path != NULL) {
            (void)snprintf(detail, sizeof(detail), "%s%s%s", rows[fate].before, path,
                           rows[fate].after);
            gmt_spool_capability("cupti.program", rows[fate].state, 0, detail, rows[fate].remedy);
        }
    }
}

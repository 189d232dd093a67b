/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI as a table of function pointers, found and loaded at run time.
 *
 * Never a second CUPTI beside one that a framework has loaded: what the program has looked up wins, then
 * what is in the process, then the user's choice, then the one that belongs to the process's own CUDA
 * runtime, then the toolkit's.
 */
#ifndef GMT_CUPTI_BASE_LOADER_H
#define GMT_CUPTI_BASE_LOADER_H

#include <stdbool.h>
#include <stdint.h>

#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>
#include <cupti_version.h>

#define GMT_CUPTI_PATH_BYTES 1024

/* What CUPTI is opened as, newest first. Those of CUDA 11 have a name per minor version. */
#define GMT_CUPTI_LIBRARIES "libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "libcupti.so"
/* cuptiGetVersion of CUDA 11.8: the fields that are read of activity records lie where they do since then. */
#define GMT_CUPTI_OLDEST 18u

struct gmt_cupti_api {
#define GMT_CUPTI_FUNCTION(set, name) __typeof__(name) *name;
#include "libtrace/cupti/base/functions.def"
#undef GMT_CUPTI_FUNCTION
    uint32_t version;             /* cuptiGetVersion, e.g. 130001                              */
    void *handle;                 /* stays open for the life of the process                    */
    const char *missing_activity; /* first function of the set that is not there, else NULL    */
    const char *missing_counters;
    const char *missing_callbacks;
    const char *missing_sass;
    const char *missing_managed;
    char path[GMT_CUPTI_PATH_BYTES]; /* file that was loaded                                      */
};

/* Fill `api`. `given` is the user's path (a file or a directory) or NULL. Returns 0, -ENOENT when no
 * CUPTI was found, -ENOSYS when the one found lacks functions without which nothing works, -ENOTSUP when it is
 * older than GMT_CUPTI_OLDEST; of these two, `path` and `version` are there. */
int gmt_cupti_load(struct gmt_cupti_api *api, const char *given);

/* Load the profiler libraries that lie beside CUPTI and that it opens by plain name, so that it
 * finds them also outside the loader's search path. Failure shows later, as CUPTI's own error. Not by two threads at a time. */
void gmt_cupti_load_profiler(const struct gmt_cupti_api *api);

/* Ask the kernel to read these files into memory. Nothing is loaded: that takes 0.1 s, in which no other thread can use the
 * loader. For a thread with a stack of 8 KiB and more. */
void gmt_cupti_read_profiler(const struct gmt_cupti_api *api);

/* CUPTI's text for a result, e.g. "CUPTI_ERROR_HARDWARE_BUSY"; never NULL. */
const char *gmt_cupti_error(const struct gmt_cupti_api *api, CUptiResult result);

#endif

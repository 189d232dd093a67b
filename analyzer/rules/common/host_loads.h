/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that load code, and whether a program that has long been in its loop makes them. */
#ifndef GMT_ANALYZER_RULES_COMMON_HOST_LOADS_H
#define GMT_ANALYZER_RULES_COMMON_HOST_LOADS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/summary/host_calls.h"
#include "analyzer/trace/timeline.h"

/* Does the function load code that the program, or a compiler in it, has made or read (cuLibraryLoadData, cuModuleLoad...)? A launch
 * that loads its kernel does not. */
bool gmt_is_load(const struct gmt_timeline *timeline, const struct gmt_host_call *call);

/*
 * Did the program, between these two moments, launch what it had launched before the first of them? So it is in a loop that it has
 * been through, not in its set-up, where nearly each launch is of a new kernel. At least GMT_HOST_LOADS_BETWEEN launches, of which
 * GMT_HOST_LOADS_KNOWN are of such kernels and shapes; those without a class do not count.
 */
bool gmt_load_recurs(const struct gmt_timeline *timeline, int64_t from_ns, int64_t to_ns);

#endif

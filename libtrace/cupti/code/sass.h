/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of single instructions of a launch, by CUPTI's SASS metrics: the kernel is patched when it is
 * launched (lazy patching), and runs 10 to 100 times longer.
 *
 * What is known of it (docs/cupti-notes.md): with CONCURRENT_KERNEL activity on all values are 0;
 * hardware counters of the same launch would count the patch; patching takes effect only where nothing
 * runs when it is switched on. So each launch that is counted has a session of its own, between two
 * waits for the context. A session of the range profiler may be started meanwhile, outside of its ranges.
 * A device takes one configuration in the life of a process, so it is set for the first session and
 * stays; and CUPTI has to be asked for MODULE_PROFILED callbacks (cubins.c).
 */
#ifndef GMT_CUPTI_CODE_SASS_H
#define GMT_CUPTI_CODE_SASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/cupti/base/loader.h"
#include "libtrace/record/collector.h"

enum { GMT_SASS_ROWS_MAX = 32, GMT_SASS_CONTEXTS_MAX = 64 };

struct gmt_sass {
    const struct gmt_cupti_api *api;
    enum gmt_instructions which;   /* that are counted: the rows of sass_metrics.def */
    CUresult (*synchronize)(void); /* cuCtxSynchronize, past the hooks */
    void *context;                 /* of the session, NULL = none runs */
    uint32_t configured;           /* device whose chip the rows below are for, + 1 */
    uint64_t set;                  /* bit per device that has its configuration */
    struct {
        void *context;
        uint32_t device;
    } used[GMT_SASS_CONTEXTS_MAX]; /* contexts in which something was counted since */
    size_t used_count;
    CUpti_SassMetrics_Config rows[GMT_SASS_ROWS_MAX];
    enum gmt_sass_slot slots[GMT_SASS_ROWS_MAX]; /* by row */
    size_t row_count, first_count; /* those without which nothing is counted come first */
    const char *failed;            /* CUPTI's function that refused last */
};

/* One value of one instruction, as CUPTI gives them. */
struct gmt_sass_value {
    const char *function; /* CUPTI's, until the session ends */
    uint32_t crc, function_index, pc;
    enum gmt_sass_slot slot;
    uint64_t value;
};

/* Begin to count what is launched in `context`, which is current and of that device (below 64). */
CUptiResult gmt_sass_begin(struct gmt_sass *sass, void *context, uint32_t device);

/* What a session gave. */
struct gmt_sass_outcome {
    size_t instructions; /* that had counts */
    bool no_cubin;       /* of some of them: they cannot be looked up */
};

/* Wait for it, end the session and, if `keep`, write the counts as those of the launch, and the cubins
 * that they are about. */
CUptiResult gmt_sass_end(struct gmt_sass *sass, bool keep, uint32_t launch_seq,
                         uint32_t kernel_class, struct gmt_sass_outcome *outcome);

/* Before `context` is destroyed, or (NULL) at the end: take the configurations back with which something was
 * counted there. At the end of a process CUPTI goes through them, and crashes where the context is gone.
 * Nothing may be counted on such a device afterwards: gmt_sass_begin says so. */
void gmt_sass_forget(struct gmt_sass *sass, const void *context);

/* Sums values up by instruction and writes a record for each that was executed; the values are put in
 * order. `measured`: bit per slot. Returns how many. */
size_t gmt_sass_write(struct gmt_sass_value *values, size_t count, uint32_t measured,
                      uint32_t launch_seq, uint32_t kernel_class);

#endif

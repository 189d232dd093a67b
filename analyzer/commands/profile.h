/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace spent by call stack, as viewers of profiles take it: work of the device, bytes, savings. */
#ifndef GMT_ANALYZER_COMMANDS_PROFILE_H
#define GMT_ANALYZER_COMMANDS_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/commands/trace_session.h"
#include "libtrace/base/arena.h"

/* X(NAME, name, unit of pprof, unit of speedscope, title) */
#define GMT_PROFILE_VALUE_ROWS(X) \
    X(DEVICE, "device_time", "nanoseconds", "nanoseconds", "Device time") \
    X(COPIED, "copied", "bytes", "bytes", "Copied bytes") \
    X(ALLOCATED, "allocated", "bytes", "bytes", "Allocated bytes") \
    X(SAVING, "predicted_saving", "nanoseconds", "nanoseconds", "Predicted saving") \
    X(CALLS, "calls", "count", "none", "Calls")

enum gmt_profile_value {
#define GMT_PROFILE_ROW(NAME, name, unit, unit_of_speedscope, title) GMT_PROFILE_##NAME,
    GMT_PROFILE_VALUE_ROWS(GMT_PROFILE_ROW)
#undef GMT_PROFILE_ROW
        GMT_PROFILE_VALUES
};

struct gmt_profile_frame {
    const char *name;
    const char *file; /* NULL: not known */
    int64_t line;     /* 0: not known */
};

/* A stack with what the calls from there, or the finding about them, amount to. */
struct gmt_profile_sample {
    const uint32_t *frames; /* indices, innermost first, without the leaf */
    size_t depth;
    uint32_t leaf; /* the kernel, "copy h2d", "GM102 pageable-transfer" */
    int64_t values[GMT_PROFILE_VALUES];
};

struct gmt_profile {
    struct gmt_arena arena;
    struct gmt_profile_frame *frames;
    size_t frame_count;
    struct gmt_profile_sample *samples;
    size_t sample_count;
    /* Of the software device neither time nor saving is known; nothing to show is no profile either. */
    bool known[GMT_PROFILE_VALUES];
    const char *trace, *program;
    int64_t wall_ns;
};

/* Zero-initialize it. 0 or negative errno, complained about. Free it in either case. */
int gmt_profile_fill(struct gmt_profile *profile, struct gmt_trace_session *session);
void gmt_profile_free(struct gmt_profile *profile);

/* One profile for each value that is known, in the file format of speedscope.app. 0 or negative errno. */
int gmt_profile_write_speedscope(void *profile, FILE *out);
/* profile.proto of github.com/google/pprof, compressed, with a value type for each that is known. */
int gmt_profile_write_pprof(void *profile, FILE *out);

#endif

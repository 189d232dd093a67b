/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What processes of a run under `gmtrace try` report to it: how often each fix was applied and refused, and digests of what
 * came back to the host. Memory of the launcher, reached through /proc, so that a process that is killed has reported, too.
 */
#ifndef GMT_PRELOAD_APPLY_NOTE_H
#define GMT_PRELOAD_APPLY_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/apply/plan.h"

/* "PID:FD": the memory of the launcher that holds a struct gmt_try_note. */
#define GMT_TRY_VARIABLE "GMTRACE_TRY"

enum gmt_refusal {
#define GMT_REFUSAL(id, text) GMT_REFUSAL_##id,
#include "preload/apply/refusals.def"
#undef GMT_REFUSAL
    GMT_REFUSAL_COUNT
};

/* Ways in which results reach the host that no digest is taken of. */
enum { GMT_UNSEEN_MANAGED = 1, GMT_UNSEEN_GRAPH = 2, GMT_UNSEEN_BATCH = 4, GMT_UNSEEN_PROCESS = 8 };

enum { GMT_TRY_PROCESSES = 64, GMT_TRY_DOWNLOADS = 1 << 20 };
enum { GMT_TRY_DEVICES = 16, GMT_TRY_NAME_BYTES = 256, GMT_TRY_COMMAND_BYTES = 8192 };

struct gmt_fix_counts {
    uint64_t calls, bytes; /* applied to */
    uint64_t passed_bytes; /* of such calls, left to the driver after all */
    uint64_t refused[GMT_REFUSAL_COUNT], refused_bytes[GMT_REFUSAL_COUNT];
};

/* What the process runs and on what: by this a trace of the same is known. */
struct gmt_try_identity {
    char exe[PATH_MAX];                  /* "": not known */
    char command[GMT_TRY_COMMAND_BYTES]; /* arguments joined by \x1f */
    uint32_t devices;                    /* that it sees, in CUDA's order; 0: not known */
    char device[GMT_TRY_DEVICES][GMT_TRY_NAME_BYTES];
};

struct gmt_try_process {
    int64_t pid;
    uint32_t unseen; /* GMT_UNSEEN_... */
    uint32_t threads;
    struct gmt_fix_counts fixes[GMT_FIX_COUNT];
    uint64_t unchecked_calls, unchecked_bytes; /* downloads without a digest */
};

/* One download, the `call`-th of the `thread`-th thread of the `process`-th process. */
struct gmt_try_download {
    uint64_t low, high, bytes;
    uint32_t process, thread;
    uint64_t call;
};

struct gmt_try_note {
    uint32_t bytes; /* of this structure, so that both sides mean the same */
    uint32_t watch; /* digests are wanted */
    uint32_t processes,
        downloads; /* how many have been claimed, also beyond what there is room for: nothing is known of those */
    struct gmt_try_process process[GMT_TRY_PROCESSES];
    struct gmt_try_identity identity[GMT_TRY_PROCESSES]; /* only where digests are wanted */
    struct gmt_try_download download[GMT_TRY_DOWNLOADS];
};

/* In the launcher: make the memory and the variable's value. A descriptor and the mapping, or negative errno. */
int gmt_try_note_make(char *value, size_t bytes, struct gmt_try_note **note);
/* In a process of the run: the launcher's memory; NULL: there is none. */
struct gmt_try_note *gmt_try_note_open(void);

#endif

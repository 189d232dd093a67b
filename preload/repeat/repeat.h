/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One launch of the program, made several times, so that a kernel that is launched once is known completely.
 *
 * The first execution is timed: nothing is patched or counted then. Before each further one, which is measured
 * (hardware counters, then counts of accesses), the memory that the kernel can write is restored from a snapshot. The last one
 * stands. From the snapshot to the last restore the context is this thread's alone: everything that was under way
 * is waited for, and other threads are held (guard/hold.h).
 *
 * A second execution must not be seen by anybody. A launch is made once where the kernel can reach memory that is not
 * restored (scan.h), where it is not known what it can write (reach.h), and where its code does more than read and
 * write memory (gmt_collector_ops.code_reach). A launch that is given up between two executions stands as it is.
 */
#ifndef GMT_PRELOAD_REPEAT_REPEAT_H
#define GMT_PRELOAD_REPEAT_REPEAT_H

#include <cuda.h>
#include <stdbool.h>

#include "libtrace/record/collector.h"
#include "preload/state/hook_call.h"
#include "preload/state/kernels.h"

/* The program's call, to be made again. */
struct gmt_relaunch {
    enum gmt_hook_id hook;
    const CUlaunchConfig *config; /* of an extended launch; NULL: the next four */
    unsigned grid[3], block[3], dynamic_shared_bytes;
    CUstream stream;
    CUfunction function;
    void **parameters;
    void **extra;
};

struct gmt_repeat {
    const struct gmt_kernel_info *kernel;
    const struct gmt_relaunch *launch;
    const struct gmt_launch_call *measured; /* as for gmt_collector_ops.begin */
    uint16_t context;                       /* gmt_context.id */
    enum gmt_counter_group group;           /* out: that of the execution that stands */
    bool over;                              /* the last execution is, as far as is known */
};

/* May a launch of `cls`, which gmt_collector_ops.want has counted, be worth repeating? A few ns where it is not the first. */
bool gmt_repeat_wants(struct gmt_collector_class *cls);

/* Make the launch, several times if that is worth it and nobody can notice. True: it was made; `call` has its
 * result and times, and site->made is set. False: nothing was launched, the caller goes on as ever. */
bool gmt_repeat_launch(struct gmt_repeat *repeat, struct gmt_hook_call *call);

/* A call of the program has waited for the device: memory of ours that could not be freed before is freed, if
 * nothing is under way. */
void gmt_repeat_waited(void);

/* Before the program allocates device memory: what could not be freed before is, if it would be lacking; that is
 * waited for, at most 10 s. */
void gmt_repeat_make_room(size_t bytes);

#endif

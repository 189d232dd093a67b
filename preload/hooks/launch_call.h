/* SPDX-License-Identifier: Apache-2.0 */
/* A launch under way: its arguments, the measuring around it, and its record. */
#ifndef GMT_PRELOAD_HOOKS_LAUNCH_CALL_H
#define GMT_PRELOAD_HOOKS_LAUNCH_CALL_H

#include <cuda.h>
#include <stdbool.h>

#include "libtrace/record/collector.h"
#include "libtrace/record/layout.h"
#include "preload/repeat/repeat.h"
#include "preload/state/hazards.h"
#include "preload/state/hook_call.h"
#include "preload/state/kernels.h"

#define GMT_ARGUMENTS_PER_SLOT (GMT_SLOT_BYTES / sizeof(struct gmt_launch_arg))
#define GMT_ARGUMENT_SLOTS \
    ((GMT_MAX_LAUNCH_ARGS + GMT_ARGUMENTS_PER_SLOT - 1) / GMT_ARGUMENTS_PER_SLOT)

/* A launch record in the making: payload slot and the argument slots behind it. */
struct gmt_hooked_launch {
    struct gmt_launch head;
    struct gmt_launch_arg arguments[GMT_ARGUMENT_SLOTS * GMT_ARGUMENTS_PER_SLOT];
    struct gmt_hazard_given given;
    enum gmt_hazard hazard; /* of a kernel */
    uint16_t context;       /* that its memory is compared with (gmt_hazard_given_address) */
    bool waits;             /* it may: for the host, or for another kernel */
    bool repeated;          /* and measured with that (repeat/repeat.h) */
    bool held;              /* the other threads are, while its instructions are counted */
    bool kept;              /* ... and do not break that */
    struct gmt_class_info *cls;
    struct gmt_launch_call measured;
};

/* Of a launch of this shape. The argument slots stay as they are: those behind `argument_count` are zeroed when written. */
void gmt_launch_begin(struct gmt_hooked_launch *launch, struct gmt_launch shape);
/* Of an extended one. */
void gmt_launch_begin_ex(struct gmt_hooked_launch *launch, const CUlaunchConfig *config);

/* Count it: before everything else that a launch does. */
void gmt_launch_count(struct gmt_hooked_launch *launch);
/* Everything that must happen before the driver is called, counting included. `again`: how to make the launch, NULL:
 * somebody else makes it, or it is made once. */
void gmt_launch_before(struct gmt_hooked_launch *launch, struct gmt_hook_call *call,
                       CUfunction function, void **parameters, void **extra,
                       const struct gmt_relaunch *again);
/* After the call: its record is written. */
void gmt_launch_after(struct gmt_hooked_launch *launch, struct gmt_hook_call *call);

/* A kernel of the graph whose launch is under way (`graph`), launched by itself: recorded as such, and measured as if the
 * program launched it. *measured: whether it was. */
CUresult gmt_launch_step(const struct gmt_hook_call *graph, const CUlaunchConfig *config,
                         CUfunction function, void **parameters, void **extra, bool *measured);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which operation of NCCL a kernel on the device belongs to, in traces that join device and host (launch.id = device_op.call_id):
 * the kernel was launched inside of the operation's range, or at the end of a group that holds no other operation. Of several
 * operations in one kernel, or several kernels, none is named.
 */
#ifndef GMT_STORE_STEPS_STEP_LAUNCHES_H
#define GMT_STORE_STEPS_STEP_LAUNCHES_H

#include <stdint.h>

#include "libtrace/store/steps/step_communicators.h"
#include "libtrace/store/steps/step_sums.h"

enum { GMT_STEP_LAUNCHES = 1024 }; /* the latest: kernels that end later are of none */

struct gmt_step_launches {
    struct gmt_step_launch {
        uint64_t begin_ns, end_ns;
        uint32_t call, thread; /* call 0: none */
        uint32_t operations;   /* that it is of: 1, or it is of none that is known */
        uint64_t kernel;       /* its position, where it has ended already; 0: it has not */
        struct gmt_step_collective of;
    } launch[GMT_STEP_LAUNCHES];
    uint64_t count;
    struct gmt_step_pending { /* in the open group of a thread */
        uint32_t thread, operations;
        struct gmt_step_collective of;
    } pending[GMT_STEP_GROUPS];
};

/* A kernel of NCCL was launched by call `call`, launch.id; 0 where traces do not say it. */
void gmt_step_launches_note(struct gmt_step_launches *launches, uint32_t call, uint32_t thread,
                            uint64_t begin_ns, uint64_t end_ns);
/* An operation's range has ended; inside of a group where of->grouped. Kernels in `sums` that ended before are named. */
void gmt_step_launches_operation(struct gmt_step_launches *launches, uint32_t thread,
                                 const struct gmt_step_collective *of, struct gmt_step_sums *sums);
/* The thread's outermost group has ended, begin_ns to end_ns: its kernel was launched in that time. As above. */
void gmt_step_launches_group(struct gmt_step_launches *launches, uint32_t thread, uint64_t begin_ns,
                             uint64_t end_ns, struct gmt_step_sums *sums);
/* The operation of the kernel of that position; NULL: not known, or not yet. */
const struct gmt_step_collective *gmt_step_launches_find(struct gmt_step_launches *launches,
                                                         uint32_t call, uint64_t position);

#endif

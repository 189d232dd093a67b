/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: how arguments and results travel between the frames of caller and callee. */
#ifndef SIMGPU_EXEC_CALL_H
#define SIMGPU_EXEC_CALL_H

#include "simgpu/exec/path.h"

/* A function of the device's own, called by name: reads arguments, writes results; as a handler. */
typedef const struct sim_op *(*sim_builtin)(struct sim_warp *warp, const struct sim_op *op,
                                            uint32_t mask, const struct sim_ptx_call *call);

struct sim_ptx_call {
    const struct sim_code *code; /* NULL: through a pointer, or a builtin */
    sim_builtin builtin;
    uint32_t pointer; /* frame offset of the address */
    uint32_t argument_count, result_count;
    struct sim_lane_slot *arguments, *results; /* in the caller's frame */
};

/* Argument `index` of a lane, zero-extended; 0 if there is none. */
uint64_t sim_call_argument(const struct sim_warp *warp, const struct sim_ptx_call *call,
                           uint32_t index, unsigned lane);
/* Store a builtin's result; nothing if the call has none. */
void sim_call_result(struct sim_warp *warp, const struct sim_ptx_call *call, uint32_t mask,
                     uint64_t value);

/* From the running frame to that of a function that it calls. */
void sim_call_copy_arguments(struct sim_warp *warp, const struct sim_ptx_call *call,
                             struct sim_frame *callee, uint32_t mask);

/* print.c */
const struct sim_op *sim_builtin_vprintf(struct sim_warp *warp, const struct sim_op *op,
                                         uint32_t mask, const struct sim_ptx_call *call);
const struct sim_op *sim_builtin_assertfail(struct sim_warp *warp, const struct sim_op *op,
                                            uint32_t mask, const struct sim_ptx_call *call);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Moves arguments and results between the frames of caller and callee. */
#include <string.h>

#include "simgpu/exec/call.h"

static void copy_lanes(uint8_t *to, const struct sim_lane_slot *to_slot, const uint8_t *from,
                       const struct sim_lane_slot *from_slot, uint32_t mask)
{
    const uint32_t bytes = to_slot->bytes < from_slot->bytes ? to_slot->bytes : from_slot->bytes;

    if (to_slot->stride == 0 || from_slot->stride == 0) {
        return;
    }
    SIM_FOR_LANES(mask, i,
                  memcpy(to + to_slot->offset + (size_t)i * to_slot->stride,
                         from + from_slot->offset + (size_t)i * from_slot->stride, bytes));
}

uint64_t sim_call_argument(const struct sim_warp *warp, const struct sim_ptx_call *call,
                           uint32_t index, unsigned lane)
{
    uint64_t value = 0;

    if (index < call->argument_count) {
        const struct sim_lane_slot *slot = &call->arguments[index];

        memcpy(&value, warp->frame + slot->offset + (size_t)lane * slot->stride,
               slot->bytes < sizeof(value) ? slot->bytes : sizeof(value));
    }
    return value;
}

void sim_call_result(struct sim_warp *warp, const struct sim_ptx_call *call, uint32_t mask,
                     uint64_t value)
{
    if (call->result_count != 0) {
        const struct sim_lane_slot *slot = &call->results[0];
        const size_t bytes = slot->bytes < sizeof(value) ? slot->bytes : sizeof(value);

        SIM_FOR_LANES(mask, i,
                      memcpy(warp->frame + slot->offset + (size_t)i * slot->stride, &value, bytes));
    }
}

void sim_call_copy_results(struct sim_warp *warp, const struct sim_reconv *reconv, uint32_t lanes)
{
    const struct sim_code *code = reconv->callee->code;

    (void)warp;
    for (uint32_t i = 0; i < reconv->call->result_count && i < code->ptx->return_count; i++) {
        copy_lanes(reconv->frame->data, &reconv->call->results[i], reconv->callee->data,
                   &code->returns[i], lanes);
    }
}

void sim_call_copy_arguments(struct sim_warp *warp, const struct sim_ptx_call *call,
                             struct sim_frame *callee, uint32_t mask)
{
    const struct sim_code *code = callee->code;

    for (uint32_t i = 0; i < call->argument_count && i < code->ptx->param_count; i++) {
        copy_lanes(callee->data, &code->params[i], warp->frame, &call->arguments[i], mask);
    }
    for (uint32_t i = 0; i < code->spilled_count; i++) {
        const struct sim_spilled_param *spilled = &code->spilled[i];
        const struct sim_lane_slot *from = &code->params[spilled->param];
        uint8_t *to = warp->local + callee->local_base + spilled->at;

        SIM_FOR_LANES(mask, lane,
                      memcpy(to + lane * warp->local_stride,
                             callee->data + from->offset + (size_t)lane * from->stride,
                             from->bytes));
    }
}

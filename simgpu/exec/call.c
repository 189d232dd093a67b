/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of device functions, direct and through pointers, and of the device's own functions. */
#include "simgpu/exec/call.h"

#include <string.h>

#include "simgpu/exec/decode.h"
#include "simgpu/exec/run.h"

/* ---- running -------------------------------------------------------------------------------- */

/* The running path enters `code`; its lanes reconverge behind the call. */
static bool enter(struct sim_warp *warp, const struct sim_op *op, const struct sim_ptx_call *call,
                  const struct sim_code *code)
{
    struct sim_path *path = warp->path;
    const uint64_t base = path->frame->local_base + path->frame->code->local_bytes + SIM_CALL_BYTES;
    struct sim_frame *frame = sim_frame_new(warp, op, code, base);
    struct sim_reconv *reconv = frame != NULL ? sim_reconv_new(warp, op) : NULL;

    if (reconv == NULL) {
        return false;
    }
    sim_call_copy_arguments(warp, call, frame, path->mask);
    *reconv = (struct sim_reconv){.parent = path->reconv,
                                  .at = op + 1,
                                  .frame = path->frame,
                                  .callee = frame,
                                  .call = call,
                                  .expected = path->mask};
    path->reconv = reconv;
    path->frame = frame;
    path->op = code->ops;
    path->stop = NULL;
    return true;
}

static const struct sim_op *run_call(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    const struct sim_ptx_call *call = op->control.more;

    sim_path_diverge(warp, op, mask, op + 1, op + 1);
    if (!sim_runner_of(warp)->stopped) {
        enter(warp, op, call, call->code);
    }
    return NULL;
}

static const struct sim_op *run_builtin(struct sim_warp *warp, const struct sim_op *op,
                                        uint32_t mask)
{
    const struct sim_ptx_call *call = op->control.more;

    return call->builtin(warp, op, mask, call);
}

/* Lanes of `mask` that call the same address as the first of them. */
static uint32_t same_target(const struct sim_warp *warp, const struct sim_op *op, uint32_t mask,
                            uint64_t *address)
{
    const struct sim_ptx_call *call = op->control.more;
    const uint64_t *pointers = SIM_AT(warp->frame, call->pointer, const uint64_t);
    uint32_t same = 0;

    *address = pointers[__builtin_ctz(mask)];
    SIM_FOR_LANES(mask, i, same |= (uint32_t)(pointers[i] == *address) << i);
    return same;
}

static const struct sim_op *run_call_pointer(struct sim_warp *warp, const struct sim_op *op,
                                             uint32_t mask)
{
    const struct sim_ptx_call *call = op->control.more;
    struct sim_path *rest;

    sim_path_diverge(warp, op, mask, op + 1, op + 1);
    do {
        uint64_t address;

        if (sim_runner_of(warp)->stopped) {
            return NULL;
        }
        struct sim_path *path = warp->path;
        const uint32_t same = same_target(warp, op, path->mask, &address);
        const struct sim_code *code = sim_code_at(path->frame->code->kernel, address);
        if (code == NULL) {
            return sim_warp_fault(warp, op, same, SIM_ILLEGAL_ADDRESS,
                                  "0x%llx is not the address of a function",
                                  (unsigned long long)address);
        }
        if (code->ptx->is_entry) {
            return sim_warp_fault(warp, op, same, SIM_ILLEGAL_INSTRUCTION,
                                  "call of kernel %s through a pointer", code->ptx->name);
        }
        rest = sim_path_diverge(warp, op, same, op, op + 1);
        if (!enter(warp, op, call, code)) {
            return NULL;
        }
        if (rest != NULL) {
            sim_path_ready_first(warp, path);
            sim_path_enter(warp, rest);
        }
    } while (rest != NULL);
    return NULL;
}

/* ---- decoding ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    sim_builtin run;
} builtins[] = {
    {"vprintf", sim_builtin_vprintf},
    {"__assertfail", sim_builtin_assertfail},
};

static sim_builtin builtin_named(const char *name)
{
    for (size_t i = 0; i < sizeof(builtins) / sizeof(builtins[0]); i++) {
        if (strcmp(builtins[i].name, name) == 0) {
            return builtins[i].run;
        }
    }
    return NULL;
}

/* What the call says of its callee's parameters, for immediates. */
struct param_shape {
    const struct ptx_variable *params;
    uint32_t count;
};

static void place_value(struct sim_decoder *decoder, const struct ptx_operand *operand,
                        enum ptx_type type, struct sim_lane_slot *slot)
{
    if (operand->kind == PTX_OPERAND_VARIABLE) {
        const struct sim_param_slot *param = sim_decode_param(decoder, operand->variable);

        if (param == NULL) {
            sim_decode_refuse(decoder, "%s as an argument of a call", operand->variable->name);
            return;
        }
        *slot = (struct sim_lane_slot){param->frame_offset, param->bytes,
                                       (uint32_t)operand->variable->bytes};
        return;
    }
    if (operand->kind == PTX_OPERAND_REGISTER) {
        type = decoder->code->ptx->registers[operand->reg].type;
    }
    const unsigned bytes = ptx_types[type].bytes;
    if (bytes == 0) {
        sim_decode_refuse(decoder, "an argument of this type");
        return;
    }
    slot->offset = operand->kind == PTX_OPERAND_SINK ? SIM_NOWHERE
                                                     : sim_source_operand(decoder, operand, type);
    slot->stride = bytes < 2 ? 2 : bytes;
    slot->bytes = bytes;
}

static struct sim_lane_slot *place_list(struct sim_decoder *decoder, const struct ptx_operand *list,
                                        struct param_shape shape, uint32_t *count)
{
    *count = list != NULL ? list->count : 0;
    struct sim_lane_slot *slots = sim_decode_alloc(decoder, *count * sizeof(*slots));

    for (uint32_t i = 0; slots != NULL && i < *count; i++) {
        place_value(decoder, &list->items[i],
                    shape.params != NULL && i < shape.count ? shape.params[i].type : PTX_B32,
                    &slots[i]);
    }
    return slots;
}

struct parts {
    const struct ptx_operand *results, *target, *arguments, *prototype;
};

/* (results), target, (arguments), prototype or table: all but the target may be missing. */
static struct parts parts_of(const struct ptx_instruction *instruction)
{
    struct parts parts = {NULL, NULL, NULL, NULL};

    for (uint32_t i = 0; i < instruction->operand_count; i++) {
        const struct ptx_operand *operand = &instruction->operands[i];

        if (operand->kind == PTX_OPERAND_LIST) {
            *(parts.target == NULL ? &parts.results : &parts.arguments) = operand;
        } else if (operand->kind == PTX_OPERAND_FUNCTION || operand->kind == PTX_OPERAND_REGISTER) {
            parts.target = operand;
        } else if (operand->kind == PTX_OPERAND_PROTOTYPE) {
            parts.prototype = operand;
        }
    }
    return parts;
}

static void find_target(struct sim_decoder *decoder, const struct ptx_operand *target,
                        struct sim_op *op, struct sim_ptx_call *call)
{
    if (target->kind == PTX_OPERAND_REGISTER) {
        call->pointer = sim_source_operand(decoder, target, PTX_U64);
        op->run = run_call_pointer;
        decoder->kernel->recursive = true;
        return;
    }
    const struct ptx_function *function = sim_definition(decoder->module, target->function);
    if (function != NULL && !function->is_entry) {
        call->code = &decoder->kernel->codes[decoder->kernel->code_of[function->index]];
        op->run = run_call;
        /* Functions are numbered as they are found: a cycle has a call that does not go up. */
        decoder->kernel->recursive |= call->code->number <= decoder->code->number;
        return;
    }
    call->builtin = function == NULL ? builtin_named(target->function->name) : NULL;
    op->run = run_builtin;
    if (call->builtin == NULL) {
        sim_decode_refuse(decoder, "call of %s, %s", target->function->name,
                          function != NULL ? "a kernel" : "which has no body in this module");
    }
}

enum sim_decode_result sim_decode_call(struct sim_decoder *decoder,
                                       const struct ptx_instruction *instruction, struct sim_op *op)
{
    const struct parts parts = parts_of(instruction);
    struct sim_ptx_call *call = sim_decode_alloc(decoder, sizeof(*call));
    struct param_shape shape = {NULL, 0};

    if (call == NULL) {
        return SIM_UNSUPPORTED;
    }
    if (parts.target == NULL) {
        return sim_decode_refuse(decoder, "a call without a target");
    }
    if (parts.target->kind == PTX_OPERAND_FUNCTION) {
        shape = (struct param_shape){parts.target->function->params,
                                     parts.target->function->param_count};
    } else if (parts.prototype != NULL && parts.prototype->prototype != NULL) {
        shape = (struct param_shape){parts.prototype->prototype->params,
                                     parts.prototype->prototype->param_count};
    }
    find_target(decoder, parts.target, op, call);
    call->arguments = place_list(decoder, parts.arguments, shape, &call->argument_count);
    call->results = place_list(decoder, parts.results, (struct param_shape){NULL, 0},
                               &call->result_count);
    op->control.more = call;
    return sim_decode_failed(decoder) ? SIM_UNSUPPORTED : SIM_DECODED;
}

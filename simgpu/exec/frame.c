/* SPDX-License-Identifier: Apache-2.0 */
/* The fixed parts of a function's frame: the word of ones, registers, parameters. */
#include <errno.h>
#include <string.h>

#include "simgpu/exec/decode.h"

static void use_registers(struct sim_decoder *decoder, const struct ptx_operand *operand)
{
    if (operand->kind == PTX_OPERAND_REGISTER) {
        decoder->register_at[operand->reg] = 1;
    }
    for (uint32_t i = 0; operand->items != NULL && i < operand->count; i++) {
        use_registers(decoder, &operand->items[i]);
    }
    if (operand->kind == PTX_OPERAND_ADDRESS && operand->items != NULL && operand->count == 0) {
        use_registers(decoder, operand->items);
    }
}

static uint32_t formal_register(const struct ptx_function *function, const char *name)
{
    for (uint32_t i = 0; i < function->register_count; i++) {
        if (strcmp(function->registers[i].name, name) == 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

static void use_formals(struct sim_decoder *decoder, const struct ptx_variable *formals,
                        uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (formals[i].space == PTX_REG) {
            const uint32_t reg = formal_register(decoder->code->ptx, formals[i].name);

            if (reg != UINT32_MAX) {
                decoder->register_at[reg] = 1;
            }
        }
    }
}

static unsigned register_bytes(const struct ptx_register *reg)
{
    const unsigned bytes = ptx_types[reg->type].bytes;

    return bytes == 0 ? 0 : bytes <= 2 ? 2 : bytes;
}

/* Only registers that the code names have a place. */
static void place_registers(struct sim_decoder *decoder)
{
    const struct ptx_function *ptx = decoder->code->ptx;

    for (uint32_t i = 0; i < ptx->instruction_count; i++) {
        const struct ptx_instruction *instruction = &ptx->instructions[i];

        for (uint32_t k = 0; k < instruction->operand_count; k++) {
            use_registers(decoder, &instruction->operands[k]);
        }
        if (instruction->guarded) {
            decoder->register_at[instruction->guard] = 1;
        }
    }
    use_formals(decoder, ptx->params, ptx->is_entry ? 0 : ptx->param_count);
    use_formals(decoder, ptx->returns, ptx->return_count);
    decoder->code->registers_at = (uint32_t)decoder->image_bytes;
    for (uint32_t i = 0; i < ptx->register_count; i++) {
        if (decoder->register_at[i] != 0) {
            const unsigned bytes = register_bytes(&ptx->registers[i]);

            decoder->register_at[i] = sim_frame_reserve(
                decoder, bytes == 0 ? sizeof(uint32_t) : (size_t)bytes * SIM_LANES);
        }
    }
    decoder->code->registers_bytes = (uint32_t)(decoder->image_bytes - decoder->code->registers_at);
}

static struct sim_param_slot param_slot(struct sim_decoder *decoder,
                                        const struct ptx_variable *variable)
{
    struct sim_param_slot slot = {.bytes = 16};

    if (variable->bytes > SIM_MAX_PARAM_BYTES) {
        sim_decode_refuse(decoder, "parameter %s of %zu bytes", variable->name, variable->bytes);
        return slot;
    }
    slot.bytes = ((uint32_t)variable->bytes + 15) & ~15u;
    slot.bytes = slot.bytes != 0 ? slot.bytes : 16;
    slot.frame_offset = sim_frame_reserve(decoder, (size_t)slot.bytes * SIM_LANES);
    return slot;
}

static int place_formals(struct sim_decoder *decoder, const struct ptx_variable *formals,
                         uint32_t count, struct sim_param_slot **slots,
                         struct sim_lane_slot **lanes)
{
    *slots = sim_decode_alloc(decoder, count * sizeof(**slots));
    *lanes = sim_decode_alloc(decoder, count * sizeof(**lanes));
    if (*slots == NULL || *lanes == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t reg = formals[i].space == PTX_REG
                                 ? formal_register(decoder->code->ptx, formals[i].name)
                                 : UINT32_MAX;

        if (reg != UINT32_MAX) {
            const unsigned bytes = register_bytes(&decoder->code->ptx->registers[reg]);

            (*lanes)[i] = (struct sim_lane_slot){decoder->register_at[reg], bytes, bytes};
        } else {
            (*slots)[i] = param_slot(decoder, &formals[i]);
            (*lanes)[i] = (struct sim_lane_slot){(*slots)[i].frame_offset, (*slots)[i].bytes,
                                                 (uint32_t)formals[i].bytes};
        }
    }
    return 0;
}

static int place_params(struct sim_decoder *decoder)
{
    struct sim_code *code = decoder->code;
    const struct ptx_function *ptx = code->ptx;

    code->local_params = sim_decode_alloc(decoder, ptx->local_count * sizeof(*code->local_params));
    if (code->local_params == NULL ||
        place_formals(decoder, ptx->params, ptx->is_entry ? 0 : ptx->param_count,
                      &code->param_slots, &code->params) != 0 ||
        place_formals(decoder, ptx->returns, ptx->return_count, &code->return_slots,
                      &code->returns) != 0) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < ptx->local_count; i++) {
        if (ptx->locals[i]->space == PTX_PARAM) {
            code->local_params[i] = param_slot(decoder, ptx->locals[i]);
        }
    }
    return 0;
}

int sim_frame_lay_out(struct sim_decoder *decoder)
{
    sim_frame_reserve(decoder, SIM_FRAME_START);
    if (decoder->no_memory) {
        return -ENOMEM;
    }
    memset(decoder->image + SIM_ONES_AT, 0xff, sizeof(uint32_t));
    place_registers(decoder);
    return place_params(decoder);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Operands: every kind becomes a place in the frame that handlers read lanes from. */
#include <stdlib.h>
#include <string.h>

#include "simgpu/exec/decode.h"
#include "simgpu/exec/warp.h"

/* ---- immediates ----------------------------------------------------------------------------- */

static uint32_t integer_constant(struct sim_decoder *decoder, uint64_t value,
                                 const struct ptx_type_info *type)
{
    if (type->kind == PTX_KIND_FLOAT) {
        sim_decode_refuse(decoder, "an integer where a .%s is needed", type->spelling);
        return SIM_NOWHERE;
    }
    if (type->kind == PTX_KIND_PREDICATE) {
        return sim_frame_constant(decoder, value != 0, 0, 0);
    }
    const unsigned bytes = sim_storage_bytes(type->bytes);
    /* A negative number keeps its sign in 16-byte registers. */
    const uint64_t high = bytes == 16 && (int64_t)value < 0 ? UINT64_MAX : 0;

    return sim_frame_constant(decoder, sim_narrowed(value, type->bytes), high, bytes);
}

static uint32_t float_constant(struct sim_decoder *decoder, const struct ptx_operand *operand,
                               enum ptx_type type)
{
    double value;
    float single;
    uint64_t bits = operand->integer;

    if (operand->is_float32) {
        const uint32_t word = (uint32_t)operand->integer;
        memcpy(&single, &word, sizeof(single));
        value = (double)single;
    } else {
        memcpy(&value, &operand->integer, sizeof(value));
        single = (float)value;
    }
    switch (type) {
    case PTX_F16: return sim_frame_constant(decoder, sim_half_bits(value), 0, 2);
    case PTX_BF16: return sim_frame_constant(decoder, sim_bfloat_bits(value), 0, 2);
    default: break;
    }
    const struct ptx_type_info *info = &ptx_types[type];
    if (info->kind == PTX_KIND_UNSIGNED || info->kind == PTX_KIND_SIGNED ||
        info->kind == PTX_KIND_PREDICATE) {
        sim_decode_refuse(decoder, "a floating-point number where a .%s is needed", info->spelling);
        return SIM_NOWHERE;
    }
    if (info->bytes == 4 && !operand->is_float32) {
        uint32_t word;
        memcpy(&word, &single, sizeof(word));
        bits = word;
    } else if (info->bytes == 8 && operand->is_float32) {
        /* A conversion would quieten a signalling NaN; no program writes one this way. */
        memcpy(&bits, &value, sizeof(bits));
    } else if (info->bytes != 4 && info->bytes != 8) {
        sim_decode_refuse(decoder, "a floating-point number where a .%s is needed", info->spelling);
        return SIM_NOWHERE;
    }
    return sim_frame_constant(decoder, bits, 0, info->bytes);
}

/* ---- special registers ---------------------------------------------------------------------- */

static uint32_t special_slot(struct sim_decoder *decoder, uint32_t special, unsigned bytes)
{
    for (size_t i = 0; i < decoder->special_count; i++) {
        if (decoder->specials[i].special == special && decoder->specials[i].bytes == bytes) {
            return decoder->specials[i].offset;
        }
    }
    if (decoder->special_count == decoder->special_capacity) {
        const size_t capacity = decoder->special_capacity * 2 + 16;
        struct sim_special_slot *grown = realloc(decoder->specials,
                                                 capacity * sizeof(*decoder->specials));

        if (grown == NULL) {
            decoder->no_memory = decoder->failed = true;
            return SIM_NOWHERE;
        }
        decoder->specials = grown;
        decoder->special_capacity = capacity;
    }
    const uint32_t at = sim_frame_reserve(decoder, bytes == 0 ? sizeof(uint32_t)
                                                              : (size_t)bytes * SIM_LANES);
    if (at != SIM_NOWHERE) {
        decoder->specials[decoder->special_count++] = (struct sim_special_slot){
            .special = special, .offset = at, .bytes = bytes};
    }
    return at;
}

static uint32_t special_operand(struct sim_decoder *decoder, const struct ptx_operand *operand,
                                enum ptx_type type)
{
    const int row = sim_special_find(operand->special);

    if (row < 0) {
        sim_decode_refuse(decoder, "special register %%%s", operand->special);
        return SIM_NOWHERE;
    }
    const uint32_t special = (uint32_t)row;
    const bool is_predicate = sim_special_bytes(special) == 0;
    if (is_predicate != (ptx_types[type].kind == PTX_KIND_PREDICATE)) {
        sim_decode_refuse(decoder, "special register %%%s as a .%s", operand->special,
                          ptx_types[type].spelling);
        return SIM_NOWHERE;
    }
    const unsigned bytes = is_predicate ? 0 : sim_storage_bytes(ptx_types[type].bytes);
    const uint32_t at = special_slot(decoder, special, bytes);
    if (at != SIM_NOWHERE && sim_special_is_fresh(special) &&
        decoder->fresh_count < sizeof(decoder->fresh) / sizeof(decoder->fresh[0])) {
        decoder->fresh[decoder->fresh_count++] = (struct sim_special_slot){
            .special = special, .offset = at, .bytes = bytes};
    }
    return at;
}

/* ---- addresses ------------------------------------------------------------------------------ */

static uint32_t local_address(struct sim_decoder *decoder, uint64_t address, unsigned bytes)
{
    for (size_t i = 0; i < decoder->local_address_count; i++) {
        const struct sim_local_slot *slot = &decoder->local_addresses[i];

        if (slot->address == address && slot->bytes == bytes) {
            return slot->offset;
        }
    }
    if (decoder->local_address_count == decoder->local_address_capacity) {
        const size_t capacity = decoder->local_address_capacity * 2 + 16;
        struct sim_local_slot *grown = realloc(decoder->local_addresses,
                                               capacity * sizeof(*decoder->local_addresses));

        if (grown == NULL) {
            decoder->no_memory = decoder->failed = true;
            return SIM_NOWHERE;
        }
        decoder->local_addresses = grown;
        decoder->local_address_capacity = capacity;
    }
    const uint32_t at = sim_frame_reserve(decoder, (size_t)bytes * SIM_LANES);
    if (at != SIM_NOWHERE) {
        decoder->local_addresses[decoder->local_address_count++] = (struct sim_local_slot){
            .offset = at, .bytes = bytes, .address = address};
    }
    return at;
}

static bool is_own(const struct ptx_variable *variable, const struct ptx_variable *list,
                   uint32_t count)
{
    return list != NULL && variable >= list && variable < list + count;
}

/* The address of a device function's parameter is one in local memory, where the call copies it. */
static uint32_t spilled_param(struct sim_decoder *decoder, const struct ptx_variable *variable,
                              uint64_t plus, unsigned bytes)
{
    struct sim_code *code = decoder->code;
    const uint32_t param = (uint32_t)(variable - code->ptx->params);
    uint32_t i = 0;

    while (i < code->spilled_count && code->spilled[i].param != param) {
        i++;
    }
    if (i == code->spilled_count) {
        if (code->spilled == NULL) {
            code->spilled = sim_decode_alloc(decoder,
                                             code->ptx->param_count * sizeof(*code->spilled));
        }
        if (code->spilled == NULL) {
            return SIM_NOWHERE;
        }
        code->spilled[i].param = param;
        code->spilled[i].at = sim_local_reserve(decoder, variable->bytes,
                                                variable->align < 16 ? 16 : variable->align);
        code->spilled_count++;
    }
    return local_address(decoder, code->spilled[i].at + plus, bytes);
}

static uint32_t variable_address(struct sim_decoder *decoder, const struct ptx_operand *operand,
                                 enum ptx_type type)
{
    const struct ptx_variable *variable = sim_variable_definition(decoder->module,
                                                                  operand->variable);
    const struct ptx_function *function = decoder->code->ptx;
    const unsigned bytes = ptx_types[type].bytes;

    if (variable == NULL || (bytes != 4 && bytes != 8)) {
        sim_decode_refuse(decoder, "the address of %s as a .%s", operand->variable->name,
                          ptx_types[type].spelling);
        return SIM_NOWHERE;
    }
    const uint64_t plus = (uint64_t)operand->offset;
    if (variable->space == PTX_LOCAL) {
        return local_address(decoder, sim_decode_offset(decoder, variable) + plus, bytes);
    }
    if (variable->space == PTX_PARAM && !function->is_entry &&
        is_own(variable, function->params, function->param_count)) {
        return spilled_param(decoder, variable, plus, bytes);
    }
    if (variable->space == PTX_PARAM &&
        !is_own(variable, function->params, function->param_count)) {
        sim_decode_refuse(decoder, "the address of the call parameter %s", variable->name);
        return SIM_NOWHERE;
    }
    return sim_frame_constant(
        decoder, sim_narrowed(sim_decode_offset(decoder, variable) + plus, bytes), 0, bytes);
}

/* ---- the seam ------------------------------------------------------------------------------- */

static uint32_t register_source(struct sim_decoder *decoder, const struct ptx_operand *operand,
                                enum ptx_type type)
{
    const struct ptx_register *reg = &decoder->code->ptx->registers[operand->reg];
    const struct ptx_type_info *has = &ptx_types[reg->type], *wanted = &ptx_types[type];

    if ((has->kind == PTX_KIND_PREDICATE) != (wanted->kind == PTX_KIND_PREDICATE) ||
        sim_storage_bytes(has->bytes) < sim_storage_bytes(wanted->bytes)) {
        sim_decode_refuse(decoder, "register %s (.%s) where a .%s is needed", reg->name,
                          has->spelling, wanted->spelling);
        return SIM_NOWHERE;
    }
    return decoder->register_at[operand->reg];
}

uint32_t sim_source_operand(struct sim_decoder *decoder, const struct ptx_operand *operand,
                            enum ptx_type type)
{
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER: return register_source(decoder, operand, type);
    case PTX_OPERAND_INTEGER: return integer_constant(decoder, operand->integer, &ptx_types[type]);
    case PTX_OPERAND_FLOAT: return float_constant(decoder, operand, type);
    case PTX_OPERAND_SPECIAL: return special_operand(decoder, operand, type);
    case PTX_OPERAND_VARIABLE: return variable_address(decoder, operand, type);
    case PTX_OPERAND_FUNCTION: {
        const struct ptx_function *function = sim_definition(decoder->module, operand->function);

        if (function != NULL && ptx_types[type].bytes == 8) {
            return sim_constant(decoder, sim_function_address(function), 8);
        }
        sim_decode_refuse(decoder, "the address of %s here (or it has no body in this module)",
                          operand->function->name);
        return SIM_NOWHERE;
    }
    default: sim_decode_refuse(decoder, "this kind of operand"); return SIM_NOWHERE;
    }
}

uint32_t sim_source(struct sim_decoder *decoder, const struct ptx_instruction *instruction,
                    uint32_t index, enum ptx_type type)
{
    if (index >= instruction->operand_count) {
        sim_decode_refuse(decoder, "%s with %u operands", instruction->opcode,
                          instruction->operand_count);
        return SIM_NOWHERE;
    }
    return sim_source_operand(decoder, &instruction->operands[index], type);
}

uint32_t sim_target_operand(struct sim_decoder *decoder, const struct ptx_operand *operand)
{
    if (operand->kind == PTX_OPERAND_SINK) {
        return SIM_NOWHERE;
    }
    if (operand->kind != PTX_OPERAND_REGISTER) {
        sim_decode_refuse(decoder, "a result that is no register");
        return SIM_NOWHERE;
    }
    return decoder->register_at[operand->reg];
}

uint32_t sim_target(struct sim_decoder *decoder, const struct ptx_instruction *instruction,
                    uint32_t index)
{
    if (index >= instruction->operand_count) {
        sim_decode_refuse(decoder, "%s with %u operands", instruction->opcode,
                          instruction->operand_count);
        return SIM_NOWHERE;
    }
    return sim_target_operand(decoder, &instruction->operands[index]);
}

unsigned sim_operand_bytes(const struct sim_decoder *decoder, const struct ptx_operand *operand)
{
    if (operand->kind != PTX_OPERAND_REGISTER) {
        return 0;
    }
    const enum ptx_type type = decoder->code->ptx->registers[operand->reg].type;
    return ptx_types[type].bytes != 0 ? sim_storage_bytes(ptx_types[type].bytes) : 0;
}

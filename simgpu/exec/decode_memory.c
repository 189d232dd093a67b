/* SPDX-License-Identifier: Apache-2.0 */
/* Operands of instructions that access memory: address, space, and the registers of a vector. */
#include "simgpu/exec/access.h"
#include "simgpu/exec/transfer.h"

#define LOW_REGISTER_BYTES 2u /* 8-bit values live in 16-bit lanes */

bool sim_decode_address(struct sim_decoder *decoder, const struct ptx_operand *operand,
                        struct sim_op *op)
{
    const struct ptx_operand *base = operand;
    int64_t offset = 0;

    if (operand->kind == PTX_OPERAND_ADDRESS && operand->items != NULL) {
        base = operand->items;
        offset = operand->offset;
    }
    if (base->kind != PTX_OPERAND_REGISTER && base->kind != PTX_OPERAND_VARIABLE &&
        base->kind != PTX_OPERAND_INTEGER) {
        sim_decode_refuse(decoder, "this kind of address is not supported");
        return false;
    }
    const bool is_32 = base->kind == PTX_OPERAND_REGISTER && sim_operand_bytes(decoder, base) == 4;
    if (base->kind == PTX_OPERAND_REGISTER && !is_32 && sim_operand_bytes(decoder, base) != 8) {
        sim_decode_refuse(decoder, "an address register has 32 or 64 bits");
        return false;
    }
    op->a = sim_source_operand(decoder, base, is_32 ? PTX_U32 : PTX_U64);
    op->memory.offset = offset;
    if (is_32) {
        op->flags |= SIM_ADDRESS_32;
    }
    return !sim_decode_failed(decoder);
}

static const struct {
    const char *word;
    enum ptx_space space;
} spaces[] = {
    {"global", PTX_GLOBAL},      {"shared", PTX_SHARED},     {"shared::cta", PTX_SHARED},
    {"local", PTX_LOCAL},        {"const", PTX_CONST},       {"param", PTX_PARAM},
    {"param::entry", PTX_PARAM}, {"param::func", PTX_PARAM},
};

enum ptx_space sim_decode_space(const struct ptx_instruction *instruction)
{
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
        if (sim_has(instruction, spaces[i].word)) {
            return spaces[i].space;
        }
    }
    return PTX_GENERIC;
}

static unsigned vector_of(const struct ptx_instruction *instruction)
{
    return sim_has(instruction, "v8")   ? 8
           : sim_has(instruction, "v4") ? 4
           : sim_has(instruction, "v2") ? 2
                                        : 1;
}

static bool decode_element(struct sim_decoder *decoder, const struct ptx_operand *item,
                           enum ptx_type type, bool is_written, unsigned k, struct sim_op *op)
{
    const unsigned bytes = op->memory.element_bytes;
    unsigned reg = item->kind == PTX_OPERAND_REGISTER ? sim_operand_bytes(decoder, item) : 0;

    if (item->kind == PTX_OPERAND_REGISTER && reg == 0) {
        sim_decode_refuse(decoder, "a predicate is not in memory");
        return false;
    }
    if (reg == 0) { /* immediates and `_` */
        reg = bytes < LOW_REGISTER_BYTES ? LOW_REGISTER_BYTES : bytes;
    }
    const int transfer = sim_transfer_find(bytes, reg);
    if (transfer < 0) {
        sim_decode_refuse(decoder, "%u bytes of memory do not go with a register of %u", bytes,
                          reg);
        return false;
    }
    op->memory.lanes_at[k] = is_written ? sim_target_operand(decoder, item)
                                        : sim_source_operand(decoder, item, type);
    op->d |= (uint32_t)transfer << (SIM_TRANSFER_BITS * k);
    return !sim_decode_failed(decoder);
}

bool sim_decode_elements(struct sim_decoder *decoder, const struct ptx_instruction *instruction,
                         const struct ptx_operand *operand, enum ptx_type type, bool are_written,
                         struct sim_op *op)
{
    const unsigned vector = vector_of(instruction);
    const bool braces = operand->kind == PTX_OPERAND_VECTOR;
    const unsigned given = braces ? operand->count : 1;
    const enum ptx_type_kind kind = type < PTX_TYPES ? ptx_types[type].kind : PTX_KIND_NONE;

    if (kind == PTX_KIND_NONE || kind == PTX_KIND_PREDICATE || kind == PTX_KIND_OPAQUE) {
        sim_decode_refuse(decoder, "a type that can be in memory is missing");
        return false;
    }
    if (given != vector || ptx_types[type].bytes * vector > 32) {
        sim_decode_refuse(decoder, "%u operands for %u elements of %u bytes", given, vector,
                          ptx_types[type].bytes);
        return false;
    }
    op->memory.vector = (uint8_t)vector;
    op->memory.element_bytes = (uint8_t)ptx_types[type].bytes;
    op->memory.extend_sign = kind == PTX_KIND_SIGNED;
    for (unsigned k = 0; k < vector; k++) {
        const struct ptx_operand *item = braces ? &operand->items[k] : operand;
        if (!decode_element(decoder, item, type, are_written, k, op)) {
            return false;
        }
    }
    return true;
}

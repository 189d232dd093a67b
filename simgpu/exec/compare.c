/* SPDX-License-Identifier: Apache-2.0 */
/* setp and set: joining with a predicate, operands, results. */
#include "simgpu/exec/compare.h"
#include "simgpu/exec/warp.h"

static uint32_t combine(uint32_t flags, uint32_t result, uint32_t c)
{
    switch (flags >> SIM_COMBINE_SHIFT & 3) {
    case SIM_COMBINE_AND: return result & c;
    case SIM_COMBINE_OR: return result | c;
    case SIM_COMBINE_XOR: return result ^ c;
    default: return result;
    }
}

struct sim_words sim_compare_combine(const uint8_t *frame, const struct sim_op *op, uint32_t result)
{
    uint32_t c = *SIM_AT(frame, op->c, const uint32_t);
    if (op->flags & SIM_NEGATED_C) {
        c = ~c;
    }
    return (struct sim_words){combine(op->flags, result, c), combine(op->flags, ~result, c)};
}

const struct sim_op *sim_compare_finish(struct sim_warp *warp, const struct sim_op *op,
                                        uint32_t mask, uint32_t result)
{
    const struct sim_words words = sim_compare_combine(warp->frame, op, result);
    uint32_t *p = SIM_AT(warp->frame, op->dst, uint32_t);
    *p = (*p & ~mask) | (words.p & mask);
    if (op->dst2 != SIM_NOWHERE) {
        uint32_t *q = SIM_AT(warp->frame, op->dst2, uint32_t);
        *q = (*q & ~mask) | (words.q & mask);
    }
    return op + 1;
}

static enum sim_combine combine_of(const struct ptx_instruction *instruction)
{
    return sim_has(instruction, "and")   ? SIM_COMBINE_AND
           : sim_has(instruction, "or")  ? SIM_COMBINE_OR
           : sim_has(instruction, "xor") ? SIM_COMBINE_XOR
                                         : SIM_COMBINE_NONE;
}

enum sim_decode_result sim_compare_operands(struct sim_decoder *decoder,
                                            const struct ptx_instruction *instruction,
                                            enum ptx_type type, bool predicates, struct sim_op *op)
{
    const enum sim_combine combined = combine_of(instruction);
    const uint32_t first = instruction->pair_first ? 2 : 1; /* of a */
    const uint32_t count = first + (combined != SIM_COMBINE_NONE ? 3 : 2);
    if (instruction->operand_count != count || (instruction->pair_first && !predicates)) {
        return sim_decode_refuse(decoder, "%u operands where it has %u", instruction->operand_count,
                                 count);
    }
    for (uint32_t i = 0; i < first && predicates; i++) {
        if (instruction->operands[i].kind == PTX_OPERAND_REGISTER &&
            sim_operand_bytes(decoder, &instruction->operands[i]) != 0) {
            return sim_decode_refuse(decoder, "a result that is no predicate");
        }
    }
    op->flags |= sim_form_flags(instruction) | (uint32_t)combined << SIM_COMBINE_SHIFT;
    op->dst = sim_target(decoder, instruction, 0);
    if (instruction->pair_first) {
        op->dst2 = sim_target(decoder, instruction, 1);
    }
    op->a = sim_exact_source(decoder, instruction, first, type);
    op->b = sim_exact_source(decoder, instruction, first + 1, type);
    if (combined != SIM_COMBINE_NONE) {
        op->c = sim_source(decoder, instruction, first + 2, PTX_PRED);
        op->flags |= instruction->operands[first + 2].negated ? SIM_NEGATED_C : 0;
    }
    return sim_decode_failed(decoder) ? SIM_UNSUPPORTED : SIM_DECODED;
}

uint32_t sim_set_value(enum ptx_type dtype)
{
    switch (dtype) {
    case PTX_U32:
    case PTX_S32: return UINT32_MAX;
    case PTX_U16:
    case PTX_S16: return UINT16_MAX;
    case PTX_F32: return 0x3f800000;
    case PTX_F16: return 0x3c00;
    case PTX_BF16: return 0x3f80;
    case PTX_F16X2: return 0x3c003c00;
    case PTX_BF16X2: return 0x3f803f80;
    default: return 0;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Integer arithmetic, logic and shifts: decoding, and the handlers for any processor. */
#include "simgpu/exec/decode.h"
#include "simgpu/exec/integer_lanes.h"

/* lop3{.or,.and}.b32 d{|p}, a, b, c, immLut{, q} */
static enum sim_decode_result decode_lop3(struct sim_decoder *decoder,
                                          const struct ptx_instruction *instruction,
                                          const struct sim_integer_table *table, struct sim_op *op)
{
    const struct ptx_operand *operands = instruction->operands;
    uint32_t first = instruction->pair_first ? 2 : 1; /* of a */
    bool combines = sim_has(instruction, "or") || sim_has(instruction, "and");
    if (instruction->operand_count != first + 4 + (combines ? 1 : 0) ||
        combines != instruction->pair_first || operands[first + 3].kind != PTX_OPERAND_INTEGER ||
        operands[first + 3].integer > 255) {
        return sim_decode_refuse(decoder, "lop3 with these operands");
    }
    op->run = table->lop3;
    op->flags = (uint32_t)operands[first + 3].integer;
    op->dst = sim_exact_target(decoder, instruction, 0, PTX_B32);
    op->a = sim_exact_source(decoder, instruction, first, PTX_B32);
    op->b = sim_exact_source(decoder, instruction, first + 1, PTX_B32);
    op->c = sim_exact_source(decoder, instruction, first + 2, PTX_B32);
    if (combines) {
        op->dst2 = sim_target(decoder, instruction, 1);
        op->d = sim_source(decoder, instruction, first + 4, PTX_PRED);
        op->flags |= sim_has(instruction, "and") ? SIM_LOP3_AND : 0;
        op->flags |= operands[first + 4].negated ? SIM_LOP3_NEGATED : 0;
    }
    return sim_decode_failed(decoder) ? SIM_UNSUPPORTED : SIM_DECODED;
}

enum sim_decode_result sim_decode_integer(struct sim_decoder *decoder,
                                          const struct ptx_instruction *instruction,
                                          struct sim_op *op)
{
    const struct sim_integer_table *table = sim_level() == SIM_LEVEL_AVX2 ? &sim_integer_table_avx2
                                                                          : &sim_integer_table_any;
    char text[128];
    if (!sim_form_text(instruction, text, sizeof(text))) {
        return SIM_NOT_MINE;
    }
    if (sim_form_matches("lop3<,.or,.and>.b32", text)) {
        return decode_lop3(decoder, instruction, table, op);
    }
    const struct sim_form *form = sim_form_find(table->forms, SIM_INTEGER_FORMS, text);
    if (form) {
        return sim_form_fill(decoder, instruction, form, op);
    }
    form = sim_form_find(table->carries, SIM_CARRY_FORMS, text);
    if (!form) {
        return SIM_NOT_MINE;
    }
    enum sim_decode_result result = sim_form_fill(decoder, instruction, form, op);
    op->d = sim_decode_carry(decoder);
    return sim_decode_failed(decoder) ? SIM_UNSUPPORTED : result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Moves, comparison and selection, logic of predicates: decoding, and handlers for any processor. */
#include <stdio.h>

#include "simgpu/exec/move_lanes.h"

static const struct sim_move_table *table(void)
{
    return sim_level() == SIM_LEVEL_AVX2 ? &sim_move_table_avx2 : &sim_move_table_any;
}

/* Handlers come for lanes of 2, 4 and 8 bytes. */
static unsigned size_index(unsigned bytes)
{
    return bytes == 8 ? 2 : bytes == 4 ? 1 : 0;
}

/* ---- setp, set ------------------------------------------------------------------------------ */

static const struct sim_compare *find_compare(const struct ptx_instruction *instruction,
                                              enum ptx_type type)
{
    char text[64];
    snprintf(text, sizeof(text), "%s%s.%s", instruction->modifiers[0],
             sim_has(instruction, "ftz") ? ".ftz" : "", ptx_types[type].spelling);
    for (unsigned i = 0; i < SIM_COMPARES; i++) {
        if (sim_form_matches(table()->compares[i].pattern, text)) {
            return &table()->compares[i];
        }
    }
    return NULL;
}

static enum sim_decode_result decode_setp(struct sim_decoder *decoder,
                                          const struct ptx_instruction *instruction,
                                          struct sim_op *op)
{
    const enum ptx_type type = sim_type(instruction, 0);
    const struct sim_compare *compare = instruction->modifier_count != 0
                                            ? find_compare(instruction, type)
                                            : NULL;
    if (!compare) {
        return SIM_NOT_MINE; /* of halves: the half family's */
    }
    op->run = compare->setp;
    return sim_compare_operands(decoder, instruction, type, true, op);
}

static enum sim_decode_result decode_set(struct sim_decoder *decoder,
                                         const struct ptx_instruction *instruction,
                                         struct sim_op *op)
{
    const enum ptx_type dtype = sim_type(instruction, 0), type = sim_type(instruction, 1);
    const struct sim_compare *compare = instruction->modifier_count != 0
                                            ? find_compare(instruction, type)
                                            : NULL;
    if (!compare || (dtype != PTX_U32 && dtype != PTX_S32 && dtype != PTX_F32)) {
        return SIM_NOT_MINE;
    }
    const enum sim_decode_result result = sim_compare_operands(decoder, instruction, type, false,
                                                               op);
    struct sim_set *set = sim_decode_alloc(decoder, sizeof(*set));
    if (result != SIM_DECODED || !set) {
        return sim_decode_refuse(decoder, "no memory");
    }
    *set = (struct sim_set){compare->compare, sim_set_value(dtype)};
    op->dst = sim_exact_target(decoder, instruction, 0, dtype);
    op->run = table()->set;
    op->more = set;
    return sim_decode_failed(decoder) ? SIM_UNSUPPORTED : SIM_DECODED;
}

/* ---- selp, slct, prmt ----------------------------------------------------------------------- */

static enum sim_decode_result decode_select(struct sim_decoder *decoder,
                                            const struct ptx_instruction *instruction,
                                            struct sim_op *op)
{
    const enum ptx_type type = sim_type(instruction, 0);
    struct sim_form form = {.target = (uint8_t)type,
                            .sources = {(uint8_t)type, (uint8_t)type, PTX_PRED},
                            .run = table()->select[size_index(ptx_types[type].bytes)]};
    const enum sim_decode_result result = sim_form_fill(decoder, instruction, &form, op);
    if (result == SIM_DECODED && instruction->operands[3].negated) {
        op->flags |= SIM_NEGATED_C;
    }
    return result;
}

static enum sim_decode_result decode_choose(struct sim_decoder *decoder,
                                            const struct ptx_instruction *instruction,
                                            struct sim_op *op)
{
    const enum ptx_type type = sim_type(instruction, 0), by = sim_type(instruction, 1);
    const unsigned size = size_index(ptx_types[type].bytes);
    struct sim_form form = {.target = (uint8_t)type,
                            .sources = {(uint8_t)type, (uint8_t)type, (uint8_t)by},
                            .run = by == PTX_F32 ? table()->choose_float[size]
                                                 : table()->choose_signed[size]};
    return sim_form_fill(decoder, instruction, &form, op);
}

static enum sim_decode_result decode_permute(struct sim_decoder *decoder,
                                             const struct ptx_instruction *instruction,
                                             struct sim_op *op)
{
    static const char *const modes[] = {"", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
    const struct sim_form form = {
        .target = PTX_B32, .sources = {PTX_B32, PTX_B32, PTX_B32}, .run = table()->permute};
    const enum sim_decode_result result = sim_form_fill(decoder, instruction, &form, op);
    op->flags = SIM_PRMT_INDEX;
    for (uint32_t i = 1; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (sim_has(instruction, modes[i])) {
            op->flags = i;
        }
    }
    return result;
}

/* ---- predicates ----------------------------------------------------------------------------- */

#define PREDICATE_LOGIC(X) \
    X(and, a &b) \
    X(or, a | b) \
    X(xor, a ^ b) \
    X(not, ~a) \
    X(mov, a)

#define PREDICATE_HANDLER(name, value) \
    static const struct sim_op *run_pred_##name(struct sim_warp *warp, const struct sim_op *op, \
                                                uint32_t mask) \
    { \
        const uint32_t a = *SIM_AT(warp->frame, op->a, const uint32_t) ^ \
                           (op->flags & SIM_NEGATED_A ? UINT32_MAX : 0); \
        const uint32_t b = *SIM_AT(warp->frame, op->b, const uint32_t) ^ \
                           (op->flags & SIM_NEGATED_B ? UINT32_MAX : 0); \
        uint32_t *d = SIM_AT(warp->frame, op->dst, uint32_t); \
        (void)b; \
        *d = sim_merge(*d, value, mask); \
        return op + 1; \
    }
PREDICATE_LOGIC(PREDICATE_HANDLER)

static const struct sim_form predicate_forms[] = {
#define PREDICATE_ROW(name, value) {#name ".pred", run_pred_##name, PTX_PRED, {PTX_PRED, PTX_PRED}},
    PREDICATE_LOGIC(PREDICATE_ROW)
#undef PREDICATE_ROW
};

static enum sim_decode_result decode_predicate(struct sim_decoder *decoder,
                                               const struct ptx_instruction *instruction,
                                               const struct sim_form *row, struct sim_op *op)
{
    struct sim_form form = *row;
    if (instruction->operand_count == 2) {
        form.sources[1] = PTX_NO_TYPE;
    }
    const bool unary = instruction->opcode[0] == 'n' || instruction->opcode[0] == 'm';
    if (unary != (instruction->operand_count == 2)) {
        return sim_decode_refuse(decoder, "%u operands", instruction->operand_count);
    }
    const enum sim_decode_result result = sim_form_fill(decoder, instruction, &form, op);
    if (result != SIM_DECODED) {
        return result;
    }
    op->flags = instruction->operands[1].negated ? SIM_NEGATED_A : 0;
    op->flags |= !unary && instruction->operands[2].negated ? SIM_NEGATED_B : 0;
    return result;
}

/* ---- mov ------------------------------------------------------------------------------------ */

/* Anything that is not two halves: parts of one to eight bytes, lane by lane. */
static const struct sim_op *run_unpack(struct sim_warp *warp, const struct sim_op *op,
                                       uint32_t mask)
{
    const struct sim_parts *parts = op->more;
    const size_t whole = (size_t)parts->bytes * parts->count;
    const size_t stored = parts->bytes < 2 ? 2 : parts->bytes;
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const size_t i = (size_t)__builtin_ctz(rest);
        for (uint32_t part = 0; part < parts->count; part++) {
            uint64_t value = 0;
            memcpy(&value, warp->frame + op->a + i * whole + part * parts->bytes, parts->bytes);
            memcpy(warp->frame + parts->at[part] + i * stored, &value, stored);
        }
    }
    return op + 1;
}

static const struct sim_op *run_pack(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    const struct sim_parts *parts = op->more;
    const size_t whole = (size_t)parts->bytes * parts->count;
    const size_t stored = parts->bytes < 2 ? 2 : parts->bytes;
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const size_t i = (size_t)__builtin_ctz(rest);
        for (uint32_t part = 0; part < parts->count; part++) {
            memcpy(warp->frame + op->dst + i * whole + part * parts->bytes,
                   warp->frame + parts->at[part] + i * stored, parts->bytes);
        }
    }
    return op + 1;
}

static const struct sim_op *run_move128(struct sim_warp *warp, const struct sim_op *op,
                                        uint32_t mask)
{
    const uint64_t(*a)[2] = (const uint64_t(*)[2])(warp->frame + op->a);
    uint64_t(*d)[2] = (uint64_t(*)[2])(warp->frame + op->dst);
    SIM_FOR_LANES(mask, i, (d[i][0] = a[i][0], d[i][1] = a[i][1]));
    return op + 1;
}

/* mov.b32 {a, b}, d or mov.b32 d, {a, b}: the parts are written or read. */
static enum sim_decode_result decode_parts(struct sim_decoder *decoder,
                                           const struct ptx_instruction *instruction, bool unpacks,
                                           struct sim_op *op)
{
    static const enum ptx_type part_types[] = {
        [1] = PTX_B8, [2] = PTX_B16, [4] = PTX_B32, [8] = PTX_B64};
    const struct ptx_operand *vector = &instruction->operands[unpacks ? 0 : 1];
    const enum ptx_type type = sim_type(instruction, 0);
    struct sim_parts *parts = sim_decode_alloc(decoder, sizeof(*parts));
    if (!parts) {
        return sim_decode_refuse(decoder, "no memory");
    }
    if ((vector->count != 2 && vector->count != 4) || ptx_types[type].bytes < vector->count ||
        ptx_types[type].bytes / vector->count > 8) {
        return sim_decode_refuse(decoder, "a vector of %u parts of .%s", vector->count,
                                 ptx_types[type].spelling);
    }
    *parts = (struct sim_parts){.count = vector->count,
                                .bytes = ptx_types[type].bytes / vector->count};
    for (uint32_t i = 0; i < vector->count; i++) {
        const unsigned bytes = sim_operand_bytes(decoder, &vector->items[i]);
        if (vector->items[i].kind == PTX_OPERAND_REGISTER &&
            bytes != (parts->bytes < 2 ? 2 : parts->bytes)) {
            return sim_decode_refuse(decoder, "part %u of a vector has another size", i);
        }
        parts->at[i] = unpacks ? sim_target_operand(decoder, &vector->items[i])
                               : sim_source_operand(decoder, &vector->items[i],
                                                    part_types[parts->bytes]);
    }
    op->run = unpacks ? run_unpack : run_pack;
    op->more = parts;
    if (unpacks) {
        op->a = sim_exact_source(decoder, instruction, 1, type);
    } else {
        op->dst = sim_exact_target(decoder, instruction, 0, type);
    }
    if (parts->count == 2 && (parts->bytes == 4 || parts->bytes == 2)) {
        if (unpacks) {
            op->dst = parts->at[0], op->dst2 = parts->at[1];
        } else {
            op->a = parts->at[0], op->b = parts->at[1];
        }
        op->run = unpacks ? (parts->bytes == 4 ? table()->unpack64 : table()->unpack32)
                          : (parts->bytes == 4 ? table()->pack64 : table()->pack32);
    }
    return sim_decode_failed(decoder) ? SIM_UNSUPPORTED : SIM_DECODED;
}

static enum sim_decode_result decode_mov(struct sim_decoder *decoder,
                                         const struct ptx_instruction *instruction,
                                         struct sim_op *op)
{
    const enum ptx_type type = sim_type(instruction, 0);
    if (instruction->operand_count != 2 || ptx_types[type].bytes < 2) {
        return sim_decode_refuse(decoder, "%u operands", instruction->operand_count);
    }
    if (instruction->operands[0].kind == PTX_OPERAND_VECTOR ||
        instruction->operands[1].kind == PTX_OPERAND_VECTOR) {
        return decode_parts(decoder, instruction,
                            instruction->operands[0].kind == PTX_OPERAND_VECTOR, op);
    }
    const unsigned bytes = ptx_types[type].bytes;
    const struct sim_form form = {.target = (uint8_t)type,
                                  .sources = {(uint8_t)type},
                                  .run = bytes == 16 ? run_move128
                                                     : table()->move[size_index(bytes)]};
    return sim_form_fill(decoder, instruction, &form, op);
}

/* ---- the family ----------------------------------------------------------------------------- */

static const struct {
    const char *pattern;
    sim_family decode;
} opcodes[] = {
    {"mov.<b16,u16,s16,f16,bf16,b32,u32,s32,f32,f16x2,bf16x2,b64,u64,s64,f64,b128>", decode_mov},
    {"selp.<b16,u16,s16,b32,u32,s32,f32,b64,u64,s64,f64>", decode_select},
    {"slct<,.ftz>.<b16,u16,s16,b32,u32,s32,f32,b64,u64,s64,f64>.<s32,f32>", decode_choose},
    {"prmt.b32<,.f4e,.b4e,.rc8,.ecl,.ecr,.rc16>", decode_permute},
};

enum sim_decode_result sim_decode_move(struct sim_decoder *decoder,
                                       const struct ptx_instruction *instruction, struct sim_op *op)
{
    char text[128];
    if (!sim_form_text(instruction, text, sizeof(text))) {
        return SIM_NOT_MINE;
    }
    if (strcmp(instruction->opcode, "setp") == 0) {
        return decode_setp(decoder, instruction, op);
    }
    if (strcmp(instruction->opcode, "set") == 0) {
        return decode_set(decoder, instruction, op);
    }
    for (size_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++) {
        if (opcodes[i].pattern[0] == text[0] && sim_form_matches(opcodes[i].pattern, text)) {
            return opcodes[i].decode(decoder, instruction, op);
        }
    }
    const struct sim_form *form = sim_form_find(
        predicate_forms, sizeof(predicate_forms) / sizeof(predicate_forms[0]), text);
    return form ? decode_predicate(decoder, instruction, form, op) : SIM_NOT_MINE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* f32 and f64: decoding, testp, three operands of min and max, and the handlers for any processor. */
#include "simgpu/exec/floating_lanes.h"

/* ---- testp ---------------------------------------------------------------------------------- */

enum number_class {
    IS_ZERO = 1,
    IS_SUBNORMAL = 2,
    IS_NORMAL = 4,
    IS_INFINITE = 8,
    IS_NAN = 16,
};

/* Zeros count as normal. */
static const struct {
    const char *pattern;
    uint32_t classes;
} questions[] = {
    {"testp.finite.<f32,f64>", IS_ZERO | IS_SUBNORMAL | IS_NORMAL},
    {"testp.infinite.<f32,f64>", IS_INFINITE},
    {"testp.number.<f32,f64>", IS_ZERO | IS_SUBNORMAL | IS_NORMAL | IS_INFINITE},
    {"testp.notanumber.<f32,f64>", IS_NAN},
    {"testp.normal.<f32,f64>", IS_ZERO | IS_NORMAL},
    {"testp.subnormal.<f32,f64>", IS_SUBNORMAL},
};

static uint32_t class_of(uint64_t exponent, uint64_t greatest, uint64_t fraction)
{
    if (exponent == 0) {
        return fraction ? IS_SUBNORMAL : IS_ZERO;
    }
    if (exponent == greatest) {
        return fraction ? IS_NAN : IS_INFINITE;
    }
    return IS_NORMAL;
}

static uint32_t class32(const uint8_t *frame, const struct sim_op *op, unsigned i)
{
    const uint32_t a = SIM_AT(frame, op->a, const uint32_t)[i];
    return class_of(a >> 23 & 0xff, 0xff, a & 0x7fffff);
}

static uint32_t class64(const uint8_t *frame, const struct sim_op *op, unsigned i)
{
    const uint64_t a = SIM_AT(frame, op->a, const uint64_t)[i];
    return class_of(a >> 52 & 0x7ff, 0x7ff, a & 0xfffffffffffff);
}

#define TEST(bits) \
    static const struct sim_op *run_test##bits(struct sim_warp *warp, const struct sim_op *op, \
                                               uint32_t mask) \
    { \
        uint32_t *p = SIM_AT(warp->frame, op->dst, uint32_t), result = 0; \
        for (unsigned i = 0; i < SIM_LANES; i++) \
            result |= class##bits(warp->frame, op, i) & op->flags ? 1u << i : 0; \
        *p = sim_merge(*p, result, mask); \
        return op + 1; \
    }
TEST(32)
TEST(64)

static enum sim_decode_result decode_test(struct sim_decoder *decoder,
                                          const struct ptx_instruction *instruction,
                                          uint32_t classes, struct sim_op *op)
{
    const enum ptx_type type = sim_type(instruction, 0);
    const struct sim_form form = {.target = PTX_PRED,
                                  .sources = {(uint8_t)type},
                                  .run = type == PTX_F64 ? run_test64 : run_test32};
    const enum sim_decode_result result = sim_form_fill(decoder, instruction, &form, op);
    op->flags = classes;
    return result;
}

/* ---- the least or greatest of three --------------------------------------------------------- */

static float of_three(const struct sim_op *op, float a, float b, float c)
{
    const bool least = op->integer != 0;
    if (op->flags & SIM_ABSOLUTE) {
        a = __builtin_fabsf(a), b = __builtin_fabsf(b), c = __builtin_fabsf(c);
    }
    const float two = least ? least_f32(a, b, op->flags) : greatest_f32(a, b, op->flags);
    return least ? least_f32(two, c, op->flags) : greatest_f32(two, c, op->flags);
}

static const struct sim_op *run_three(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    float x[3][SIM_LANES], v[SIM_LANES];
    load_f32(x[0], SIM_SOURCE(warp->frame, op, a, float), op->flags);
    load_f32(x[1], SIM_SOURCE(warp->frame, op, b, float), op->flags);
    load_f32(x[2], SIM_SOURCE(warp->frame, op, c, float), op->flags);
    for (unsigned i = 0; i < SIM_LANES; i++) {
        v[i] = of_three(op, x[0][i], x[1][i], x[2][i]);
    }
    settle_f32(v, op->flags);
    SIM_BLEND(SIM_TARGET(warp->frame, op, float), v, mask);
    return op + 1;
}

static enum sim_decode_result decode_three(struct sim_decoder *decoder,
                                           const struct ptx_instruction *instruction,
                                           struct sim_op *op)
{
    const struct sim_form form = {
        .target = PTX_F32, .sources = {PTX_F32, PTX_F32, PTX_F32}, .run = run_three};
    const enum sim_decode_result result = sim_form_fill(decoder, instruction, &form, op);
    op->flags |= sim_has(instruction, "abs") ? SIM_ABSOLUTE : 0;
    op->integer = instruction->opcode[1] == 'i';
    return result;
}

enum sim_decode_result sim_decode_floating(struct sim_decoder *decoder,
                                           const struct ptx_instruction *instruction,
                                           struct sim_op *op)
{
    char text[128];
    if (!sim_form_text(instruction, text, sizeof(text))) {
        return SIM_NOT_MINE;
    }
    for (size_t i = 0; text[0] == 't' && i < sizeof(questions) / sizeof(questions[0]); i++) {
        if (sim_form_matches(questions[i].pattern, text)) {
            return decode_test(decoder, instruction, questions[i].classes, op);
        }
    }
    if (instruction->operand_count == 4 &&
        sim_form_matches("<min,max><,.ftz><,.NaN><,.abs>.f32", text)) {
        return decode_three(decoder, instruction, op);
    }
    const struct sim_form *forms = sim_level() == SIM_LEVEL_AVX2 ? sim_floating_forms_avx2
                                                                 : sim_floating_forms_any;
    const struct sim_form *form = sim_form_find(forms, SIM_FLOATING_FORMS, text);
    return form ? sim_form_fill(decoder, instruction, form, op) : SIM_NOT_MINE;
}

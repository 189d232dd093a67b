/* SPDX-License-Identifier: Apache-2.0 */
/* cvt: decoding, the general handlers, packed conversions, and handlers for any processor. */
#include "simgpu/exec/convert_lanes.h"

#define INTEGERS "u8,s8,u16,s16,u32,s32,u64,s64"
#define FLOATS "f16,bf16,f32,f64"

/* ---- one number ----------------------------------------------------------------------------- */

static uint64_t load(const uint8_t *frame, uint32_t at, unsigned bytes, unsigned lane)
{
    uint64_t bits = 0;
    memcpy(&bits, frame + at + (size_t)lane * bytes, bytes);
    return bits;
}

static void store(uint8_t *frame, uint32_t at, unsigned bytes, unsigned lane, uint64_t bits)
{
    memcpy(frame + at + (size_t)lane * bytes, &bits, bytes);
}

static const struct sim_op *run_convert(struct sim_warp *warp, const struct sim_op *op,
                                        uint32_t mask)
{
    const struct sim_conversion *conversion = op->more;
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const unsigned i = (unsigned)__builtin_ctz(rest);
        const uint64_t bits = load(warp->frame, op->a, conversion->from_bytes, i);
        store(warp->frame, op->dst, conversion->to_bytes, i, conversion->convert(conversion, bits));
    }
    return op + 1;
}

static unsigned stored_bytes(const struct sim_decoder *decoder, const struct ptx_operand *operand,
                             enum ptx_type type)
{
    const unsigned bytes = sim_operand_bytes(decoder, operand);
    return bytes != 0 ? bytes : ptx_types[type].bytes < 2 ? 2 : ptx_types[type].bytes;
}

static struct sim_extension extension_of(const struct sim_conversion *conversion)
{
    const unsigned from = ptx_types[conversion->from].bytes, to = ptx_types[conversion->to].bytes;
    const bool from_signed = ptx_types[conversion->from].kind == PTX_KIND_SIGNED;
    const bool to_signed = ptx_types[conversion->to].kind == PTX_KIND_SIGNED;
    return (struct sim_extension){.from_mask = UINT64_MAX >> (64 - 8 * from),
                                  .from_sign = from_signed ? UINT64_C(1) << (8 * from - 1) : 0,
                                  .to_mask = UINT64_MAX >> (64 - 8 * to),
                                  .to_sign = to_signed ? UINT64_C(1) << (8 * to - 1) : 0};
}

static unsigned size_index(unsigned bytes)
{
    return bytes == 8 ? 2 : bytes == 4 ? 1 : 0;
}

static enum sim_decode_result decode_extension(struct sim_decoder *decoder,
                                               const struct sim_convert_table *table,
                                               const struct sim_conversion *conversion,
                                               struct sim_op *op)
{
    struct sim_extension *extension = sim_decode_alloc(decoder, sizeof(*extension));
    if (!extension) {
        return sim_decode_refuse(decoder, "no memory");
    }
    *extension = extension_of(conversion);
    op->more = extension;
    op->run = table->extend[size_index(conversion->from_bytes)][size_index(conversion->to_bytes)];
    return sim_decode_failed(decoder) ? SIM_UNSUPPORTED : SIM_DECODED;
}

static bool is_integer(enum ptx_type type)
{
    return ptx_types[type].kind == PTX_KIND_SIGNED || ptx_types[type].kind == PTX_KIND_UNSIGNED;
}

static enum sim_decode_result decode_one(struct sim_decoder *decoder,
                                         const struct ptx_instruction *instruction,
                                         const struct sim_convert_table *table, struct sim_op *op)
{
    const struct ptx_operand *operands = instruction->operands;
    struct sim_conversion *conversion = sim_decode_alloc(decoder, sizeof(*conversion));
    if (!conversion || instruction->operand_count != 2) {
        return sim_decode_refuse(decoder, "%u operands", instruction->operand_count);
    }
    conversion->to = sim_type(instruction, 0);
    conversion->from = sim_type(instruction, 1);
    conversion->flags = sim_form_flags(instruction);
    conversion->flags |= sim_has(instruction, "rna") ? SIM_TIES_AWAY : 0;
    op->dst = sim_target(decoder, instruction, 0);
    op->a = sim_source(decoder, instruction, 1, conversion->from);
    conversion->to_bytes = stored_bytes(decoder, &operands[0], conversion->to);
    conversion->from_bytes = stored_bytes(decoder, &operands[1], conversion->from);
    if (conversion->to_bytes < ptx_types[conversion->to].bytes || conversion->to_bytes > 8 ||
        conversion->from_bytes > 8) {
        return sim_decode_refuse(decoder, "a register of %u bits here", 8 * conversion->to_bytes);
    }
    const bool from_integer = is_integer(conversion->from), to_integer = is_integer(conversion->to);
    if (from_integer && to_integer && !(conversion->flags & SIM_SAT)) {
        return decode_extension(decoder, table, conversion, op);
    }
    conversion->convert = from_integer ? (to_integer ? sim_convert_integer : sim_convert_to_float)
                                       : (to_integer ? sim_convert_to_integer : sim_convert_float);
    op->more = conversion;
    op->run = run_convert;
    return sim_decode_failed(decoder) ? SIM_UNSUPPORTED : SIM_DECODED;
}

/* ---- two numbers ---------------------------------------------------------------------------- */

/* cvt.rn.f16x2.f32 d, a, b: a becomes the upper half. */
static const struct sim_op *run_pack(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    const struct sim_conversion *conversion = op->more;
    const uint32_t *a = SIM_SOURCE(warp->frame, op, a, uint32_t);
    const uint32_t *b = SIM_SOURCE(warp->frame, op, b, uint32_t);
    uint32_t *d = SIM_TARGET(warp->frame, op, uint32_t);
    SIM_FOR_LANES(mask, i,
                  d[i] = (uint32_t)(sim_convert_float(conversion, a[i]) << 16 |
                                    sim_convert_float(conversion, b[i])));
    return op + 1;
}

static const struct sim_op *run_pack_f8(struct sim_warp *warp, const struct sim_op *op,
                                        uint32_t mask)
{
    const enum ptx_type to = (enum ptx_type)op->integer;
    const uint32_t *a = SIM_SOURCE(warp->frame, op, a, uint32_t);
    const uint32_t *b = SIM_SOURCE(warp->frame, op, b, uint32_t);
    uint16_t *d = SIM_TARGET(warp->frame, op, uint16_t);
    SIM_FOR_LANES(mask, i,
                  d[i] = (uint16_t)(sim_to_f8(to, (double)sim_float(a[i]), op->flags) << 8 |
                                    sim_to_f8(to, (double)sim_float(b[i]), op->flags)));
    return op + 1;
}

static const struct sim_op *run_halves_to_f8(struct sim_warp *warp, const struct sim_op *op,
                                             uint32_t mask)
{
    const enum ptx_type to = (enum ptx_type)op->integer;
    const uint32_t *a = SIM_SOURCE(warp->frame, op, a, uint32_t);
    uint16_t *d = SIM_TARGET(warp->frame, op, uint16_t);
    SIM_FOR_LANES(
        mask, i,
        d[i] = (uint16_t)(sim_to_f8(to, sim_from_half((uint16_t)(a[i] >> 16)), op->flags) << 8 |
                          sim_to_f8(to, sim_from_half((uint16_t)a[i]), op->flags)));
    return op + 1;
}

/* .relu: below zero is zero; NaN stays. */
static uint32_t half_of_f8(enum ptx_type from, uint32_t bits, uint32_t flags)
{
    const uint16_t half = sim_from_f8(from, bits);
    return flags & SIM_RELU && half & 0x8000 ? 0 : half;
}

static const struct sim_op *run_f8_to_halves(struct sim_warp *warp, const struct sim_op *op,
                                             uint32_t mask)
{
    const enum ptx_type from = (enum ptx_type)op->integer;
    const uint16_t *a = SIM_SOURCE(warp->frame, op, a, uint16_t);
    uint32_t *d = SIM_TARGET(warp->frame, op, uint32_t);
    SIM_FOR_LANES(mask, i,
                  d[i] = half_of_f8(from, a[i] >> 8, op->flags) << 16 |
                         half_of_f8(from, a[i] & 255, op->flags));
    return op + 1;
}

static const struct sim_form packed_forms[] = {
    {"cvt.<rn,rz><,.relu>.<f16x2,bf16x2>.f32", run_pack, PTX_B32, {PTX_F32, PTX_F32}},
    {"cvt.rn.satfinite<,.relu>.<e4m3x2,e5m2x2>.f32", run_pack_f8, PTX_B16, {PTX_F32, PTX_F32}},
    {"cvt.rn.satfinite<,.relu>.<e4m3x2,e5m2x2>.f16x2", run_halves_to_f8, PTX_B16, {PTX_B32}},
    {"cvt.rn<,.relu>.f16x2.<e4m3x2,e5m2x2>", run_f8_to_halves, PTX_B32, {PTX_B16}},
};

static enum sim_decode_result decode_packed(struct sim_decoder *decoder,
                                            const struct ptx_instruction *instruction,
                                            const struct sim_form *form, struct sim_op *op)
{
    const enum sim_decode_result result = sim_form_fill(decoder, instruction, form, op);
    const enum ptx_type to = sim_type(instruction, 0);
    op->integer = form->run == run_f8_to_halves ? sim_type(instruction, 1) : to;
    if (form->run != run_pack || result != SIM_DECODED) {
        return result;
    }
    struct sim_conversion *conversion = sim_decode_alloc(decoder, sizeof(*conversion));
    if (!conversion) {
        return sim_decode_refuse(decoder, "no memory");
    }
    *conversion = (struct sim_conversion){
        .to = to == PTX_F16X2 ? PTX_F16 : PTX_BF16, .from = PTX_F32, .flags = op->flags};
    op->more = conversion;
    return result;
}

/* ---- the family ----------------------------------------------------------------------------- */

static const char *const patterns[] = {
    "cvt<,.sat>.<" INTEGERS ">.<" INTEGERS ">",
    "cvt.<rn,rz,rm,rp><,.ftz><,.sat>.<" FLOATS ">.<" INTEGERS ">",
    "cvt.<rni,rzi,rmi,rpi><,.ftz><,.sat>.<" INTEGERS ">.<" FLOATS ">",
    "cvt<,.rn,.rz,.rm,.rp,.rni,.rzi,.rmi,.rpi><,.ftz><,.sat>.<" FLOATS ">.<" FLOATS ">",
    "cvt.<rn,rz>.relu.<f16,bf16>.f32",
    "cvt.rna.tf32.f32",
    "cvt.<rn,rz><,.relu>.tf32.f32",
};

static bool has_exact_registers(const struct sim_decoder *decoder,
                                const struct ptx_instruction *instruction,
                                const struct sim_form *form)
{
    const struct ptx_operand *operands = instruction->operands;
    return instruction->operand_count == 2 &&
           stored_bytes(decoder, &operands[0], (enum ptx_type)form->target) ==
               ptx_types[form->target].bytes &&
           stored_bytes(decoder, &operands[1], (enum ptx_type)form->sources[0]) ==
               ptx_types[form->sources[0]].bytes;
}

enum sim_decode_result sim_decode_convert(struct sim_decoder *decoder,
                                          const struct ptx_instruction *instruction,
                                          struct sim_op *op)
{
    const struct sim_convert_table *table = sim_level() == SIM_LEVEL_AVX2 ? &sim_convert_table_avx2
                                                                          : &sim_convert_table_any;
    char text[128];
    if (strcmp(instruction->opcode, "cvt") != 0 ||
        !sim_form_text(instruction, text, sizeof(text))) {
        return SIM_NOT_MINE;
    }
    const struct sim_form *form = sim_form_find(table->forms, SIM_CONVERT_FORMS, text);
    if (form && has_exact_registers(decoder, instruction, form)) {
        return sim_form_fill(decoder, instruction, form, op);
    }
    form = sim_form_find(packed_forms, sizeof(packed_forms) / sizeof(packed_forms[0]), text);
    if (form) {
        return decode_packed(decoder, instruction, form, op);
    }
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        if (sim_form_matches(patterns[i], text)) {
            return decode_one(decoder, instruction, table, op);
        }
    }
    return SIM_NOT_MINE;
}

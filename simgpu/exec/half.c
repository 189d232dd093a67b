/* SPDX-License-Identifier: Apache-2.0 */
/* f16 and bf16, one or two in a register: arithmetic, order, comparison, approximations. */
#include <math.h>

#include "simgpu/exec/compare.h"
#include "simgpu/exec/narrow.h"
#include "simgpu/exec/warp.h"

#define SIM_TWO SIM_FLAGS_END /* two numbers in each 32-bit register */

/* ---- numbers -------------------------------------------------------------------------------- */

static inline uint16_t flush_f16(uint16_t bits)
{
    return bits & 0x7c00 ? bits : bits & 0x8000;
}

static inline uint16_t flush_bf16(uint16_t bits)
{
    return bits & 0x7f80 ? bits : bits & 0x8000;
}

#define VALUE_f16 sim_from_half
#define VALUE_bf16 sim_from_bfloat
#define ROUND_f16 sim_to_half
#define ROUND_bf16 sim_to_bfloat

/* .ftz flushes what would be subnormal with as many exponents as one likes: what then rounds to the
 * least normal number stays. */
static inline double flush_below(double value, double least, bool flush)
{
    return flush && fabs(value) < least ? copysign(0.0, value) : value;
}
#define LEAST_f16 (0x1p-14 * (1 - 0x1p-12))
#define LEAST_bf16 (0x1p-126 * (1 - 0x1p-9))

/* .sat and .relu come before the rounding, which does not change what they ask. */
static inline double clamp(double value, uint32_t flags)
{
    if (flags & SIM_SAT) {
        return value > 0.0 ? (value < 1.0 ? value : 1.0) : 0.0;
    }
    if (flags & SIM_RELU) {
        return value != value || value > 0.0 ? value : 0.0;
    }
    return value;
}

static inline bool is_before(double a, double b)
{
    return a < b || (a == b && signbit(a) && !signbit(b));
}

/* The lesser (or greater) of two: as f32's, in the encoding, which loses nothing. */
static inline uint16_t order(uint16_t x, uint16_t y, double a, double b, bool least, uint32_t flags)
{
    const uint16_t sign = flags & SIM_XORSIGN ? (x ^ y) & 0x8000 : 0;
    if (flags & SIM_XORSIGN) {
        x &= 0x7fff, y &= 0x7fff;
        a = fabs(a), b = fabs(b);
    }
    if (a != a && (b != b || flags & SIM_NAN)) {
        return SIM_NAN16;
    }
    if (b != b) {
        return flags & SIM_NAN ? SIM_NAN16 : (uint16_t)(x | sign);
    }
    if (a != a) {
        return (uint16_t)(y | sign);
    }
    return (uint16_t)((is_before(a, b) == least ? x : y) | sign);
}

/* ---- handlers ------------------------------------------------------------------------------- */

/* X(name, operands, value in double of a, b, c) */
#define ARITHMETIC(X) \
    X(add, 2, sim_fuse_to_odd(a, 1.0, b)) \
    X(sub, 2, sim_fuse_to_odd(a, 1.0, -b)) \
    X(mul, 2, a *b) \
    X(fma, 3, sim_fuse_to_odd(a, b, c)) \
    X(ex2, 1, (double)exp2f((float)a)) \
    X(tanh, 1, (double)tanhf((float)a))

/* X(name, operands, encoding of encodings x, y and values a, b) */
#define ON_ENCODINGS(X) \
    X(abs, 1, a != a ? SIM_NAN16 : x & 0x7fff) \
    X(neg, 1, a != a ? SIM_NAN16 : x ^ 0x8000) \
    X(min, 2, order(x, y, a, b, true, op->flags)) \
    X(max, 2, order(x, y, a, b, false, op->flags))

/* The numbers of the operands: two per lane are neighbours in memory. */
#define EACH_NUMBER(format, body) \
    const unsigned parts = op->flags & SIM_TWO ? 2 : 1; \
    const uint16_t *pa = SIM_AT(warp->frame, op->a, const uint16_t); \
    const uint16_t *pb = SIM_AT(warp->frame, op->b, const uint16_t); \
    const uint16_t *pc = SIM_AT(warp->frame, op->c, const uint16_t); \
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) { \
        const unsigned lane = (unsigned)__builtin_ctz(rest) * parts; \
        for (unsigned i = lane; i < lane + parts; i++) { \
            const bool flush = (op->flags & SIM_FTZ) != 0; \
            const uint16_t x = flush ? flush_##format(pa[i]) : pa[i]; \
            const uint16_t y = flush ? flush_##format(pb[i]) : pb[i]; \
            const uint16_t z = flush ? flush_##format(pc[i]) : pc[i]; \
            const double a = VALUE_##format(x), b = VALUE_##format(y), c = VALUE_##format(z); \
            (void)a, (void)b, (void)c; \
            body; \
        } \
    }

#define ARITHMETIC_HANDLER(name, format, value) \
    static const struct sim_op *run_##name##_##format(struct sim_warp *warp, \
                                                      const struct sim_op *op, uint32_t mask) \
    { \
        uint16_t *d = SIM_AT(warp->frame, op->dst, uint16_t); \
        EACH_NUMBER(format, \
                    d[i] = ROUND_##format( \
                        clamp(flush_below((value), LEAST_##format, flush), op->flags), SIM_RN)) \
        return op + 1; \
    }
#define ENCODING_HANDLER(name, format, value) \
    static const struct sim_op *run_##name##_##format(struct sim_warp *warp, \
                                                      const struct sim_op *op, uint32_t mask) \
    { \
        uint16_t *d = SIM_AT(warp->frame, op->dst, uint16_t); \
        EACH_NUMBER(format, d[i] = (uint16_t)(value)) \
        return op + 1; \
    }
#define ARITHMETIC_HANDLERS(name, count, value) \
    ARITHMETIC_HANDLER(name, f16, value) \
    ARITHMETIC_HANDLER(name, bf16, value)
#define ENCODING_HANDLERS(name, count, value) \
    ENCODING_HANDLER(name, f16, value) \
    ENCODING_HANDLER(name, bf16, value)
ARITHMETIC(ARITHMETIC_HANDLERS)
ON_ENCODINGS(ENCODING_HANDLERS)

static const struct {
    const char *opcode;
    unsigned count;
    sim_handler f16, bf16;
} rows[] = {
#define ROW(name, count, value) {#name, count, run_##name##_f16, run_##name##_bf16},
    ARITHMETIC(ROW) ON_ENCODINGS(ROW)
#undef ROW
};

/* Which modifiers each opcode takes; types follow. */
static const char *const patterns[] = {
    "add<,.rn><,.ftz><,.sat>.<f16,f16x2>",
    "sub<,.rn><,.ftz><,.sat>.<f16,f16x2>",
    "mul<,.rn><,.ftz><,.sat>.<f16,f16x2>",
    "<add,sub,mul><,.rn>.<bf16,bf16x2>",
    "fma.rn<,.ftz><,.sat,.relu>.<f16,f16x2>",
    "fma.rn<,.relu>.<bf16,bf16x2>",
    "<abs,neg><,.ftz>.<f16,f16x2>",
    "<abs,neg>.<bf16,bf16x2>",
    "<min,max><,.ftz><,.NaN><,.xorsign.abs>.<f16,f16x2>",
    "<min,max><,.NaN><,.xorsign.abs>.<bf16,bf16x2>",
    "ex2.approx.<f16,f16x2>",
    "ex2.approx.ftz.<bf16,bf16x2>",
    "tanh.approx.<f16,f16x2,bf16,bf16x2>",
};

/* ---- comparison ----------------------------------------------------------------------------- */

/* A comparison is the set of relations for which it holds. */
enum relation { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };
static const struct {
    const char *name;
    uint8_t relations;
} comparisons[] = {
    {"eq", EQUAL},
    {"ne", LESS | GREATER},
    {"lt", LESS},
    {"le", LESS | EQUAL},
    {"gt", GREATER},
    {"ge", GREATER | EQUAL},
    {"equ", EQUAL | UNORDERED},
    {"neu", LESS | GREATER | UNORDERED},
    {"ltu", LESS | UNORDERED},
    {"leu", LESS | EQUAL | UNORDERED},
    {"gtu", GREATER | UNORDERED},
    {"geu", GREATER | EQUAL | UNORDERED},
    {"num", LESS | EQUAL | GREATER},
    {"nan", UNORDERED},
};
#define RELATIONS_SHIFT 20

static uint32_t relation_of(double a, double b)
{
    return a < b ? LESS : a > b ? GREATER : a == b ? EQUAL : UNORDERED;
}

/* Results of the low (or only) and the high numbers of each lane. */
#define COMPARE(format) \
    static struct sim_words compare_##format(struct sim_warp *warp, const struct sim_op *op, \
                                             uint32_t mask) \
    { \
        uint32_t results[2] = {0, 0}; \
        const uint32_t relations = op->flags >> RELATIONS_SHIFT; \
        EACH_NUMBER(format, \
                    if (relation_of(a, b) & relations) results[i - lane] |= rest & (0 - rest)) \
        return (struct sim_words){results[0], results[1]}; \
    }
COMPARE(f16)
COMPARE(bf16)

static struct sim_words compare(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    const enum ptx_type type = (enum ptx_type)op->integer;
    return type == PTX_F16 || type == PTX_F16X2 ? compare_f16(warp, op, mask)
                                                : compare_bf16(warp, op, mask);
}

/* Of one number q is the complement; of two it is the second one's result. */
static const struct sim_op *run_setp(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    const struct sim_words results = compare(warp, op, mask);
    if (!(op->flags & SIM_TWO)) {
        return sim_compare_finish(warp, op, mask, results.p);
    }
    const uint32_t p = sim_compare_combine(warp->frame, op, results.p).p;
    const uint32_t q = sim_compare_combine(warp->frame, op, results.q).p;
    uint32_t *d = SIM_AT(warp->frame, op->dst, uint32_t);
    uint32_t *d2 = SIM_AT(warp->frame, op->dst2, uint32_t);
    *d = (*d & ~mask) | (p & mask);
    *d2 = (*d2 & ~mask) | (q & mask);
    return op + 1;
}

/* op->d is the value that stands for "true", of both numbers; op->dst2 the bytes of a lane. */
static const struct sim_op *run_set(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    const struct sim_words results = compare(warp, op, mask);
    const uint32_t p = sim_compare_combine(warp->frame, op, results.p).p;
    const uint32_t q = op->flags & SIM_TWO ? sim_compare_combine(warp->frame, op, results.q).p : p;
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const unsigned i = (unsigned)__builtin_ctz(rest);
        const uint32_t low = p >> i & 1 ? op->d & 0xffff : 0;
        const uint32_t high = q >> i & 1 ? op->d & 0xffff0000 : 0;
        if (op->dst2 == 2) {
            SIM_AT(warp->frame, op->dst, uint16_t)[i] = (uint16_t)low;
        } else {
            SIM_AT(warp->frame, op->dst, uint32_t)[i] = high | low;
        }
    }
    return op + 1;
}

/* ---- decoding ------------------------------------------------------------------------------- */

static bool is_half(enum ptx_type type)
{
    return type == PTX_F16 || type == PTX_BF16 || type == PTX_F16X2 || type == PTX_BF16X2;
}

static bool is_two(enum ptx_type type)
{
    return type == PTX_F16X2 || type == PTX_BF16X2;
}

/* Registers of halves are untyped; there are no literals of these types. */
static enum ptx_type register_type(enum ptx_type type)
{
    return is_two(type) ? PTX_B32 : PTX_B16;
}

static uint32_t relations_of(const char *name)
{
    for (size_t i = 0; i < sizeof(comparisons) / sizeof(comparisons[0]); i++) {
        if (strcmp(comparisons[i].name, name) == 0) {
            return comparisons[i].relations;
        }
    }
    return 0;
}

static enum sim_decode_result decode_compare(struct sim_decoder *decoder,
                                             const struct ptx_instruction *instruction, bool is_set,
                                             struct sim_op *op)
{
    const enum ptx_type type = sim_type(instruction, is_set ? 1 : 0);
    const enum ptx_type dtype = is_set ? sim_type(instruction, 0) : PTX_NO_TYPE;
    const uint32_t relations = instruction->modifier_count != 0
                                   ? relations_of(instruction->modifiers[0])
                                   : 0;
    if (!is_half(type) || relations == 0 || (is_set && sim_set_value(dtype) == 0) ||
        (is_set && is_two(type) && ptx_types[dtype].bytes != 4) ||
        (!is_set && is_two(type) && !instruction->pair_first)) {
        return SIM_NOT_MINE;
    }
    op->flags = relations << RELATIONS_SHIFT | (is_two(type) ? SIM_TWO : 0);
    const enum sim_decode_result result = sim_compare_operands(decoder, instruction,
                                                               register_type(type), !is_set, op);
    op->run = is_set ? run_set : run_setp;
    op->integer = type;
    if (is_set) {
        op->dst = sim_exact_target(decoder, instruction, 0, dtype);
        op->dst2 = ptx_types[dtype].bytes;
        op->d = sim_set_value(dtype);
    }
    return sim_decode_failed(decoder) ? SIM_UNSUPPORTED : result;
}

enum sim_decode_result sim_decode_half(struct sim_decoder *decoder,
                                       const struct ptx_instruction *instruction, struct sim_op *op)
{
    const enum ptx_type type = sim_type(instruction, 0);
    const uint8_t registers = (uint8_t)register_type(type);
    char text[128];
    if (strcmp(instruction->opcode, "setp") == 0 || strcmp(instruction->opcode, "set") == 0) {
        return decode_compare(decoder, instruction, instruction->opcode[3] == '\0', op);
    }
    if (!is_half(type) || !sim_form_text(instruction, text, sizeof(text))) {
        return SIM_NOT_MINE;
    }
    size_t pattern = 0, row = 0;
    while (pattern < sizeof(patterns) / sizeof(patterns[0]) &&
           !sim_form_matches(patterns[pattern], text)) {
        pattern++;
    }
    while (row < sizeof(rows) / sizeof(rows[0]) &&
           strcmp(rows[row].opcode, instruction->opcode) != 0) {
        row++;
    }
    if (pattern == sizeof(patterns) / sizeof(patterns[0]) ||
        row == sizeof(rows) / sizeof(rows[0])) {
        return SIM_NOT_MINE;
    }
    const struct sim_form form = {.target = registers,
                                  .sources = {registers, rows[row].count > 1 ? registers : 0,
                                              rows[row].count > 2 ? registers : 0},
                                  .run = type == PTX_F16 || type == PTX_F16X2 ? rows[row].f16
                                                                              : rows[row].bf16};
    const enum sim_decode_result result = sim_form_fill(decoder, instruction, &form, op);
    op->flags |= is_two(type) ? SIM_TWO : 0;
    return result;
}

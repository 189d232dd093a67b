/* SPDX-License-Identifier: Apache-2.0 */
/* vote, match, redux, elect, activemask: what lanes of a warp find out about one another. */
#include <string.h>

#include "simgpu/exec/float_bits.h"
#include "simgpu/exec/members.h"

#define SIM_NEGATED (SIM_FLAGS_END << 1)  /* !a */
#define SIM_ABSOLUTE (SIM_FLAGS_END << 2) /* redux.f32 of magnitudes */

static void write_predicate(struct sim_warp *warp, uint32_t at, uint32_t lanes, uint32_t bits)
{
    uint32_t *p = SIM_AT(warp->frame, at, uint32_t);
    *p = (*p & ~lanes) | (bits & lanes);
}

static void write_lanes(struct sim_warp *warp, uint32_t at, uint32_t lanes, uint32_t value)
{
    uint32_t *d = SIM_AT(warp->frame, at, uint32_t);
    SIM_FOR_LANES(lanes, i, d[i] = value);
}

/* Run the body, the last argument, for each group of lanes that named the same members. */
#define FOR_GROUPS(warp, op, mask, group, ...) \
    do { \
        if (!sim_members_come(warp, op, mask)) \
            return NULL; \
        for (uint32_t left_ = (mask); left_ != 0;) { \
            const struct sim_group group = sim_first_group(warp, op, left_, mask); \
            __VA_ARGS__; \
            left_ &= ~group.lanes; \
        } \
    } while (0)

/* ---- vote ----------------------------------------------------------------------------------- */

#define VOTE(name, result) \
    static const struct sim_op *run_vote_##name(struct sim_warp *warp, const struct sim_op *op, \
                                                uint32_t mask) \
    { \
        const uint32_t a = *SIM_AT(warp->frame, op->a, const uint32_t) ^ \
                           (op->flags & SIM_NEGATED ? UINT32_MAX : 0); \
        FOR_GROUPS(warp, op, mask, group, { \
            const uint32_t yes = a & group.members, all = group.members; \
            (void)all; \
            result; \
        }); \
        return op + 1; \
    }
#define VOTE_PREDICATE(name, holds) \
    VOTE(name, write_predicate(warp, op->dst, group.lanes, (holds) ? UINT32_MAX : 0))
VOTE_PREDICATE(all, yes == all)
VOTE_PREDICATE(any, yes != 0)
VOTE_PREDICATE(uni, yes == all || yes == 0)
VOTE(ballot, write_lanes(warp, op->dst, group.lanes, yes))

static const struct sim_op *run_activemask(struct sim_warp *warp, const struct sim_op *op,
                                           uint32_t mask)
{
    write_lanes(warp, op->dst, mask, mask);
    return op + 1;
}

static const struct sim_op *run_elect(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    FOR_GROUPS(warp, op, mask, group, {
        const uint32_t leader = (uint32_t)__builtin_ctz(group.members | group.lanes);
        write_lanes(warp, op->dst, group.lanes, leader);
        write_predicate(warp, op->dst2, group.lanes, 1u << leader);
    });
    return op + 1;
}

/* ---- match ---------------------------------------------------------------------------------- */

static uint64_t value_of(const struct sim_warp *warp, const struct sim_op *op, unsigned lane)
{
    return op->integer == 8 ? SIM_AT(warp->frame, op->a, const uint64_t)[lane]
                            : SIM_AT(warp->frame, op->a, const uint32_t)[lane];
}

/* The lanes of `among` whose value is that of `lane`. */
static uint32_t equals(const struct sim_warp *warp, const struct sim_op *op, unsigned lane,
                       uint32_t among)
{
    const uint64_t value = value_of(warp, op, lane);
    uint32_t same = 0;
    for (uint32_t rest = among; rest != 0; rest &= rest - 1) {
        const unsigned i = (unsigned)__builtin_ctz(rest);
        same |= (uint32_t)(value_of(warp, op, i) == value) << i;
    }
    return same;
}

static const struct sim_op *run_match_any(struct sim_warp *warp, const struct sim_op *op,
                                          uint32_t mask)
{
    uint32_t found[SIM_LANES] = {0}, *d = SIM_AT(warp->frame, op->dst, uint32_t);
    FOR_GROUPS(warp, op, mask, group, {
        for (uint32_t rest = group.lanes; rest != 0;) {
            const uint32_t same = equals(warp, op, (unsigned)__builtin_ctz(rest),
                                         group.members | group.lanes);
            SIM_FOR_LANES(same & group.lanes, i, found[i] = same & group.members);
            rest &= ~same;
        }
    });
    SIM_FOR_LANES(mask, i, d[i] = found[i]);
    return op + 1;
}

static const struct sim_op *run_match_all(struct sim_warp *warp, const struct sim_op *op,
                                          uint32_t mask)
{
    uint32_t found[SIM_LANES], *d = SIM_AT(warp->frame, op->dst, uint32_t);
    FOR_GROUPS(warp, op, mask, group, {
        const unsigned first = (unsigned)__builtin_ctz(group.members | group.lanes);
        const bool all = equals(warp, op, first, group.members) == group.members;
        SIM_FOR_LANES(group.lanes, i, found[i] = all ? group.members : 0);
        write_predicate(warp, op->dst2, group.lanes, all ? UINT32_MAX : 0);
    });
    SIM_FOR_LANES(mask, i, d[i] = found[i]);
    return op + 1;
}

/* ---- redux ---------------------------------------------------------------------------------- */

/* The lesser or greater f32, NaN given way to, or (.NaN) given. */
static uint32_t order_floats(uint32_t x, uint32_t y, bool least, uint32_t flags)
{
    const uint32_t magnitude = flags & SIM_ABSOLUTE ? 0x7fffffff : UINT32_MAX;
    const float a = sim_float(x & magnitude), b = sim_float(y & magnitude);
    if (a != a || b != b) {
        if (flags & SIM_NAN || (a != a && b != b)) {
            return SIM_NAN32;
        }
        return sim_bits32(a != a ? b : a);
    }
    if (a == b) { /* -0 before +0 */
        return least ? sim_bits32(a) | sim_bits32(b) : sim_bits32(a) & sim_bits32(b);
    }
    return sim_bits32((a < b) == least ? a : b);
}

/* X(name, pattern, type of x and y, value) */
#define REDUCTIONS(X) \
    X(add, "redux.sync.add.<u32,s32>", uint32_t, x + y) \
    X(min_u32, "redux.sync.min.u32", uint32_t, x < y ? x : y) \
    X(max_u32, "redux.sync.max.u32", uint32_t, x > y ? x : y) \
    X(min_s32, "redux.sync.min.s32", int32_t, x < y ? x : y) \
    X(max_s32, "redux.sync.max.s32", int32_t, x > y ? x : y) \
    X(and, "redux.sync.and.b32", uint32_t, x &y) \
    X(or, "redux.sync.or.b32", uint32_t, x | y) \
    X(xor, "redux.sync.xor.b32", uint32_t, x ^ y) \
    X(min_f32, "redux.sync.min<,.abs><,.NaN>.f32", uint32_t, order_floats(x, y, true, op->flags)) \
    X(max_f32, "redux.sync.max<,.abs><,.NaN>.f32", uint32_t, order_floats(x, y, false, op->flags))

#define REDUCTION(name, pattern, T, value) \
    static const struct sim_op *run_redux_##name(struct sim_warp *warp, const struct sim_op *op, \
                                                 uint32_t mask) \
    { \
        T a[SIM_LANES]; \
        memcpy(a, warp->frame + op->a, sizeof(a)); \
        FOR_GROUPS(warp, op, mask, group, { \
            const uint32_t givers = group.members != 0 ? group.members : group.lanes; \
            T x = a[__builtin_ctz(givers)]; \
            for (uint32_t rest = givers & (givers - 1); rest != 0; rest &= rest - 1) { \
                const T y = a[__builtin_ctz(rest)]; \
                x = (value); \
            } \
            if (op->flags & SIM_ABSOLUTE) \
                x &= 0x7fffffff; \
            write_lanes(warp, op->dst, group.lanes, (uint32_t)x); \
        }); \
        return op + 1; \
    }
REDUCTIONS(REDUCTION)

/* ---- decoding ------------------------------------------------------------------------------- */

/* Operands after the destinations: a (of the type, if there is one), then the members. */
static const struct redux_row {
    const char *pattern;
    sim_handler run;
    uint8_t target, source; /* enum ptx_type */
    bool second;            /* d|p is written with a second destination */
} rows[] = {{"vote<,.sync>.all.pred", run_vote_all, PTX_PRED, PTX_PRED, false},
            {"vote<,.sync>.any.pred", run_vote_any, PTX_PRED, PTX_PRED, false},
            {"vote<,.sync>.uni.pred", run_vote_uni, PTX_PRED, PTX_PRED, false},
            {"vote<,.sync>.ballot.b32", run_vote_ballot, PTX_B32, PTX_PRED, false},
            /* ptxas takes this order too, and CUB writes it. */
            {"vote.all.sync.pred", run_vote_all, PTX_PRED, PTX_PRED, false},
            {"vote.any.sync.pred", run_vote_any, PTX_PRED, PTX_PRED, false},
            {"vote.uni.sync.pred", run_vote_uni, PTX_PRED, PTX_PRED, false},
            {"vote.ballot.sync.b32", run_vote_ballot, PTX_B32, PTX_PRED, false},
            {"activemask.b32", run_activemask, PTX_B32, PTX_NO_TYPE, false},
            {"match.any.sync.b32", run_match_any, PTX_B32, PTX_B32, false},
            {"match.any.sync.b64", run_match_any, PTX_B32, PTX_B64, false},
            {"match.all.sync.b32", run_match_all, PTX_B32, PTX_B32, true},
            {"match.all.sync.b64", run_match_all, PTX_B32, PTX_B64, true},
            {"elect.sync", run_elect, PTX_B32, PTX_NO_TYPE, true},
#define ROW(name, pattern, T, value) {pattern, run_redux_##name, PTX_B32, PTX_B32, false},
            REDUCTIONS(ROW)
#undef ROW
};

static enum sim_decode_result decode_row(struct sim_decoder *decoder,
                                         const struct ptx_instruction *instruction,
                                         const struct redux_row *row, struct sim_op *op)
{
    const bool sync = sim_has(instruction, "sync"), pair = instruction->pair_first;
    uint32_t at = pair ? 2 : 1;
    if ((pair && !row->second) ||
        instruction->operand_count != at + (row->source != PTX_NO_TYPE) + sync) {
        return sim_decode_refuse(decoder, "%u operands", instruction->operand_count);
    }
    op->run = row->run;
    op->flags = sim_form_flags(instruction) | (sync ? SIM_SYNC : 0);
    op->flags |= sim_has(instruction, "abs") ? SIM_ABSOLUTE : 0;
    op->dst = sim_exact_target(decoder, instruction, 0, (enum ptx_type)row->target);
    if (pair) {
        op->dst2 = sim_target(decoder, instruction, 1);
    }
    if (row->source != PTX_NO_TYPE) {
        op->flags |= instruction->operands[at].negated ? SIM_NEGATED : 0;
        op->a = sim_exact_source(decoder, instruction, at++, (enum ptx_type)row->source);
        op->integer = ptx_types[row->source].bytes;
    }
    if (sync) {
        op->d = sim_exact_source(decoder, instruction, at, PTX_B32);
    }
    return sim_decode_failed(decoder) ? SIM_UNSUPPORTED : SIM_DECODED;
}

enum sim_decode_result sim_decode_warp(struct sim_decoder *decoder,
                                       const struct ptx_instruction *instruction, struct sim_op *op)
{
    char text[128];
    if (!sim_form_text(instruction, text, sizeof(text))) {
        return SIM_NOT_MINE;
    }
    if (sim_form_matches("shfl<,.sync>.<up,down,bfly,idx>.b32", text)) {
        return sim_decode_shuffle(decoder, instruction, op);
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].pattern[0] == text[0] && sim_form_matches(rows[i].pattern, text)) {
            return decode_row(decoder, instruction, &rows[i], op);
        }
    }
    return SIM_NOT_MINE;
}

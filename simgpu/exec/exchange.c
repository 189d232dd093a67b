/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes of a warp that look at each other: vote, shfl, match, redux, elect, activemask.
 *
 * The .sync forms wait for the lanes of their member mask (sim_warp_gather); a member that has exited
 * takes no part. The mask is that of the lowest lane that executes: PTX leaves masks that differ
 * undefined. Source: PTX ISA 9.0, "Parallel Synchronization and Communication Instructions", "shfl.sync".
 */
#include <string.h>

#include "simgpu/exec/warp.h"

enum {
    VOTE_ALL,
    VOTE_ANY,
    VOTE_UNI,
    VOTE_BALLOT,
    SHFL_UP = 0,
    SHFL_DOWN,
    SHFL_BFLY,
    SHFL_IDX,
    REDUX_ADD = 0,
    REDUX_MIN,
    REDUX_MAX,
    REDUX_AND,
    REDUX_OR,
    REDUX_XOR,
    CHOICE = 7,           /* bits of one of the above */
    NEGATED = 8,          /* !p */
    SIGNED = 16,          /* redux.s32 */
    WIDE = 32,            /* match.b64 */
    ALL = 64,             /* match.all */
    UNSYNCHRONIZED = 128, /* no member mask */
};

/* The lanes that take part, 0 while some are still to come. */
static uint32_t gather(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    if ((op->flags & UNSYNCHRONIZED) != 0) {
        return mask;
    }
    const uint32_t members = SIM_AT(warp->frame, op->d,
                                    const uint32_t)[(unsigned)__builtin_ctz(mask)];
    return sim_warp_gather(warp, op, mask, members) != NULL ? members & mask : 0;
}

/* Every lane of `lanes` gets the bit it has in `bits`. */
static void set_predicate(struct sim_warp *warp, uint32_t at, uint32_t bits, uint32_t lanes)
{
    uint32_t *p = SIM_AT(warp->frame, at, uint32_t);
    *p = (*p & ~lanes) | (bits & lanes);
}

static const struct sim_op *run_vote(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    const uint32_t lanes = gather(warp, op, mask);
    if (lanes == 0) {
        return (op->flags & UNSYNCHRONIZED) == 0 ? NULL : op + 1;
    }
    const uint32_t flip = (op->flags & NEGATED) != 0 ? SIM_FULL_MASK : 0;
    const uint32_t votes = (*SIM_AT(warp->frame, op->a, const uint32_t) ^ flip) & lanes;
    const unsigned mode = op->flags & CHOICE;
    if (mode == VOTE_BALLOT) {
        uint32_t *d = SIM_AT(warp->frame, op->dst, uint32_t);
        SIM_FOR_LANES(lanes, i, d[i] = votes);
        return op + 1;
    }
    const bool result = mode == VOTE_ALL   ? votes == lanes
                        : mode == VOTE_ANY ? votes != 0
                                           : votes == lanes || votes == 0;
    set_predicate(warp, op->dst, result ? SIM_FULL_MASK : 0, lanes);
    return op + 1;
}

/* The lane that lane `i` reads from; `*inside` says whether it lies within the segment. */
static unsigned shfl_source(unsigned mode, unsigned i, uint32_t b, uint32_t c, bool *inside)
{
    const unsigned by = b & 0x1f, clamp = c & 0x1f, segment = c >> 8 & 0x1f;
    const unsigned first = i & segment;
    const int last = (int)(first | (clamp & ~segment));
    const int from = mode == SHFL_UP     ? (int)i - (int)by
                     : mode == SHFL_DOWN ? (int)(i + by)
                     : mode == SHFL_BFLY ? (int)(i ^ by)
                                         : (int)(first | (by & ~segment & 0x1f));
    *inside = mode == SHFL_UP ? from >= last : from <= last;
    return *inside ? (unsigned)from : i;
}

static const struct sim_op *run_shfl(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    const uint32_t lanes = gather(warp, op, mask);
    if (lanes == 0) {
        return NULL;
    }
    const uint32_t *b = SIM_AT(warp->frame, op->b, const uint32_t);
    const uint32_t *c = SIM_AT(warp->frame, op->c, const uint32_t);
    uint32_t a[SIM_LANES], inside_bits = 0;
    memcpy(a, warp->frame + op->a, sizeof(a)); /* d may be a */
    uint32_t *d = SIM_AT(warp->frame, op->dst, uint32_t);
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        const unsigned i = (unsigned)__builtin_ctz(rest);
        bool inside;
        d[i] = a[shfl_source(op->flags & CHOICE, i, b[i], c[i], &inside)];
        inside_bits |= inside ? 1u << i : 0;
    }
    set_predicate(warp, op->dst2, inside_bits, lanes);
    return op + 1;
}

static uint64_t match_value(const struct sim_warp *warp, const struct sim_op *op, unsigned i)
{
    return (op->flags & WIDE) != 0 ? SIM_AT(warp->frame, op->a, const uint64_t)[i]
                                   : SIM_AT(warp->frame, op->a, const uint32_t)[i];
}

static const struct sim_op *run_match(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    const uint32_t lanes = gather(warp, op, mask);
    if (lanes == 0) {
        return NULL;
    }
    uint32_t found[SIM_LANES] = {0}, same_bits = 0;
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        const unsigned i = (unsigned)__builtin_ctz(rest);
        for (uint32_t others = lanes; others != 0; others &= others - 1) {
            const unsigned j = (unsigned)__builtin_ctz(others);
            found[i] |= match_value(warp, op, i) == match_value(warp, op, j) ? 1u << j : 0;
        }
        if ((op->flags & ALL) != 0) {
            found[i] = found[i] == lanes ? lanes : 0;
        }
        same_bits |= found[i] == lanes ? 1u << i : 0;
    }
    uint32_t *d = SIM_AT(warp->frame, op->dst, uint32_t);
    SIM_FOR_LANES(lanes, i, d[i] = found[i]);
    set_predicate(warp, op->dst2, same_bits, lanes);
    return op + 1;
}

static uint32_t reduce(uint32_t flags, uint32_t x, uint32_t y)
{
    const bool less = (flags & SIGNED) != 0 ? (int32_t)x < (int32_t)y : x < y;
    switch (flags & CHOICE) {
    case REDUX_ADD: return x + y;
    case REDUX_MIN: return less ? x : y;
    case REDUX_MAX: return less ? y : x;
    case REDUX_AND: return x & y;
    case REDUX_OR: return x | y;
    default: return x ^ y;
    }
}

static const struct sim_op *run_redux(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    const uint32_t lanes = gather(warp, op, mask);
    if (lanes == 0) {
        return NULL;
    }
    const uint32_t *a = SIM_AT(warp->frame, op->a, const uint32_t);
    uint32_t total = a[(unsigned)__builtin_ctz(lanes)];
    for (uint32_t rest = lanes & (lanes - 1); rest != 0; rest &= rest - 1) {
        total = reduce(op->flags, total, a[(unsigned)__builtin_ctz(rest)]);
    }
    uint32_t *d = SIM_AT(warp->frame, op->dst, uint32_t);
    SIM_FOR_LANES(lanes, i, d[i] = total);
    return op + 1;
}

/* The lowest member leads. */
static const struct sim_op *run_elect(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    const uint32_t lanes = gather(warp, op, mask);
    if (lanes == 0) {
        return NULL;
    }
    const unsigned leader = (unsigned)__builtin_ctz(lanes);
    uint32_t *d = SIM_AT(warp->frame, op->dst, uint32_t);
    SIM_FOR_LANES(lanes, i, d[i] = leader);
    set_predicate(warp, op->dst2, 1u << leader, lanes);
    return op + 1;
}

static const struct sim_op *run_activemask(struct sim_warp *warp, const struct sim_op *op,
                                           uint32_t mask)
{
    uint32_t *d = SIM_AT(warp->frame, op->dst, uint32_t);
    SIM_FOR_LANES(mask, i, d[i] = mask);
    return op + 1;
}

/* ---- decoding ------------------------------------------------------------------------------- */

/* The position of the modifier that is in the list, -1 if none is. */
static int choose(const struct ptx_instruction *instruction, const char *const *words, int count)
{
    for (int i = 0; i < count; i++) {
        if (sim_has(instruction, words[i])) {
            return i;
        }
    }
    return -1;
}

/* One row per opcode: `choices` are the modifiers of which one must be there, in the order of the
 * enumeration above; `sources` the operands after the results, the member mask not among them. */
static const struct {
    const char *opcode;
    sim_handler run;
    const char *choices[6];
    int choice_count;
    uint8_t sources;
    bool pair; /* d|p may or must be written */
} exchanges[] = {
    {"vote", run_vote, {"all", "any", "uni", "ballot"}, 4, 1, false},
    {"shfl", run_shfl, {"up", "down", "bfly", "idx"}, 4, 3, true},
    {"match", run_match, {"any", "all"}, 2, 1, true},
    {"redux", run_redux, {"add", "min", "max", "and", "or", "xor"}, 6, 1, false},
    {"elect", run_elect, {"sync"}, 1, 0, true},
    {"activemask", run_activemask, {"b32"}, 1, 0, false},
};

static uint32_t flags_of(const struct ptx_instruction *instruction, int choice,
                         const struct ptx_operand *first_source, sim_handler run)
{
    uint32_t flags = run == run_match ? (choice == 1 ? ALL : 0) : (uint32_t)choice;
    flags |= first_source != NULL && first_source->negated ? NEGATED : 0;
    flags |= sim_type(instruction, 0) == PTX_S32 ? SIGNED : 0;
    flags |= sim_type(instruction, 0) == PTX_B64 ? WIDE : 0;
    return flags | (sim_has(instruction, "sync") ? 0 : UNSYNCHRONIZED);
}

enum sim_decode_result sim_decode_warp(struct sim_decoder *decoder,
                                       const struct ptx_instruction *instruction, struct sim_op *op)
{
    size_t row = 0;
    const size_t rows = sizeof(exchanges) / sizeof(exchanges[0]);
    while (row < rows && strcmp(exchanges[row].opcode, instruction->opcode) != 0) {
        row++;
    }
    if (row == rows) {
        return SIM_NOT_MINE;
    }
    const bool sync = sim_has(instruction, "sync");
    const bool paired = instruction->pair_first;
    const uint32_t first = paired ? 2 : 1;
    const uint32_t sources = exchanges[row].sources;
    const int choice = choose(instruction, exchanges[row].choices, exchanges[row].choice_count);
    const enum ptx_type type = sim_type(instruction, 0);
    const sim_handler run = exchanges[row].run;
    if (choice < 0 || (paired && !exchanges[row].pair) ||
        (!sync && run != run_vote && run != run_activemask) ||
        instruction->operand_count != first + sources + (sync ? 1 : 0) ||
        (run == run_redux && ptx_types[type].kind == PTX_KIND_FLOAT)) {
        return sim_decode_refuse(decoder, "this form of %s", instruction->opcode);
    }
    op->run = run;
    op->dst = sim_target(decoder, instruction, 0);
    op->dst2 = paired ? sim_target(decoder, instruction, 1) : SIM_NOWHERE;
    uint32_t *const fields[] = {&op->a, &op->b, &op->c};
    for (uint32_t i = 0; i < sources; i++) {
        *fields[i] = sim_source(decoder, instruction, first + i,
                                run == run_vote             ? PTX_PRED
                                : i == 0 && type == PTX_B64 ? PTX_B64
                                                            : PTX_B32);
    }
    if (sync) {
        op->d = sim_source(decoder, instruction, first + sources, PTX_B32);
    }
    op->flags = flags_of(instruction, choice, sources != 0 ? &instruction->operands[first] : NULL,
                         run);
    return sim_decode_failed(decoder) ? SIM_UNSUPPORTED : SIM_DECODED;
}

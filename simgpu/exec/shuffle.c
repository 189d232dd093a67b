/* SPDX-License-Identifier: Apache-2.0 */
/* shfl: each lane reads a register of another lane. Source: PTX ISA 9.0, "shfl.sync". */
#include <string.h>

#include "simgpu/exec/members.h"

enum mode { UP, DOWN, BUTTERFLY, INDEX };
static const char *const mode_names[] = {"up", "down", "bfly", "idx"};

/* The lane to read, or -1 where it lies outside the lane's segment or beyond the clamp. */
static int source_lane(enum mode mode, int lane, uint32_t b, uint32_t c)
{
    const int by = (int)(b & 31), segment = (int)(c >> 8 & 31);
    const int bound = (lane & segment) | ((int)(c & 31) & ~segment);
    int from;
    switch (mode) {
    case UP: from = lane - by; return from >= bound ? from : -1;
    case DOWN: from = lane + by; break;
    case BUTTERFLY: from = lane ^ by; break;
    default: from = (lane & segment) | (by & ~segment); break;
    }
    return from <= bound ? from : -1;
}

static const struct sim_op *run_shuffle(struct sim_warp *warp, const struct sim_op *op,
                                        uint32_t mask)
{
    const uint32_t *b = SIM_AT(warp->frame, op->b, const uint32_t);
    const uint32_t *c = SIM_AT(warp->frame, op->c, const uint32_t);
    uint32_t *d = SIM_AT(warp->frame, op->dst, uint32_t), values[SIM_LANES], inside = 0;
    if (!sim_members_come(warp, op, mask)) {
        return NULL;
    }
    memcpy(values, warp->frame + op->a, sizeof(values));
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        const int from = source_lane((enum mode)op->integer, lane, b[lane], c[lane]);
        inside |= (uint32_t)(from >= 0) << lane;
        d[lane] = values[from >= 0 ? from : lane];
    }
    if (op->dst2 != SIM_NOWHERE) {
        uint32_t *p = SIM_AT(warp->frame, op->dst2, uint32_t);
        *p = (*p & ~mask) | (inside & mask);
    }
    return op + 1;
}

enum sim_decode_result sim_decode_shuffle(struct sim_decoder *decoder,
                                          const struct ptx_instruction *instruction,
                                          struct sim_op *op)
{
    const bool sync = sim_has(instruction, "sync");
    const uint32_t first = instruction->pair_first ? 2 : 1;
    if (instruction->operand_count != first + (sync ? 4 : 3)) {
        return sim_decode_refuse(decoder, "%u operands", instruction->operand_count);
    }
    op->run = run_shuffle;
    op->dst = sim_exact_target(decoder, instruction, 0, PTX_B32);
    if (instruction->pair_first) {
        op->dst2 = sim_target(decoder, instruction, 1);
    }
    op->a = sim_exact_source(decoder, instruction, first, PTX_B32);
    op->b = sim_exact_source(decoder, instruction, first + 1, PTX_B32);
    op->c = sim_exact_source(decoder, instruction, first + 2, PTX_B32);
    if (sync) {
        op->d = sim_exact_source(decoder, instruction, first + 3, PTX_B32);
        op->flags = SIM_SYNC;
    }
    for (enum mode mode = UP; mode <= INDEX; mode++) {
        if (sim_has(instruction, mode_names[mode])) {
            op->integer = mode;
        }
    }
    return sim_decode_failed(decoder) ? SIM_UNSUPPORTED : SIM_DECODED;
}

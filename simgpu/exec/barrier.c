/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Barriers of a block: bar and barrier, with .sync, .arrive and .red, and bar.warp.sync.
 *
 * Each thread counts for itself (compute capability 7.0 and later). A barrier for all threads is
 * complete when those that have not exited have come; one with a number of threads counts warps: a
 * warp whose threads have all come counts 32.
 * Source: PTX ISA 9.0, "Parallel Synchronization and Communication Instructions: bar, barrier".
 */
#include <stdio.h>
#include <string.h>

#include "simgpu/exec/decode.h"
#include "simgpu/exec/path.h"
#include "simgpu/exec/run.h"

enum reduction { NO_REDUCTION, REDUCE_COUNT, REDUCE_AND, REDUCE_OR };

enum { HAS_THREADS = 1, ARRIVES_ONLY = 2, FLIPS_VOTE = 4, REDUCTION_SHIFT = 4 };

/* ---- state ---------------------------------------------------------------------------------- */

static uint32_t threads_come(const struct sim_block *block, const struct sim_barrier *barrier)
{
    uint32_t threads = 0;

    for (uint32_t i = 0; i < block->warp_count; i++) {
        const uint32_t lanes = barrier->lanes[i];
        const bool whole = barrier->threads != 0 && lanes != 0 && lanes == block->warps[i].live;

        threads += whole ? SIM_LANES : (uint32_t)__builtin_popcount(lanes);
    }
    return threads;
}

static uint32_t threads_wanted(const struct sim_block *block, const struct sim_barrier *barrier)
{
    uint32_t threads = barrier->threads;

    for (uint32_t i = 0; i < block->warp_count && barrier->threads == 0; i++) {
        threads += (uint32_t)__builtin_popcount(block->warps[i].live);
    }
    return threads;
}

static uint32_t lanes_come(const struct sim_block *block, const struct sim_barrier *barrier)
{
    uint32_t lanes = 0;

    for (uint32_t i = 0; i < block->warp_count; i++) {
        lanes += (uint32_t)__builtin_popcount(barrier->lanes[i]);
    }
    return lanes;
}

/* The result of bar.red for the lanes of a path that waited. */
static void write_result(struct sim_path *path, const struct sim_barrier *barrier, uint32_t lanes)
{
    const struct sim_op *op = path->op;
    uint8_t *frame = path->frame->data;
    const enum reduction reduction = (enum reduction)(op->flags >> REDUCTION_SHIFT);

    if (reduction == REDUCE_COUNT) {
        uint32_t *to = SIM_AT(frame, op->dst, uint32_t);

        SIM_FOR_LANES(path->taking, i, to[i] = barrier->votes);
    } else if (reduction != NO_REDUCTION) {
        const bool value = reduction == REDUCE_AND ? barrier->votes == lanes : barrier->votes != 0;
        uint32_t *to = SIM_AT(frame, op->dst, uint32_t);

        *to = value ? *to | path->taking : *to & ~path->taking;
    }
}

static void count_idle(const struct sim_block *block, const struct sim_barrier *barrier,
                       uint32_t lanes)
{
    const uint32_t all = barrier->threads != 0 ? barrier->threads : block->warp_count * SIM_LANES;

    if (barrier->site != NULL) {
        barrier->site->addresses += all > lanes ? all - lanes : 0;
    }
}

static void complete(struct sim_block *block, struct sim_barrier *barrier)
{
    const unsigned number = (unsigned)(barrier - sim_resident_of(block)->barriers);
    const uint32_t lanes = lanes_come(block, barrier);

    count_idle(block, barrier, lanes);
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct sim_warp *warp = &block->warps[i];
        struct sim_path *path = sim_schedule_of(warp)->waiting;

        while (path != NULL) {
            struct sim_path *next = path->next;

            if (path->state == SIM_PATH_AT_BARRIER && path->barrier == number) {
                write_result(path, barrier, lanes);
                sim_path_wake(warp, path, path->op + 1);
            }
            path = next;
        }
    }
    block->barrier_epoch += barrier->threads == 0 || barrier->threads >= block->threads;
    memset(barrier, 0, sizeof(*barrier));
}

static bool is_complete(const struct sim_block *block, const struct sim_barrier *barrier)
{
    return threads_come(block, barrier) >= threads_wanted(block, barrier);
}

void sim_barriers_check(struct sim_block *block)
{
    struct sim_barrier *barriers = sim_resident_of(block)->barriers;

    for (unsigned i = 0; i < SIM_BARRIERS; i++) {
        if (barriers[i].in_use && is_complete(block, &barriers[i])) {
            complete(block, &barriers[i]);
        }
    }
}

void sim_barriers_describe(const struct sim_block *block, char *text, size_t bytes)
{
    const struct sim_barrier *barriers = sim_resident_of(block)->barriers;
    size_t used = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < SIM_BARRIERS && used < bytes; i++) {
        if (barriers[i].in_use) {
            used += (size_t)snprintf(text + used, bytes - used, "%sbarrier %u has %u of %u threads",
                                     used != 0 ? ", " : "", i, threads_come(block, &barriers[i]),
                                     threads_wanted(block, &barriers[i]));
        }
    }
    if (used == 0) {
        snprintf(text, bytes, "lanes wait for others of their warp that never come");
    }
}

/* ---- instructions --------------------------------------------------------------------------- */

/* The value that all lanes of `mask` agree on. */
static bool agreed(struct sim_warp *warp, const struct sim_op *op, uint32_t at, uint32_t mask,
                   uint32_t *value)
{
    const uint32_t *lanes = SIM_AT(warp->frame, at, const uint32_t);
    bool same = true;

    *value = lanes[__builtin_ctz(mask)];
    SIM_FOR_LANES(mask, i, same = same && lanes[i] == *value);
    if (!same) {
        sim_warp_fault(warp, op, mask, SIM_ILLEGAL_INSTRUCTION,
                       "lanes of a warp name different barriers or numbers of threads");
    }
    return same;
}

static struct sim_barrier *barrier_of(struct sim_warp *warp, const struct sim_op *op, uint32_t mask,
                                      uint32_t *number)
{
    uint32_t threads = 0;

    if (!agreed(warp, op, op->a, mask, number) ||
        ((op->flags & HAS_THREADS) != 0 && !agreed(warp, op, op->b, mask, &threads))) {
        return NULL;
    }
    if (*number >= SIM_BARRIERS || threads % SIM_LANES != 0 ||
        ((op->flags & HAS_THREADS) != 0 && threads == 0)) {
        sim_warp_fault(warp, op, mask, SIM_ILLEGAL_INSTRUCTION, "barrier %u with %u threads",
                       *number, threads);
        return NULL;
    }
    struct sim_barrier *barrier = &sim_resident_of(warp->block)->barriers[*number];
    barrier->in_use = true;
    barrier->threads = threads;
    return barrier;
}

static const struct sim_op *run_barrier(struct sim_warp *warp, const struct sim_op *op,
                                        uint32_t mask)
{
    uint32_t number;
    struct sim_barrier *barrier = barrier_of(warp, op, mask, &number);

    if (barrier == NULL) {
        return NULL;
    }
    barrier->lanes[warp->number] |= mask;
    barrier->site = warp->sites != NULL ? &warp->sites[op->index] : NULL;
    if (op->flags >> REDUCTION_SHIFT != NO_REDUCTION) {
        const uint32_t flip = (op->flags & FLIPS_VOTE) != 0 ? SIM_FULL_MASK : 0;
        const uint32_t vote = *SIM_AT(warp->frame, op->c, const uint32_t) ^ flip;

        barrier->votes += (uint32_t)__builtin_popcount(vote & mask);
    }
    if ((op->flags & ARRIVES_ONLY) == 0) {
        warp->path->op = op;
        warp->path->barrier = (uint8_t)number;
        warp->path->taking = mask;
        sim_path_wait(warp, SIM_PATH_AT_BARRIER);
    }
    if (is_complete(warp->block, barrier)) {
        complete(warp->block, barrier);
    }
    return (op->flags & ARRIVES_ONLY) != 0 ? op + 1 : NULL;
}

/* ---- decoding ------------------------------------------------------------------------------- */

static enum reduction reduction_of(const struct ptx_instruction *instruction)
{
    return sim_has(instruction, "popc")  ? REDUCE_COUNT
           : sim_has(instruction, "and") ? REDUCE_AND
           : sim_has(instruction, "or")  ? REDUCE_OR
                                         : NO_REDUCTION;
}

static enum sim_decode_result decode_reduction(struct sim_decoder *decoder,
                                               const struct ptx_instruction *instruction,
                                               struct sim_op *op)
{
    const enum reduction reduction = reduction_of(instruction);
    const uint32_t count = instruction->operand_count;

    if (reduction == NO_REDUCTION || (count != 3 && count != 4)) {
        return sim_decode_refuse(decoder, "this form of bar.red");
    }
    op->flags |= (uint32_t)reduction << REDUCTION_SHIFT;
    op->dst = sim_target(decoder, instruction, 0);
    op->a = sim_source(decoder, instruction, 1, PTX_U32);
    if (count == 4) {
        op->flags |= HAS_THREADS;
        op->b = sim_source(decoder, instruction, 2, PTX_U32);
    }
    op->c = sim_source(decoder, instruction, count - 1, PTX_PRED);
    op->flags |= instruction->operands[count - 1].negated ? FLIPS_VOTE : 0;
    const unsigned wanted = reduction == REDUCE_COUNT ? 4 : 0;
    if (op->dst != SIM_NOWHERE && sim_operand_bytes(decoder, &instruction->operands[0]) != wanted) {
        return sim_decode_refuse(decoder, "the type of bar.red's result");
    }
    return sim_decode_failed(decoder) ? SIM_UNSUPPORTED : SIM_DECODED;
}

enum sim_decode_result sim_decode_barrier(struct sim_decoder *decoder,
                                          const struct ptx_instruction *instruction,
                                          struct sim_op *op)
{
    const uint32_t count = instruction->operand_count;

    if (sim_has(instruction, "cluster")) {
        return sim_decode_refuse(decoder, "barrier.cluster");
    }
    if (sim_has(instruction, "warp")) {
        op->run = sim_run_warp_sync;
        op->a = sim_source(decoder, instruction, 0, PTX_U32);
        return sim_decode_failed(decoder) ? SIM_UNSUPPORTED : SIM_DECODED;
    }
    op->run = run_barrier;
    if (sim_has(instruction, "red")) {
        return decode_reduction(decoder, instruction, op);
    }
    const bool arrives = sim_has(instruction, "arrive");
    if ((!arrives && !sim_has(instruction, "sync")) || count < (arrives ? 2u : 1u) || count > 2) {
        return sim_decode_refuse(decoder, "this form of %s", instruction->opcode);
    }
    op->flags = arrives ? ARRIVES_ONLY : 0;
    op->a = sim_source(decoder, instruction, 0, PTX_U32);
    if (count == 2) {
        op->flags |= HAS_THREADS;
        op->b = sim_source(decoder, instruction, 1, PTX_U32);
    }
    return sim_decode_failed(decoder) ? SIM_UNSUPPORTED : SIM_DECODED;
}

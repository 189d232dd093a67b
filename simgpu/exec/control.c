/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow: branches, returns, exits, traps, fences and hints. */
#include <stdatomic.h>
#include <string.h>

#include "simgpu/exec/decode.h"
#include "simgpu/exec/path.h"
#include "simgpu/exec/run.h"

/* ---- branches ------------------------------------------------------------------------------- */

static void count_split(struct sim_warp *warp, const struct sim_op *op)
{
    if (warp->sites != NULL) {
        warp->sites[op->index].addresses++;
    }
}

/* True where the running path may go on to `target` without giving way to others. */
static bool has_budget(struct sim_warp *warp, const struct sim_op *op, const struct sim_op *target)
{
    return target > op || --warp->path->budget != 0 || sim_path_spent(warp, op, target) != NULL;
}

static const struct sim_op *run_branch(struct sim_warp *warp, const struct sim_op *op,
                                       uint32_t mask)
{
    const struct sim_op *target = op->control.target;
    const struct sim_op *reconv_at = op->control.reconv_at;

    if (mask == warp->active) {
        return has_budget(warp, op, target) ? target : NULL;
    }
    count_split(warp, op);
    if (target == reconv_at) {
        /* Lanes that jump are at the reconvergence point: the others stay this path. */
        sim_path_diverge(warp, op, warp->active & ~mask, reconv_at, reconv_at);
        warp->path->op = op + 1;
        return NULL;
    }
    struct sim_path *rest = sim_path_diverge(warp, op, mask, op + 1, reconv_at);
    if (rest != NULL) {
        sim_path_ready_first(warp, rest);
    }
    warp->path->op = target;
    has_budget(warp, op, target);
    return NULL;
}

struct targets {
    uint32_t index; /* frame offset */
    uint32_t count;
    const struct sim_op **ops;
};

static const struct sim_op *run_branch_index(struct sim_warp *warp, const struct sim_op *op,
                                             uint32_t mask)
{
    const struct targets *targets = op->control.more;
    const uint32_t *index = SIM_AT(warp->frame, targets->index, const uint32_t);
    const struct sim_op *next = NULL;
    struct sim_path *rest = NULL;

    /* Lanes that are switched off go on behind the branch. */
    if (mask != warp->active) {
        rest = sim_path_diverge(warp, op, mask, op + 1, op->control.reconv_at);
        if (rest != NULL) {
            sim_path_ready_first(warp, rest);
        }
        count_split(warp, op);
    }
    do {
        struct sim_path *path = warp->path;
        const uint32_t wanted = index[__builtin_ctz(path->mask)];
        uint32_t same = 0;

        if (wanted >= targets->count) {
            return sim_warp_fault(warp, op, path->mask, SIM_ILLEGAL_INSTRUCTION,
                                  "index %u of a table of %u targets", wanted, targets->count);
        }
        SIM_FOR_LANES(path->mask, i, same |= (uint32_t)(index[i] == wanted) << i);
        same &= path->mask;
        next = targets->ops[wanted];
        rest = sim_path_diverge(warp, op, same, op, op->control.reconv_at);
        path->op = next;
        if (sim_runner_of(warp)->stopped) {
            return NULL;
        }
        if (rest != NULL) {
            count_split(warp, op);
            sim_path_ready_first(warp, path);
            sim_path_enter(warp, rest);
        }
    } while (rest != NULL);
    has_budget(warp, op, next);
    return NULL;
}

/* ---- the end of threads --------------------------------------------------------------------- */

static const struct sim_op *run_exit(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    warp->live &= ~mask;
    sim_path_leave(warp, NULL, mask);
    sim_path_without(warp, mask, op + 1);
    sim_schedule_of(warp)->exited = true;
    sim_barriers_check(warp->block);
    return NULL;
}

const struct sim_op *sim_run_return(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    return sim_path_return(warp, mask, op) ? NULL : run_exit(warp, op, mask);
}

static const struct sim_op *run_trap(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    return sim_warp_fault(warp, op, mask, SIM_TRAP, "trap");
}

static const struct sim_op *run_breakpoint(struct sim_warp *warp, const struct sim_op *op,
                                           uint32_t mask)
{
    return sim_warp_fault(warp, op, mask, SIM_BREAKPOINT, "breakpoint without a debugger");
}

/* ---- fences and hints ----------------------------------------------------------------------- */

static const struct sim_op *run_fence(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    (void)mask;
    /* A read-modify-write in sequential order: a full fence, and one that ThreadSanitizer knows. */
    atomic_fetch_add(&sim_runner_of(warp)->fences, 1);
    return op + 1;
}

static const struct sim_op *run_nothing(struct sim_warp *warp, const struct sim_op *op,
                                        uint32_t mask)
{
    (void)warp;
    (void)mask;
    return op + 1;
}

/* The thread sleeps: whoever else can run does. */
static const struct sim_op *run_sleep(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    struct sim_path *path = warp->path;

    (void)mask;
    path->op = op + 1;
    sim_schedule_of(warp)->spinning = true;
    sim_path_give_way(warp, path);
    return NULL;
}

/* ---- decoding ------------------------------------------------------------------------------- */

static const struct sim_op *reconv_point(const struct sim_decoder *decoder)
{
    const uint32_t reconv_at = decoder->reconv_at[decoder->instruction];

    return reconv_at <= decoder->code->op_count ? &decoder->code->ops[reconv_at] : NULL;
}

static enum sim_decode_result decode_branch(struct sim_decoder *decoder,
                                            const struct ptx_instruction *instruction,
                                            struct sim_op *op)
{
    if (instruction->operand_count != 1 || instruction->operands[0].kind != PTX_OPERAND_LABEL ||
        instruction->operands[0].label > decoder->code->op_count) {
        return sim_decode_refuse(decoder, "a branch to something other than a label");
    }
    op->run = run_branch;
    op->control.target = &decoder->code->ops[instruction->operands[0].label];
    op->control.reconv_at = reconv_point(decoder);
    return SIM_DECODED;
}

static enum sim_decode_result decode_branch_index(struct sim_decoder *decoder,
                                                  const struct ptx_instruction *instruction,
                                                  struct sim_op *op)
{
    const struct ptx_table *table = instruction->operand_count == 2 &&
                                            instruction->operands[1].kind == PTX_OPERAND_TABLE
                                        ? instruction->operands[1].table
                                        : NULL;
    struct targets *targets = sim_decode_alloc(decoder, sizeof(*targets));

    if (table == NULL || table->labels == NULL || targets == NULL) {
        return sim_decode_refuse(decoder, "brx.idx without a table of labels");
    }
    targets->count = table->count;
    targets->index = sim_source(decoder, instruction, 0, PTX_U32);
    targets->ops = sim_decode_alloc(decoder, table->count * sizeof(void *));
    for (uint32_t i = 0; targets->ops != NULL && i < table->count; i++) {
        if (table->labels[i] > decoder->code->op_count) {
            return sim_decode_refuse(decoder, "brx.idx to something other than a label");
        }
        targets->ops[i] = &decoder->code->ops[table->labels[i]];
    }
    op->run = run_branch_index;
    op->control.more = targets;
    op->control.reconv_at = reconv_point(decoder);
    return sim_decode_failed(decoder) ? SIM_UNSUPPORTED : SIM_DECODED;
}

/* Instructions without operands of interest: PTX ISA 9.0, "Control Flow", "Miscellaneous". */
static const struct {
    const char *opcode;
    sim_handler run;
} plain[] = {
    {"ret", sim_run_return},   {"exit", run_exit},       {"trap", run_trap},
    {"brkpt", run_breakpoint}, {"membar", run_fence},    {"fence", run_fence},
    {"nanosleep", run_sleep},  {"pmevent", run_nothing}, {"griddepcontrol", run_nothing},
};

enum sim_decode_result sim_decode_control(struct sim_decoder *decoder,
                                          const struct ptx_instruction *instruction,
                                          struct sim_op *op)
{
    const char *opcode = instruction->opcode;

    if (strcmp(opcode, "bra") == 0) {
        return decode_branch(decoder, instruction, op);
    }
    if (strcmp(opcode, "brx") == 0) {
        return decode_branch_index(decoder, instruction, op);
    }
    if (strcmp(opcode, "call") == 0) {
        return sim_decode_call(decoder, instruction, op);
    }
    if (strcmp(opcode, "bar") == 0 || strcmp(opcode, "barrier") == 0) {
        return sim_decode_barrier(decoder, instruction, op);
    }
    if (strcmp(opcode, "fence") == 0 && sim_has(instruction, "tensormap::generic")) {
        return sim_decode_refuse(decoder, "fence.proxy.tensormap");
    }
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        if (strcmp(opcode, plain[i].opcode) == 0) {
            op->run = plain[i].run;
            return SIM_DECODED;
        }
    }
    return SIM_NOT_MINE;
}

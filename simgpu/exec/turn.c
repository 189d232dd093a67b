/* SPDX-License-Identifier: Apache-2.0 */
/* A warp's turn: its paths run until none is ready or one gives way. */
#include <string.h>

#include "simgpu/exec/path.h"
#include "simgpu/exec/run.h"

enum { PORTION = 1 << 16 };          /* instructions between looks at whether to stop */
#define LATE_PORTIONS (UINT64_C(64)) /* that an earlier block may still take after a fault */

/* Two operations at a time would do; a plain population count is slow without the instruction. */
static inline uint32_t lanes_of(uint32_t mask)
{
    if (mask == SIM_FULL_MASK) {
        return SIM_LANES;
    }
    mask -= (mask >> 1) & 0x55555555u;
    mask = (mask & 0x33333333u) + ((mask >> 2) & 0x33333333u);
    return (((mask + (mask >> 4)) & 0x0F0F0F0Fu) * 0x01010101u) >> 24;
}

/*
 * The running path until it comes to `stop` or has used up `*budget` (returns the place), or a handler
 * has taken it elsewhere (returns NULL).
 */
static const struct sim_op *execute(struct sim_warp *warp, const struct sim_op *op,
                                    const struct sim_op *stop, uint64_t *budget)
{
    const uint8_t *const frame = warp->frame;
    struct sim_inst_counts *const sites = warp->sites;
    const uint32_t active = warp->active;
    uint64_t left = *budget;

    while (op != stop && left != 0) {
        const uint32_t guard = *(const uint32_t *)(const void *)(frame + op->guard);
        const uint32_t mask = active & (guard ^ op->guard_flip);

        left--;
        if (sites != NULL) {
            sites[op->index].executed++;
            sites[op->index].lanes += lanes_of(mask);
        }
        if (mask == 0) {
            op++;
            continue;
        }
        op = op->run(warp, op, mask);
        if (op == NULL) {
            break;
        }
    }
    *budget = left;
    return op;
}

/* ---- whether to go on ----------------------------------------------------------------------- */

/* Of block 0, so that all workers stop. */
static void ask_whether_to_go_on(struct sim_run *run)
{
    const struct sim_launch *launch = run->launch;
    const uint64_t begun = atomic_load(&run->next_block);
    const struct sim_progress progress = {begun < run->blocks ? begun : run->blocks, run->blocks};

    if (launch->progress != NULL && !launch->progress(launch->progress_argument, &progress)) {
        sim_run_fail(run, 0, SIM_TIMEOUT, "%llu of its %llu blocks had begun",
                     (unsigned long long)progress.begun, (unsigned long long)progress.blocks);
    }
}

static void take_portion(struct sim_runner *runner, uint64_t block)
{
    struct sim_run *run = runner->run;
    uint64_t portion = PORTION;

    if (run->launch->instruction_limit != 0) {
        uint64_t left = atomic_load(&run->instructions_left);

        do {
            portion = left < PORTION ? left : PORTION;
        } while (!atomic_compare_exchange_weak(&run->instructions_left, &left, left - portion));
        if (portion == 0) {
            sim_run_fail(run, block, SIM_DEADLOCK, "instruction limit of %llu reached",
                         (unsigned long long)run->launch->instruction_limit);
            runner->stopped = true;
        }
    }
    runner->budget = portion;
    ask_whether_to_go_on(run);
    const uint64_t fault = atomic_load(&run->fault_block);
    if (fault != SIM_NO_FAULT && (fault <= block || runner->late_portions++ >= LATE_PORTIONS)) {
        runner->stopped = true;
    }
}

/* ---- warps ---------------------------------------------------------------------------------- */

static void start_warp(struct sim_warp *warp)
{
    struct sim_schedule *schedule = sim_schedule_of(warp);
    const struct sim_code *code = &sim_runner_of(warp)->run->kernel->codes[0];

    schedule->started = true;
    warp->code = code; /* for what faults say */
    warp->active = warp->live;
    schedule->frame = sim_frame_new(warp, code->ops, code, 0);
    struct sim_path *path = schedule->frame != NULL ? sim_path_new(warp, code->ops, warp->live)
                                                    : NULL;
    warp->code = NULL;
    if (path != NULL) {
        path->op = code->ops;
        path->frame = schedule->frame;
        sim_path_ready_last(warp, path);
    }
}

/* Until no path is ready, or one has given way to other warps. */
static void run_warp(struct sim_warp *warp)
{
    struct sim_runner *runner = sim_runner_of(warp);

    runner->yielded = false;
    warp->path = NULL;
    while (!runner->stopped && !runner->yielded) {
        struct sim_path *path = warp->path != NULL ? warp->path : sim_path_next(warp);

        if (path == NULL) {
            break;
        }
        sim_path_enter(warp, path);
        const struct sim_op *op = execute(warp, path->op, path->stop, &runner->budget);
        if (op == NULL) {
            continue; /* a handler has said who goes on: warp->path */
        }
        path->op = op;
        if (op == path->stop) {
            warp->path = sim_path_arrive(warp, path);
        } else {
            take_portion(runner, warp->block->number);
        }
    }
}

bool sim_schedule_is_over(const struct sim_schedule *schedule)
{
    return schedule->started && schedule->ready == NULL && schedule->waiting == NULL;
}

bool sim_warp_turn(struct sim_warp *warp)
{
    struct sim_schedule *schedule = sim_schedule_of(warp);

    if (!schedule->started) {
        start_warp(warp);
    }
    if (schedule->ready == NULL) {
        return false;
    }
    schedule->spinning = false;
    run_warp(warp);
    while (schedule->exited && schedule->waiting != NULL && sim_gather_retry(warp)) {
        schedule->exited = true; /* there may be more of them */
    }
    if (sim_schedule_is_over(schedule) && schedule->frame != NULL) {
        sim_frame_free(warp, schedule->frame);
        schedule->frame = NULL;
    }
    return true;
}

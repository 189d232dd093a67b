/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker takes blocks one after another. A block that only waits for others (it spins on a flag in
 * global memory) stays under way, and the next one begins beside it: blocks of a grid that are
 * resident at once on a GPU can wait for each other here too.
 */
#include <sched.h>
#include <string.h>

#include "simgpu/exec/path.h"
#include "simgpu/exec/run.h"

static void begin_block(struct sim_runner *runner, struct sim_resident *resident, uint64_t number)
{
    const struct sim_run *run = runner->run;
    struct sim_block *block = &resident->block;
    const uint32_t *grid = run->launch->grid;

    memset(resident->schedules, 0, run->warps_per_block * sizeof(resident->schedules[0]));
    memset(resident->barriers, 0, sizeof(resident->barriers));
    memset(resident->shared, 0, run->shared_bytes);
    block->number = number;
    block->index[0] = (uint32_t)(number % grid[0]);
    block->index[1] = (uint32_t)(number / grid[0] % grid[1]);
    block->index[2] = (uint32_t)(number / grid[0] / grid[1]);
    block->barrier_epoch = 0;
    for (uint32_t i = 0; i < run->warps_per_block; i++) {
        const uint32_t threads = run->threads_per_block - i * SIM_LANES;

        resident->warps[i] = (struct sim_warp){
            .live = threads >= SIM_LANES ? SIM_FULL_MASK : (UINT32_C(1) << threads) - 1,
            .number = i,
            .block = block,
            .worker = &runner->worker,
            .local = resident->local + (size_t)i * SIM_LANES * run->stack_bytes,
            .local_stride = run->stack_bytes,
        };
    }
}

/* The next block of the grid begins. False if there is none, or no memory for one more. */
static bool begin_next(struct sim_runner *runner)
{
    struct sim_run *run = runner->run;
    struct sim_resident *resident = sim_runner_resident(runner, runner->live_count);

    if (resident == NULL) {
        if (runner->live_count == 0) {
            sim_run_fail(run, 0, SIM_OUT_OF_MEMORY, "no memory for a block");
            runner->stopped = true;
        }
        return false;
    }
    const uint64_t number = atomic_fetch_add(&run->next_block, 1);
    if (number >= run->blocks || number > atomic_load(&run->fault_block)) {
        return false;
    }
    begin_block(runner, resident, number);
    runner->live_count++;
    return true;
}

void sim_runner_work(struct sim_runner *runner)
{
    uint32_t at = 0;

    begin_next(runner);
    while (runner->live_count != 0 && !runner->stopped) {
        struct sim_resident *resident = runner->residents[at];

        if (sim_block_run(runner, resident)) {
            runner->residents[at] = runner->residents[--runner->live_count];
            runner->residents[runner->live_count] = resident;
            if (runner->live_count == 0) {
                begin_next(runner);
            }
        } else if (!runner->stopped) {
            at = begin_next(runner) ? runner->live_count - 1 : at + 1;
            sched_yield();
        }
        at = at < runner->live_count ? at : 0;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A block: its warps take turns, until all threads have exited or none can go on. */
#include "simgpu/exec/path.h"
#include "simgpu/exec/run.h"

/* Rounds in which warps do nothing but spin or sleep, until other blocks are given a chance. */
enum { IDLE_ROUNDS = 4 };

/* Threads that wait at reconvergence points go on without those that do not come. */
static bool release_reconvs(struct sim_block *block)
{
    bool released = false;

    for (uint32_t i = 0; i < block->warp_count; i++) {
        block->warps[i].path = NULL;
        released |= sim_reconv_release_early(&block->warps[i]);
    }
    return released;
}

static void report_deadlock(struct sim_block *block)
{
    char text[200];

    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct sim_warp *warp = &block->warps[i];
        struct sim_path *path = sim_schedule_of(warp)->waiting;

        if (path != NULL) {
            sim_path_enter(warp, path);
            sim_barriers_describe(block, text, sizeof(text));
            sim_warp_fault(warp, path->op, path->mask, SIM_DEADLOCK, "no thread can go on: %s",
                           text);
            return;
        }
    }
}

struct round {
    bool live;    /* threads are left */
    bool ran;     /* some warp could do something */
    bool working; /* and it was more than spinning */
};

static struct round run_round(struct sim_runner *runner, struct sim_resident *resident)
{
    const uint32_t warps = resident->block.warp_count;
    struct round round = {false, false, false};

    for (uint32_t i = 0; i < warps && !runner->stopped; i++) {
        const bool ran = sim_warp_turn(&resident->warps[i]);

        round.ran |= ran;
        round.working |= ran && !resident->schedules[i].spinning;
    }
    for (uint32_t i = 0; i < warps; i++) {
        round.live |= !sim_schedule_is_over(&resident->schedules[i]);
    }
    return round;
}

bool sim_block_run(struct sim_runner *runner, struct sim_resident *resident)
{
    unsigned idle = 0;

    while (!runner->stopped) {
        const struct round round = run_round(runner, resident);

        if (!round.live) {
            return true;
        }
        idle = round.working ? 0 : idle + 1;
        if (runner->stopped || (!round.ran && release_reconvs(&resident->block))) {
            continue;
        }
        if (!round.ran) {
            report_deadlock(&resident->block);
        } else if (idle >= IDLE_ROUNDS) {
            release_reconvs(&resident->block);
            return false;
        }
    }
    return false;
}

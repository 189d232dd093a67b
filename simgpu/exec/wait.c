/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting inside a warp: instructions that gather lanes, and paths that spin.
 *
 * A path that waits for a lock held by lanes of its own warp would wait for ever if those stood at a
 * reconvergence point until it comes. Hardware gives every thread its turn (independent thread scheduling, compute
 * capability 7.0 and later); here a path that runs round a loop without changing any register, while
 * others wait for it, is taken to spin, and those that wait go on without it.
 */
#include <string.h>

#include "simgpu/exec/path.h"
#include "simgpu/exec/run.h"

enum {
    PROBES = 8, /* turns a spinning loop may take to come back to the same state */
    SPINS = 4,  /* times a path is seen to spin before those that wait for it are let go */
    RESTS = 16, /* times a path gives way before it is looked at without need */
};
#define SIM_LONG_LOOP (1u << 22) /* turns after which it is let go even if its registers change */

/* ---- gathering ------------------------------------------------------------------------------ */

/* Warp barriers may stand at different places; other instructions must be the very same. */
static bool is_same_place(const struct sim_path *path, const struct sim_path *other)
{
    return other->state == SIM_PATH_GATHERING &&
           ((other->op == path->op && other->frame == path->frame) ||
            (path->op->run == sim_run_warp_sync && other->op->run == sim_run_warp_sync));
}

static uint32_t lanes_with(const struct sim_warp *warp, const struct sim_path *path)
{
    uint32_t lanes = path->taking;

    for (struct sim_path *each = sim_schedule_of(warp)->waiting; each != NULL; each = each->next) {
        lanes |= is_same_place(path, each) ? each->taking : 0;
    }
    return lanes;
}

/* The running path and those that wait with it go on; the handler works for all of them at once. */
static void go_on(struct sim_warp *warp, uint32_t lanes)
{
    struct sim_runner *runner = sim_runner_of(warp);
    struct sim_path *path = warp->path;
    struct sim_path *each = sim_schedule_of(warp)->waiting;
    const struct sim_op *op = path->op;
    const bool is_sync = op->run == sim_run_warp_sync;

    if (!is_sync) {
        runner->gathering = true;
        warp->active = lanes;
        const struct sim_op *next = op->run(warp, op, lanes);
        warp->active = path->mask;
        runner->gathering = false;
        if (next == NULL) {
            return; /* a fault, or more lanes are needed than this path knew of */
        }
    }
    while (each != NULL) {
        struct sim_path *following = each->next;

        if (is_same_place(path, each)) {
            sim_path_wake(warp, each, each->op + 1);
        }
        each = following;
    }
    path->op = op + 1;
    path->taking = 0;
}

/* The running path, at path->op with path->taking and path->members, goes on if all are there. */
static bool try_gather(struct sim_warp *warp)
{
    struct sim_path *path = warp->path;
    const uint32_t lanes = lanes_with(warp, path);

    if ((path->members & warp->live & ~lanes) != 0) {
        return false;
    }
    const struct sim_op *op = path->op;
    go_on(warp, lanes);
    return path->op != op || sim_runner_of(warp)->stopped;
}

static const struct sim_op *gather(struct sim_warp *warp, const struct sim_op *op, uint32_t mask,
                                   uint32_t members)
{
    struct sim_path *path = warp->path;

    if ((members & warp->live & ~mask) == 0) {
        return op;
    }
    path->members = members;
    if (sim_runner_of(warp)->gathering) {
        return NULL;
    }
    path->op = op;
    path->taking = mask;
    if (!try_gather(warp)) {
        sim_path_wait(warp, SIM_PATH_GATHERING);
    }
    return NULL;
}

const struct sim_op *sim_warp_gather(struct sim_warp *warp, const struct sim_op *op, uint32_t mask,
                                     uint32_t members)
{
    return gather(warp, op, mask, members);
}

/* bar.warp.sync: `a` holds the members of each lane. */
const struct sim_op *sim_run_warp_sync(struct sim_warp *warp, const struct sim_op *op,
                                       uint32_t mask)
{
    const uint32_t *named = SIM_AT(warp->frame, op->a, const uint32_t);
    uint32_t members = 0;

    SIM_FOR_LANES(mask, i, members |= named[i]);
    return gather(warp, op, mask, members) != NULL ? op + 1 : NULL;
}

bool sim_gather_retry(struct sim_warp *warp)
{
    struct sim_schedule *schedule = sim_schedule_of(warp);

    schedule->exited = false;
    for (struct sim_path **link = &schedule->waiting; *link != NULL; link = &(*link)->next) {
        struct sim_path *path = *link;

        if (path->state != SIM_PATH_GATHERING ||
            (path->members & warp->live & ~lanes_with(warp, path)) != 0) {
            continue;
        }
        *link = path->next;
        sim_path_enter(warp, path);
        path->state = SIM_PATH_READY;
        if (!try_gather(warp)) {
            sim_path_wait(warp, SIM_PATH_GATHERING);
            return false;
        }
        warp->path = NULL;
        sim_path_ready_first(warp, path);
        return true;
    }
    return false;
}

/* ---- spinning ------------------------------------------------------------------------------- */

static uint64_t print_of(const struct sim_path *path)
{
    const struct sim_code *code = path->frame->code;
    const uint8_t *registers = path->frame->data + code->registers_at;
    uint64_t print = 0;

    for (uint32_t at = 0; at < code->registers_bytes; at += sizeof(uint64_t)) {
        uint64_t word;

        memcpy(&word, registers + at, sizeof(word));
        print = (print ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        print ^= print >> 32;
    }
    return print;
}

static bool others_wait(const struct sim_path *path)
{
    for (const struct sim_reconv *reconv = path->reconv; reconv != NULL; reconv = reconv->parent) {
        if (reconv->arrived != 0) {
            return true;
        }
    }
    return false;
}

/* True once the registers are found as they were some turns ago at the same branch. */
static bool is_spinning(struct sim_path *path, const struct sim_op *op)
{
    const uint64_t print = print_of(path);

    if (path->probes == 0) {
        path->probes = PROBES;
        path->print = print;
        path->print_at = op;
        return false;
    }
    path->probes--;
    return path->print == print && path->print_at == op;
}

/* Look at the registers now: always where others wait, else now and then. */
static bool is_time_to_look(struct sim_path *path, bool waited_for)
{
    return waited_for || path->probes != 0 || path->spins != 0 || ++path->rests % RESTS == 0;
}

static void let_others_go(struct sim_warp *warp, struct sim_path *path)
{
    sim_reconv_release_early(warp);
    sim_runner_of(warp)->has_spun = true;
    path->spins = 0;
    path->turns = 0;
}

const struct sim_op *sim_path_spent(struct sim_warp *warp, const struct sim_op *op,
                                    const struct sim_op *target)
{
    struct sim_path *path = warp->path;
    struct sim_runner *runner = sim_runner_of(warp);
    const bool waited_for = others_wait(path);
    bool spinning = false;

    path->op = target;
    if (is_time_to_look(path, waited_for)) {
        spinning = is_spinning(path, op);
        path->turns += path->probes == PROBES ? SIM_SPIN_BUDGET : 1;
        if (!spinning && path->probes != 0) {
            path->budget = 1;
            return target; /* look again at the next branch */
        }
        path->probes = 0;
        path->spins = spinning ? path->spins + 1 : 0;
    }
    /* Whoever is to end the wait may just need its turn: give it some before letting go. */
    if (waited_for && (path->turns >= SIM_LONG_LOOP ||
                       (spinning && (path->spins >= SPINS || runner->has_spun)))) {
        let_others_go(warp, path);
    } else {
        sim_schedule_of(warp)->spinning = spinning;
    }
    path->budget = spinning || runner->has_spun ? SIM_SHORT_BUDGET : SIM_SPIN_BUDGET;
    sim_path_give_way(warp, path);
    return NULL;
}

void sim_path_give_way(struct sim_warp *warp, struct sim_path *path)
{
    sim_path_ready_last(warp, path);
    warp->path = NULL;
    sim_runner_of(warp)->yielded = true;
}

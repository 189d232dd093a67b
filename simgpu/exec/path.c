/* SPDX-License-Identifier: Apache-2.0 */
/* Paths, reconvergence points and frames of a warp. */
#include "simgpu/exec/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/exec/decode.h"
#include "simgpu/exec/run.h"

/* Of one worker: calls nested so deeply that they need more are an overflow of the stack. */
#define MAX_FRAME_BYTES (UINT64_C(1) << 30)

/* ---- frames --------------------------------------------------------------------------------- */

static struct sim_frame *take_frame(struct sim_warp *warp, const struct sim_op *op,
                                    const struct sim_code *code)
{
    struct sim_runner *runner = sim_runner_of(warp);
    struct sim_frame **list = &runner->codes[code->number].frames;
    struct sim_frame *frame = *list;

    if (frame != NULL) {
        *list = frame->next;
        memset(frame->data + code->registers_at, 0, code->registers_bytes);
        return frame;
    }
    const uint64_t bytes = sizeof(*frame) + code->frame_bytes;
    if (runner->frame_bytes + bytes > MAX_FRAME_BYTES) {
        sim_warp_fault(warp, op, warp->active, SIM_STACK_OVERFLOW, "calls nested too deeply");
        return NULL;
    }
    if (posix_memalign((void **)&frame, 64, bytes) != 0) {
        sim_warp_fault(warp, op, warp->active, SIM_OUT_OF_MEMORY, "no memory for registers");
        return NULL;
    }
    runner->frame_bytes += bytes;
    frame->bytes = bytes;
    frame->code = code;
    frame->all = runner->frames;
    runner->frames = frame;
    memcpy(frame->data, code->image, code->frame_bytes);
    return frame;
}

struct sim_frame *sim_frame_new(struct sim_warp *warp, const struct sim_op *op,
                                const struct sim_code *code, uint64_t local_base)
{
    struct sim_frame *frame;

    if (local_base + code->local_bytes > warp->local_stride) {
        sim_warp_fault(warp, op, warp->active, SIM_STACK_OVERFLOW,
                       "more than %zu bytes of local memory per thread", warp->local_stride);
        return NULL;
    }
    frame = take_frame(warp, op, code);
    if (frame == NULL) {
        return NULL;
    }
    frame->local_base = local_base;
    for (uint32_t i = 0; i < code->special_count; i++) {
        sim_special_fill(warp, &code->specials[i], frame->data);
    }
    for (uint32_t i = 0; i < code->local_address_count; i++) {
        const struct sim_local_slot *slot = &code->local_addresses[i];
        const uint64_t address = local_base + slot->address;

        for (unsigned lane = 0; lane < SIM_LANES; lane++) {
            memcpy(frame->data + slot->offset + (size_t)lane * slot->bytes, &address, slot->bytes);
        }
    }
    return frame;
}

void sim_frame_free(struct sim_warp *warp, struct sim_frame *frame)
{
    struct sim_frame **list = &sim_runner_of(warp)->codes[frame->code->number].frames;

    frame->next = *list;
    *list = frame;
}

/* ---- paths ---------------------------------------------------------------------------------- */

static uint32_t budget_of(const struct sim_warp *warp)
{
    return sim_runner_of(warp)->has_spun ? SIM_SHORT_BUDGET : SIM_SPIN_BUDGET;
}

struct sim_path *sim_path_new(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    struct sim_runner *runner = sim_runner_of(warp);
    struct sim_path *path = runner->free_paths;

    if (path != NULL) {
        runner->free_paths = path->next;
    } else {
        path = gmt_arena_alloc_aligned(&runner->arena, sizeof(*path), SIM_LANES_ALIGNMENT);
    }
    if (path == NULL) {
        sim_warp_fault(warp, op, mask, SIM_OUT_OF_MEMORY, "no memory for a diverging warp");
        return NULL;
    }
    *path = (struct sim_path){.mask = mask, .budget = budget_of(warp)};
    return path;
}

static void free_path(struct sim_warp *warp, struct sim_path *path)
{
    struct sim_runner *runner = sim_runner_of(warp);

    path->next = runner->free_paths;
    runner->free_paths = path;
}

void sim_path_enter(struct sim_warp *warp, struct sim_path *path)
{
    warp->path = path;
    warp->frame = path->frame->data;
    warp->active = path->mask;
    warp->local_base = path->frame->local_base;
    if (warp->code != path->frame->code) {
        warp->code = path->frame->code;
        warp->sites = sim_runner_insts(warp, warp->code);
    }
}

void sim_path_set_stop(struct sim_path *path)
{
    path->stop = path->reconv != NULL && path->reconv->callee == NULL ? path->reconv->at : NULL;
}

void sim_path_ready_first(struct sim_warp *warp, struct sim_path *path)
{
    struct sim_schedule *schedule = sim_schedule_of(warp);

    path->state = SIM_PATH_READY;
    path->next = schedule->ready;
    schedule->ready = path;
    if (path->next == NULL) {
        schedule->last_ready = path;
    }
}

void sim_path_ready_last(struct sim_warp *warp, struct sim_path *path)
{
    struct sim_schedule *schedule = sim_schedule_of(warp);

    path->state = SIM_PATH_READY;
    path->next = NULL;
    if (schedule->ready == NULL) {
        schedule->ready = path;
    } else {
        schedule->last_ready->next = path;
    }
    schedule->last_ready = path;
}

struct sim_path *sim_path_next(struct sim_warp *warp)
{
    struct sim_schedule *schedule = sim_schedule_of(warp);
    struct sim_path *path = schedule->ready;

    if (path != NULL) {
        schedule->ready = path->next;
        path->next = NULL;
    }
    return path;
}

void sim_path_wait(struct sim_warp *warp, enum sim_path_state state)
{
    struct sim_schedule *schedule = sim_schedule_of(warp);
    struct sim_path *path = warp->path;

    path->state = (uint8_t)state;
    path->next = schedule->waiting;
    schedule->waiting = path;
    warp->path = NULL;
}

void sim_path_wake(struct sim_warp *warp, struct sim_path *path, const struct sim_op *op)
{
    struct sim_path **link = &sim_schedule_of(warp)->waiting;

    while (*link != path) {
        link = &(*link)->next;
    }
    *link = path->next;
    path->op = op;
    sim_path_ready_last(warp, path);
}

/* ---- reconvergence points ------------------------------------------------------------------- */

struct sim_reconv *sim_reconv_new(struct sim_warp *warp, const struct sim_op *op)
{
    struct sim_runner *runner = sim_runner_of(warp);
    struct sim_reconv *reconv = runner->free_reconvs;

    if (reconv != NULL) {
        runner->free_reconvs = reconv->parent;
    } else {
        reconv = gmt_arena_alloc(&runner->arena, sizeof(*reconv));
    }
    if (reconv == NULL) {
        sim_warp_fault(warp, op, warp->active, SIM_OUT_OF_MEMORY, "no memory for a diverging warp");
        return NULL;
    }
    *reconv = (struct sim_reconv){.parent = NULL};
    return reconv;
}

static void free_reconv(struct sim_warp *warp, struct sim_reconv *reconv)
{
    struct sim_runner *runner = sim_runner_of(warp);

    if (reconv->callee != NULL) {
        sim_frame_free(warp, reconv->callee);
    }
    reconv->parent = runner->free_reconvs;
    runner->free_reconvs = reconv;
}

/* `path` goes on behind the reconvergence point with the lanes that have arrived there. */
static void resume(struct sim_warp *warp, struct sim_path *path, struct sim_reconv *reconv)
{
    if (reconv->callee != NULL) {
        sim_call_copy_results(warp, reconv, reconv->arrived);
    }
    path->mask = reconv->arrived;
    path->op = reconv->at;
    path->frame = reconv->frame;
    path->reconv = reconv->parent;
    sim_path_set_stop(path);
}

struct sim_path *sim_path_arrive(struct sim_warp *warp, struct sim_path *path)
{
    do {
        struct sim_reconv *reconv = path->reconv;

        reconv->arrived |= path->mask;
        if (reconv->arrived != reconv->expected) {
            free_path(warp, path);
            return NULL;
        }
        resume(warp, path, reconv);
        free_reconv(warp, reconv);
    } while (path->op == path->stop);
    return path;
}

/* Lanes that have arrived go on as a path of their own, to run when its turn comes. */
static void resume_apart(struct sim_warp *warp, struct sim_reconv *reconv)
{
    struct sim_path *path = sim_path_new(warp, reconv->at, reconv->arrived);

    if (path != NULL) {
        resume(warp, path, reconv);
        if (path->op != path->stop || (path = sim_path_arrive(warp, path)) != NULL) {
            sim_path_ready_last(warp, path);
        }
    }
}

void sim_path_leave(struct sim_warp *warp, struct sim_reconv *until, uint32_t lanes)
{
    struct sim_reconv *reconv = warp->path->reconv;

    /* First all counts, then who goes on: one that goes on may complete those around it. */
    for (struct sim_reconv *each = reconv; each != until; each = each->parent) {
        each->expected &= ~lanes;
    }
    while (reconv != until) {
        struct sim_reconv *parent = reconv->parent;

        if (reconv->expected == 0) {
            free_reconv(warp, reconv);
        } else if (reconv->expected == reconv->arrived) {
            resume_apart(warp, reconv);
            free_reconv(warp, reconv);
            return; /* lanes that go on from here are still expected further out */
        } else {
            return; /* as are those that are still to come here */
        }
        reconv = parent;
    }
}

const struct sim_op *sim_path_without(struct sim_warp *warp, uint32_t lanes,
                                      const struct sim_op *op)
{
    struct sim_path *path = warp->path;

    path->mask &= ~lanes;
    path->op = op;
    if (path->mask == 0) {
        free_path(warp, path);
        warp->path = NULL;
    }
    return NULL;
}

bool sim_path_return(struct sim_warp *warp, uint32_t lanes, const struct sim_op *op)
{
    struct sim_path *path = warp->path;
    struct sim_reconv *reconv = path->reconv;

    while (reconv != NULL && reconv->callee == NULL) {
        reconv = reconv->parent;
    }
    if (reconv == NULL) {
        return false;
    }
    sim_path_leave(warp, reconv, lanes);
    reconv->arrived |= lanes;
    if (reconv->arrived != reconv->expected) {
        sim_path_without(warp, lanes, op + 1);
        return true;
    }
    resume(warp, path, reconv);
    free_reconv(warp, reconv);
    warp->path = path->op == path->stop ? sim_path_arrive(warp, path) : path;
    return true;
}

static bool release(struct sim_warp *warp, struct sim_path *path)
{
    for (struct sim_reconv *reconv = path->reconv; reconv != NULL; reconv = reconv->parent) {
        if (reconv->arrived != 0) {
            reconv->expected &= ~reconv->arrived;
            resume_apart(warp, reconv);
            reconv->arrived = 0;
            return true;
        }
    }
    return false;
}

bool sim_reconv_release_early(struct sim_warp *warp)
{
    struct sim_schedule *schedule = sim_schedule_of(warp);

    if (warp->path != NULL && release(warp, warp->path)) {
        return true;
    }
    for (struct sim_path *path = schedule->waiting; path != NULL; path = path->next) {
        if (release(warp, path)) {
            return true;
        }
    }
    for (struct sim_path *path = schedule->ready; path != NULL; path = path->next) {
        if (release(warp, path)) {
            return true;
        }
    }
    return false;
}

struct sim_path *sim_path_diverge(struct sim_warp *warp, const struct sim_op *op, uint32_t lanes,
                                  const struct sim_op *rest_at, const struct sim_op *reconv_at)
{
    struct sim_path *path = warp->path;
    const uint32_t rest = path->mask & ~lanes;

    if (rest == 0) {
        return NULL;
    }
    if (reconv_at != NULL && reconv_at != path->stop) {
        struct sim_reconv *reconv = sim_reconv_new(warp, op);

        if (reconv == NULL) {
            return NULL;
        }
        *reconv = (struct sim_reconv){
            .parent = path->reconv, .at = reconv_at, .frame = path->frame, .expected = path->mask};
        path->reconv = reconv;
        path->stop = reconv_at;
    }
    path->mask = lanes;
    if (reconv_at != NULL && rest_at == reconv_at) {
        path->reconv->arrived |= rest;
        return NULL;
    }
    struct sim_path *other = sim_path_new(warp, op, rest);
    if (other != NULL) {
        other->op = rest_at;
        other->frame = path->frame;
        other->reconv = path->reconv;
        other->stop = path->stop;
    }
    return other;
}

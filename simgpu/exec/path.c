/* SPDX-License-Identifier: Apache-2.0 */
/* Paths, joins and frames of a warp. */
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

static uint32_t patience_of(const struct sim_warp *warp)
{
    return sim_runner_of(warp)->nervous ? SIM_SHORT_PATIENCE : SIM_PATIENCE;
}

struct sim_path *sim_path_new(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    struct sim_runner *runner = sim_runner_of(warp);
    struct sim_path *path = runner->free_paths;

    if (path != NULL) {
        runner->free_paths = path->next;
    } else {
        path = sim_arena_alloc(&runner->arena, sizeof(*path));
    }
    if (path == NULL) {
        sim_warp_fault(warp, op, mask, SIM_OUT_OF_MEMORY, "no memory for a diverging warp");
        return NULL;
    }
    *path = (struct sim_path){.mask = mask, .patience = patience_of(warp)};
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
        warp->sites = sim_runner_sites(warp, warp->code);
    }
}

void sim_path_set_stop(struct sim_path *path)
{
    path->stop = path->join != NULL && path->join->callee == NULL ? path->join->at : NULL;
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

/* ---- joins ---------------------------------------------------------------------------------- */

struct sim_join *sim_join_new(struct sim_warp *warp, const struct sim_op *op)
{
    struct sim_runner *runner = sim_runner_of(warp);
    struct sim_join *join = runner->free_joins;

    if (join != NULL) {
        runner->free_joins = join->parent;
    } else {
        join = sim_arena_alloc(&runner->arena, sizeof(*join));
    }
    if (join == NULL) {
        sim_warp_fault(warp, op, warp->active, SIM_OUT_OF_MEMORY, "no memory for a diverging warp");
        return NULL;
    }
    *join = (struct sim_join){.parent = NULL};
    return join;
}

static void free_join(struct sim_warp *warp, struct sim_join *join)
{
    struct sim_runner *runner = sim_runner_of(warp);

    if (join->callee != NULL) {
        sim_frame_free(warp, join->callee);
    }
    join->parent = runner->free_joins;
    runner->free_joins = join;
}

/* `path` goes on behind the join with the lanes that have arrived there. */
static void resume(struct sim_warp *warp, struct sim_path *path, struct sim_join *join)
{
    if (join->callee != NULL) {
        sim_call_copy_results(warp, join, join->arrived);
    }
    path->mask = join->arrived;
    path->op = join->at;
    path->frame = join->frame;
    path->join = join->parent;
    sim_path_set_stop(path);
}

struct sim_path *sim_path_arrive(struct sim_warp *warp, struct sim_path *path)
{
    do {
        struct sim_join *join = path->join;

        join->arrived |= path->mask;
        if (join->arrived != join->expected) {
            free_path(warp, path);
            return NULL;
        }
        resume(warp, path, join);
        free_join(warp, join);
    } while (path->op == path->stop);
    return path;
}

/* Lanes that have arrived go on as a path of their own, to run when its turn comes. */
static void resume_apart(struct sim_warp *warp, struct sim_join *join)
{
    struct sim_path *path = sim_path_new(warp, join->at, join->arrived);

    if (path != NULL) {
        resume(warp, path, join);
        if (path->op != path->stop || (path = sim_path_arrive(warp, path)) != NULL) {
            sim_path_ready_last(warp, path);
        }
    }
}

void sim_path_leave(struct sim_warp *warp, struct sim_join *until, uint32_t lanes)
{
    struct sim_join *join = warp->path->join;

    /* First all counts, then who goes on: a join that goes on may complete those around it. */
    for (struct sim_join *each = join; each != until; each = each->parent) {
        each->expected &= ~lanes;
    }
    while (join != until) {
        struct sim_join *parent = join->parent;

        if (join->expected == 0) {
            free_join(warp, join);
        } else if (join->expected == join->arrived) {
            resume_apart(warp, join);
            free_join(warp, join);
            return; /* lanes that go on from here are still expected further out */
        } else {
            return; /* as are those that are still to come here */
        }
        join = parent;
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
    struct sim_join *join = path->join;

    while (join != NULL && join->callee == NULL) {
        join = join->parent;
    }
    if (join == NULL) {
        return false;
    }
    sim_path_leave(warp, join, lanes);
    join->arrived |= lanes;
    if (join->arrived != join->expected) {
        sim_path_without(warp, lanes, op + 1);
        return true;
    }
    resume(warp, path, join);
    free_join(warp, join);
    warp->path = path->op == path->stop ? sim_path_arrive(warp, path) : path;
    return true;
}

static bool release(struct sim_warp *warp, struct sim_path *path)
{
    for (struct sim_join *join = path->join; join != NULL; join = join->parent) {
        if (join->arrived != 0) {
            join->expected &= ~join->arrived;
            resume_apart(warp, join);
            join->arrived = 0;
            return true;
        }
    }
    return false;
}

bool sim_join_release_early(struct sim_warp *warp)
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

struct sim_path *sim_path_part(struct sim_warp *warp, const struct sim_op *op, uint32_t lanes,
                               const struct sim_op *rest_at, const struct sim_op *meet)
{
    struct sim_path *path = warp->path;
    const uint32_t rest = path->mask & ~lanes;

    if (rest == 0) {
        return NULL;
    }
    if (meet != NULL && meet != path->stop) {
        struct sim_join *join = sim_join_new(warp, op);

        if (join == NULL) {
            return NULL;
        }
        *join = (struct sim_join){
            .parent = path->join, .at = meet, .frame = path->frame, .expected = path->mask};
        path->join = join;
        path->stop = meet;
    }
    path->mask = lanes;
    if (meet != NULL && rest_at == meet) {
        path->join->arrived |= rest;
        return NULL;
    }
    struct sim_path *other = sim_path_new(warp, op, rest);
    if (other != NULL) {
        other->op = rest_at;
        other->frame = path->frame;
        other->join = path->join;
        other->stop = path->stop;
    }
    return other;
}

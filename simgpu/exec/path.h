/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths and reconvergence points: threads of a warp that diverge, wait and reconverge.
 *
 * A path is a set of lanes at one place of the code. A reconvergence point is a place that a set of lanes (`expected`)
 * must reach before any of them goes on; they form chains, the innermost first. A path that comes to
 * its innermost one ends there, and the last to come goes on with all lanes. Lanes that exit are no
 * longer expected. A call is one too: its callee's frame lives until all lanes have returned.
 */
#ifndef SIMGPU_EXEC_PATH_H
#define SIMGPU_EXEC_PATH_H

#include "simgpu/exec/code.h"
#include "simgpu/exec/warp.h"

/* One activation of a function by a set of lanes: its registers. */
struct sim_frame {
    struct sim_frame *next; /* free list */
    struct sim_frame *all;  /* of the worker */
    const struct sim_code *code;
    uint64_t local_base; /* offset of its local variables in each lane's local memory */
    uint64_t bytes;
    _Alignas(64) uint8_t data[];
};

struct sim_ptx_call; /* call.h */

struct sim_reconv {
    struct sim_reconv *parent;
    const struct sim_op *at; /* where the lanes go on, in `frame` */
    struct sim_frame *frame;
    struct sim_frame *callee; /* NULL: a branch. Else reached by `ret`; the frame ends with it */
    const struct sim_ptx_call *call; /* where results go */
    uint32_t expected, arrived;
};

enum sim_path_state { SIM_PATH_READY, SIM_PATH_AT_BARRIER, SIM_PATH_GATHERING };

struct sim_path {
    struct sim_path *next;
    const struct sim_op *op;
    const struct sim_op *stop; /* the innermost reconvergence point, if it is in this frame */
    struct sim_frame *frame;
    struct sim_reconv *reconv; /* NULL: until the threads exit */
    uint32_t mask;
    uint8_t state;    /* enum sim_path_state */
    uint8_t barrier;  /* number of the barrier waited at */
    uint8_t probes;   /* spin detection: branches still to compare */
    uint32_t taking;  /* lanes that take part in what is waited for (guards may exclude some) */
    uint32_t members; /* gathering: lanes waited for */
    uint32_t budget;  /* backward branches until the path gives way to others */
    uint32_t spins;   /* times in a row it was seen to spin */
    uint32_t rests;   /* times it has given way */
    uint64_t turns;   /* backward branches while others wait for it, over all slices */
    uint64_t print;   /* hash of its registers when last looked at */
    const struct sim_op *print_at;
};

/* The paths of a warp. */
struct sim_schedule {
    struct sim_path *ready, *last_ready;
    struct sim_path *waiting;
    struct sim_frame *frame; /* of the kernel; NULL: not started, or all threads have exited */
    bool started;
    bool spinning; /* its last turn ended in a path that spins or sleeps */
    bool exited;   /* lanes have exited since waiting paths were looked at */
};

/* Backward branches before a path lets others run, and before one that has spun is looked at. */
enum { SIM_SPIN_BUDGET = 1024, SIM_SHORT_BUDGET = 16 };

/* Those that return a pointer return NULL after a fault (no memory), if nothing else is said. */

struct sim_frame *sim_frame_new(struct sim_warp *warp, const struct sim_op *op,
                                const struct sim_code *code, uint64_t local_base);
void sim_frame_free(struct sim_warp *warp, struct sim_frame *frame);

/* A ready path, not in any list. */
struct sim_path *sim_path_new(struct sim_warp *warp, const struct sim_op *op, uint32_t mask);
struct sim_reconv *sim_reconv_new(struct sim_warp *warp, const struct sim_op *op);

/* The path that runs next; sets what handlers see of the warp. */
void sim_path_enter(struct sim_warp *warp, struct sim_path *path);
/* Where the path stops, from its reconvergence point. */
void sim_path_set_stop(struct sim_path *path);
void sim_path_ready_first(struct sim_warp *warp, struct sim_path *path);
void sim_path_ready_last(struct sim_warp *warp, struct sim_path *path);
struct sim_path *sim_path_next(struct sim_warp *warp);
/* The running path waits: it leaves the processor. */
void sim_path_wait(struct sim_warp *warp, enum sim_path_state state);
/* A waiting path goes on at `op`. */
void sim_path_wake(struct sim_warp *warp, struct sim_path *path, const struct sim_op *op);

/* `path` has come to its reconvergence point: the path that goes on, or NULL where others are still to come. */
struct sim_path *sim_path_arrive(struct sim_warp *warp, struct sim_path *path);
/*
 * Lanes of the running path leave its reconvergence points up to, not including, `until` (NULL: all). Those that
 * waited for them only go on.
 */
void sim_path_leave(struct sim_warp *warp, struct sim_reconv *until, uint32_t lanes);
/* Lanes of the running path have left: it goes on with the rest at `op`, or ends. Returns NULL. */
const struct sim_op *sim_path_without(struct sim_warp *warp, uint32_t lanes,
                                      const struct sim_op *op);
/* Lanes of the running path return from its function; false if that is the kernel itself. */
bool sim_path_return(struct sim_warp *warp, uint32_t lanes, const struct sim_op *op);
/* The lanes that wait at the innermost such point of some path of the warp go on without the others.
 * False if no lane waits at one. */
bool sim_reconv_release_early(struct sim_warp *warp);
/*
 * The running path diverges: it keeps `lanes`; the others, if any, reconverge with it at `reconv_at` (NULL: at the
 * enclosing point). Returns the others as a path that is not in any list, NULL if there are none or they
 * are there already (`rest_at` == `reconv_at`), or after a fault.
 */
struct sim_path *sim_path_diverge(struct sim_warp *warp, const struct sim_op *op, uint32_t lanes,
                                  const struct sim_op *rest_at, const struct sim_op *reconv_at);

/* wait.c: called at a backward branch to `target` when the path's spin budget is used up. */
const struct sim_op *sim_path_spent(struct sim_warp *warp, const struct sim_op *op,
                                    const struct sim_op *target);
/* `path`, the running one, lets the other warps run first. */
void sim_path_give_way(struct sim_warp *warp, struct sim_path *path);
/* A gathering path that can go on because lanes have exited; false if there is none. */
bool sim_gather_retry(struct sim_warp *warp);
const struct sim_op *sim_run_warp_sync(struct sim_warp *warp, const struct sim_op *op,
                                       uint32_t mask);

/* control.c, call.c, call_values.c */
const struct sim_op *sim_run_return(struct sim_warp *warp, const struct sim_op *op, uint32_t mask);
void sim_call_copy_results(struct sim_warp *warp, const struct sim_reconv *reconv, uint32_t lanes);
enum sim_decode_result sim_decode_call(struct sim_decoder *decoder,
                                       const struct ptx_instruction *instruction,
                                       struct sim_op *op);

/* barrier.c */
enum sim_decode_result sim_decode_barrier(struct sim_decoder *decoder,
                                          const struct ptx_instruction *instruction,
                                          struct sim_op *op);
/* Threads have exited: barriers that waited for them only are complete. */
void sim_barriers_check(struct sim_block *block);
/* "barrier 0 has 32 of 64 threads": why nothing goes on. */
void sim_barriers_describe(const struct sim_block *block, char *text, size_t bytes);

#endif

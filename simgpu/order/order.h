/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that is done late: operations, what orders them, and one order of many that the rules allow.
 *
 * An operation is made, given what it comes after, and submitted; then a thread of the device's own does it at some
 * time after all of these are done. Which of several that could be done is drawn by chance, from the seed in
 * SIMGPU_ORDER, so that a program with one thread sees the same order in each run. Operations are done one at a time.
 *
 * When the device gets on: by chance whenever something is submitted or asked for, as far as needed when somebody
 * waits, and by itself when no call has come for half a second (a program may look at memory until a kernel changes
 * it). What nobody waits for may never be done.
 *
 * Each operation also says which memory it reads and writes. Two of which neither is ordered before the other, with
 * conflicting accesses, are reported (conflict.c). An operation is ordered before another if that was made to come
 * after it, through any number of others; or if the host knew it was done (a call waited for it or found it done, or a
 * host function behind it ran) when the other was submitted. All threads of the host count as one here: calls
 * of two threads are in the order in which they came.
 *
 * Nothing of CUDA is known here. One lock guards all; no function of a caller's is called with it, but `drop`.
 */
#ifndef SIMGPU_ORDER_ORDER_H
#define SIMGPU_ORDER_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* SIMGPU_ORDER is set to a number other than 0, or to a text, which stands for a number. */
bool sim_order_on(void);
uint64_t sim_order_seed(void);

/* ---- operations -------------------------------------------------------------------------------- */

struct sim_operation;

/* What is done, and how reports call it. */
struct sim_work {
    void (*run)(
        void *data); /* by the device's thread, once; NULL: nothing, it only orders others */
    void (*drop)(
        void *
            data); /* when nobody can ask about it any more; must not call this library; may be NULL */
    void *data;
    bool shows_host;  /* what it does shows the host that all before it is done: a host function */
    char name[96];    /* "kernel fill", "copy to the device" */
    char where[64];   /* the stream */
    const void *call; /* address in the program that asked for it, or NULL */
};

/* The caller has one reference to it. NULL: no memory, and `drop` is not called. */
struct sim_operation *sim_operation_new(const struct sim_work *work);
struct sim_operation *sim_operation_keep(struct sim_operation *operation);
void sim_operation_release(struct sim_operation *operation); /* NULL: nothing */

/* Before it is submitted: it comes after `before` (submitted; NULL: nothing). False: no memory. */
bool sim_operation_after(struct sim_operation *operation, struct sim_operation *before);
/* It may be done from now on. */
void sim_operation_submit(struct sim_operation *operation);

bool sim_operation_done(struct sim_operation *operation);
/* Done already? The device gets on with something first, by chance: asking again and again comes to an end. */
bool sim_operation_query(struct sim_operation *operation);
/* Until it is done, or timeout_ms have passed (0: no limit); true: it is done. */
bool sim_operation_wait(struct sim_operation *operation, unsigned timeout_ms);
/* All that was submitted. */
void sim_order_wait_all(void);
/* The same, under SIMGPU_ORDER and not in the device's own thread; else nothing. */
void sim_order_drain(void);
/* The process ends: nothing is begun any more, and what runs is waited for, two seconds at most. */
void sim_order_stop(void);

/* The device gets on, by chance; after each call that submits. */
void sim_order_progress(void);
/* Is the caller the device's own thread? It must not wait. */
bool sim_order_is_device(void);
/* A number below `bound`, drawn from the seed. */
uint64_t sim_order_draw(uint64_t bound);

/* ---- lanes ------------------------------------------------------------------------------------- */

/*
 * A stream's queue: what is appended to it comes after what was appended before. The legacy stream's queue and those of
 * blocking streams of one context also wait for each other: an operation in the legacy stream comes after all in
 * blocking streams, and these after it.
 */
enum sim_lane_kind { SIM_LANE_BLOCKING, SIM_LANE_LEGACY, SIM_LANE_NON_BLOCKING };

struct sim_lane;

/* NULL: no memory. */
struct sim_lane *sim_lane_new(const void *context, enum sim_lane_kind kind);
const void *sim_lane_context(const struct sim_lane *lane);
/* The stream is no more; its operations stay as they are. */
void sim_lane_free(struct sim_lane *lane);
/* Submits the operation as the lane's next one. False: no memory; it was not submitted. */
bool sim_lane_append(struct sim_lane *lane, struct sim_operation *operation);
/* As sim_operation_query, for all that the lane has now. */
bool sim_lane_query(struct sim_lane *lane);
/* The operation comes after all that the lane has now (of the legacy stream: after all blocking ones, too). */
bool sim_lane_before(struct sim_lane *lane, struct sim_operation *operation);
/* ... and after what every lane of the context has. */
bool sim_lanes_before(const void *context, struct sim_operation *operation);

/* ---- memory ------------------------------------------------------------------------------------ */

/* Strong accesses are atomics and volatile or stronger ones: two of them never conflict. */
enum sim_touch {
    SIM_TOUCH_READ = 1,
    SIM_TOUCH_WRITE = 2,
    SIM_TOUCH_STRONG_READ = 4,
    SIM_TOUCH_STRONG_WRITE = 8,
};

/* Before it is submitted, or by itself while it is done. Extents may come in any order and overlap. */
void sim_operation_touch(struct sim_operation *operation, uint64_t first, uint64_t bytes,
                         unsigned uses);
/* The memory has been allocated: what was done with it before, under an earlier owner, is forgotten. */
void sim_order_memory_is_new(uint64_t first, uint64_t bytes);
/* Conflicts reported so far. */
uint64_t sim_order_conflicts(void);

#endif

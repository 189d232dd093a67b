/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share. All of it is guarded by sim_order.lock. */
#ifndef SIMGPU_ORDER_STATE_H
#define SIMGPU_ORDER_STATE_H

#include <pthread.h>

#include "simgpu/order/order.h"

struct sim_extent {
    uint64_t first, end; /* [first, end) */
    unsigned uses;       /* bit set of enum sim_touch */
};

/* Extents of one operation; sorted, and each byte in one of them, once it is done. */
struct sim_extents {
    struct sim_extent *at;
    size_t count, capacity;
};

/* For each chain, how many of its operations are ordered before: a vector clock. */
struct sim_clock {
    uint32_t *at;
    size_t count;
};

struct sim_operation {
    struct sim_work work;
    unsigned references;
    bool is_submitted, is_running, is_done;
    bool is_needed;  /* somebody waits for it, or for one behind it */
    uint64_t number; /* of its submission, from 1 */
    uint64_t
        seen; /* those with this number and higher come after it, as the host knew it was done; 0: it does not */
    size_t missing;                /* how many of `before` are not done */
    struct sim_operation **before; /* with a reference each, until it is done */
    size_t before_count, before_capacity;
    struct sim_operation **behind;
    size_t behind_count, behind_capacity;
    uint64_t weight; /* of those that could be done, the heaviest is, where the seed says so */
    uint32_t chain, place; /* its own: clock.at[chain] == place */
    struct sim_clock clock;
    struct sim_extents extents;
    struct sim_operation *next_ready;
    struct sim_operation *previous,
        *next; /* of those submitted and not done, or of those done and remembered */
};

struct sim_operation_list {
    struct sim_operation *first, *last;
    size_t count;
};

struct sim_order {
    pthread_mutex_t lock;
    uint64_t random;
    uint64_t submitted; /* operations: the number of the last one */
    uint64_t all_seen;  /* the host knows that all up to this number are done */
    struct sim_operation_list open, remembered;
};
extern struct sim_order sim_order;

void sim_list_add(struct sim_operation_list *list, struct sim_operation *operation);
void sim_list_remove(struct sim_operation_list *list, struct sim_operation *operation);

/* draw.c: locked. A number below `bound`. */
uint64_t sim_draw(uint64_t bound);

/* reference.c: locked. */
void sim_operation_put(struct sim_operation *operation);
/* False: no memory. */
bool sim_operation_link(struct sim_operation *operation, struct sim_operation *before);
bool sim_operations_push(struct sim_operation ***list, size_t *count, size_t *capacity,
                         struct sim_operation *operation);

/* ready.c: locked. */
extern size_t sim_ready_count;
extern bool sim_ready_by_weight; /* the heaviest is taken, or any */
/* All in front of it are done. */
void sim_device_ready(struct sim_operation *operation);
size_t sim_ready_needed(void); /* how many somebody waits for */
/* One of `count` that are ready, or needed. */
struct sim_operation *sim_ready_take(bool needed, size_t count);

/* operation.c: locked. */
void sim_operation_enter(struct sim_operation *operation);
/* Its successors may be ready now. */
void sim_operation_over(struct sim_operation *operation);

/* clock.c: locked. */
bool sim_clock_begin(
    struct sim_operation *operation); /* from those in `before`; false: no memory */
bool sim_is_ordered(const struct sim_operation *first, const struct sim_operation *second);
/* The host knows that it is done, and so all before it. */
void sim_clock_seen(struct sim_operation *operation);
/* It is done, and nothing will be compared with it any more. */
void sim_clock_end(const struct sim_operation *operation);

/* device.c: not locked. Somebody asks whether operations are done: every other time, about, the device gets on. */
void sim_device_query_begins(void);

/* extents.c: sorts them, and cuts those that overlap. */
void sim_extents_settle(struct sim_extents *extents);
/* [first, end) is taken out of a settled set. */
void sim_extents_forget(struct sim_extents *extents, uint64_t first, uint64_t end);
/* Where two settled sets conflict first, and in how many bytes; false: nowhere. */
struct sim_overlap {
    uint64_t first, bytes;
    unsigned uses, others_uses;
};
bool sim_extents_conflict(const struct sim_extents *a, const struct sim_extents *b,
                          struct sim_overlap *overlap);

/* conflict.c: locked. `operation` is done: compared with those remembered, and remembered. */
void sim_conflicts_find(struct sim_operation *operation);
/* Forgets those that can conflict with nothing any more. */
void sim_conflicts_forget(void);

/* report.c: locked. */
void sim_conflict_report(const struct sim_operation *first, const struct sim_operation *second,
                         const struct sim_overlap *overlap);

#endif

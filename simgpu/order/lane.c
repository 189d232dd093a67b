/* SPDX-License-Identifier: Apache-2.0 */
/* The queues of streams, and what the legacy stream has to do with the others. */
#include <stdlib.h>

#include "simgpu/order/state.h"

struct sim_lane {
    struct sim_lane *next;
    const void *context;
    enum sim_lane_kind kind;
    bool is_gone;               /* the stream is no more, and its last operation is open */
    struct sim_operation *tail; /* the last one that was appended, or NULL */
};

static struct sim_lane *lanes; /* of all contexts; sim_order.lock */

struct sim_lane *sim_lane_new(const void *context, enum sim_lane_kind kind)
{
    struct sim_lane *lane = calloc(1, sizeof *lane);
    if (lane != NULL) {
        lane->context = context;
        lane->kind = kind;
        pthread_mutex_lock(&sim_order.lock);
        lane->next = lanes;
        lanes = lane;
        pthread_mutex_unlock(&sim_order.lock);
    }
    return lane;
}

const void *sim_lane_context(const struct sim_lane *lane)
{
    return lane->context;
}

/* Nothing need come after it any more. */
static bool is_past(const struct sim_operation *tail)
{
    return tail == NULL ||
           (tail->is_done && (tail->seen != 0 || tail->number <= sim_order.all_seen));
}

/* Locked. */
static void sweep(void)
{
    struct sim_lane **at = &lanes;
    while (*at != NULL) {
        struct sim_lane *lane = *at;
        if (lane->is_gone && is_past(lane->tail)) {
            *at = lane->next;
            sim_operation_put(lane->tail);
            free(lane);
        } else {
            at = &lane->next;
        }
    }
}

/* The legacy stream still comes after what a stream was given before it went. */
void sim_lane_free(struct sim_lane *lane)
{
    pthread_mutex_lock(&sim_order.lock);
    if (lane != NULL) {
        lane->is_gone = true;
    }
    sweep();
    pthread_mutex_unlock(&sim_order.lock);
}

/* Locked. What happens in `lane` comes after the last operation of `other`. */
static bool waits_for(const struct sim_lane *lane, const struct sim_lane *other)
{
    return other == lane || (other->context == lane->context &&
                             ((lane->kind == SIM_LANE_LEGACY && other->kind == SIM_LANE_BLOCKING) ||
                              (lane->kind == SIM_LANE_BLOCKING && other->kind == SIM_LANE_LEGACY)));
}

/* Locked. Who asks whether `lane` is done asks for the last operation of `other`, too. */
static bool includes(const struct sim_lane *lane, const struct sim_lane *other)
{
    return other == lane || (lane->kind == SIM_LANE_LEGACY && waits_for(lane, other));
}

bool sim_lane_append(struct sim_lane *lane, struct sim_operation *operation)
{
    pthread_mutex_lock(&sim_order.lock);
    bool linked = true;
    sweep();
    for (const struct sim_lane *at = lanes; at != NULL && linked; at = at->next) {
        linked = !waits_for(lane, at) || sim_operation_link(operation, at->tail);
    }
    if (linked) {
        sim_operation_enter(operation);
        operation->references++;
        sim_operation_put(lane->tail);
        lane->tail = operation;
    }
    pthread_mutex_unlock(&sim_order.lock);
    return linked;
}

bool sim_lane_before(struct sim_lane *lane, struct sim_operation *operation)
{
    bool linked = true;
    pthread_mutex_lock(&sim_order.lock);
    for (const struct sim_lane *at = lanes; at != NULL && linked; at = at->next) {
        linked = !includes(lane, at) || sim_operation_link(operation, at->tail);
    }
    pthread_mutex_unlock(&sim_order.lock);
    return linked;
}

bool sim_lanes_before(const void *context, struct sim_operation *operation)
{
    bool linked = true;
    pthread_mutex_lock(&sim_order.lock);
    for (const struct sim_lane *at = lanes; at != NULL && linked; at = at->next) {
        linked = at->context != context || sim_operation_link(operation, at->tail);
    }
    pthread_mutex_unlock(&sim_order.lock);
    return linked;
}

bool sim_lane_query(struct sim_lane *lane)
{
    bool done = true;
    sim_device_query_begins();
    pthread_mutex_lock(&sim_order.lock);
    for (const struct sim_lane *at = lanes; at != NULL && done; at = at->next) {
        done = !includes(lane, at) || at->tail == NULL || at->tail->is_done;
    }
    for (const struct sim_lane *at = lanes; at != NULL && done; at = at->next) {
        if (includes(lane, at) && at->tail != NULL) {
            sim_clock_seen(at->tail);
        }
    }
    sim_conflicts_forget();
    pthread_mutex_unlock(&sim_order.lock);
    return done;
}

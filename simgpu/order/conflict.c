/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conflicting accesses of operations of which neither is ordered before the other.
 *
 * An operation that is done is compared with all that are remembered, and remembered itself: until the host knows that it is
 * done and nothing is open that was submitted before. Where the host never asks, the oldest are forgotten.
 */
#include "simgpu/order/state.h"

#define MOST_REMEMBERED 4096u

static void forget(struct sim_operation *operation)
{
    sim_list_remove(&sim_order.remembered, operation);
    sim_clock_end(operation);
    sim_operation_put(operation);
}

void sim_conflicts_find(struct sim_operation *operation)
{
    struct sim_overlap overlap;
    sim_extents_settle(&operation->extents);
    if (operation->extents.count == 0) {
        sim_clock_end(operation);
        return;
    }
    for (const struct sim_operation *at = sim_order.remembered.first; at != NULL; at = at->next) {
        if (!sim_is_ordered(at, operation) &&
            sim_extents_conflict(&at->extents, &operation->extents, &overlap)) {
            sim_conflict_report(at, operation, &overlap);
        }
    }
    operation->references++;
    sim_list_add(&sim_order.remembered, operation);
    if (sim_order.remembered.count > MOST_REMEMBERED) {
        forget(sim_order.remembered.first);
    }
}

void sim_conflicts_forget(void)
{
    const struct sim_operation *oldest = sim_order.open.first;
    struct sim_operation *next;
    for (struct sim_operation *at = sim_order.remembered.first; at != NULL; at = next) {
        next = at->next;
        if (at->seen != 0 && (oldest == NULL || oldest->number >= at->seen)) {
            forget(at);
        }
    }
}

void sim_order_memory_is_new(uint64_t first, uint64_t bytes)
{
    pthread_mutex_lock(&sim_order.lock);
    for (struct sim_operation *at = sim_order.remembered.first; at != NULL; at = at->next) {
        sim_extents_forget(&at->extents, first, first + bytes);
    }
    pthread_mutex_unlock(&sim_order.lock);
}

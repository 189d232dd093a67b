/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that are submitted, and when they are over. */
#include "simgpu/order/state.h"

/* Those in front of it that have not been done lead to it. Without memory for that it does not wait. */
void sim_operation_enter(struct sim_operation *operation)
{
    operation->number = ++sim_order.submitted;
    operation->is_submitted = true;
    operation->references++; /* until it is done */
    sim_list_add(&sim_order.open, operation);
    for (size_t i = 0; i < operation->before_count; i++) {
        struct sim_operation *before = operation->before[i];
        if (!before->is_done && sim_operations_push(&before->behind, &before->behind_count,
                                                    &before->behind_capacity, operation)) {
            operation->missing++;
        }
    }
    (void)sim_clock_begin(operation);
    if (operation->missing == 0) {
        sim_device_ready(operation);
    }
}

void sim_operation_submit(struct sim_operation *operation)
{
    pthread_mutex_lock(&sim_order.lock);
    sim_operation_enter(operation);
    pthread_mutex_unlock(&sim_order.lock);
}

void sim_operation_over(struct sim_operation *operation)
{
    operation->is_running = false;
    operation->is_done = true;
    sim_list_remove(&sim_order.open, operation);
    for (size_t i = 0; i < operation->behind_count; i++) {
        if (--operation->behind[i]->missing == 0) {
            sim_device_ready(operation->behind[i]);
        }
    }
    operation->behind_count = 0;
    for (size_t i = 0; i < operation->before_count; i++) {
        sim_operation_put(operation->before[i]);
    }
    operation->before_count = 0;
    if (operation->work.shows_host) {
        sim_clock_seen(operation);
    }
    sim_conflicts_find(operation);
    sim_operation_put(operation);
}

bool sim_operation_done(struct sim_operation *operation)
{
    pthread_mutex_lock(&sim_order.lock);
    bool done = operation->is_done;
    pthread_mutex_unlock(&sim_order.lock);
    return done;
}

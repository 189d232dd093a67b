/* SPDX-License-Identifier: Apache-2.0 */
/* Operations before they are submitted: references, lists, and what they come after. */
#include <stdlib.h>

#include "simgpu/order/state.h"

void sim_list_add(struct sim_operation_list *list, struct sim_operation *operation)
{
    operation->previous = list->last;
    operation->next = NULL;
    *(list->last != NULL ? &list->last->next : &list->first) = operation;
    list->last = operation;
    list->count++;
}

void sim_list_remove(struct sim_operation_list *list, struct sim_operation *operation)
{
    *(operation->previous != NULL ? &operation->previous->next : &list->first) = operation->next;
    *(operation->next != NULL ? &operation->next->previous : &list->last) = operation->previous;
    list->count--;
}

struct sim_operation *sim_operation_new(const struct sim_work *work)
{
    struct sim_operation *operation = calloc(1, sizeof *operation);
    if (operation != NULL) {
        operation->work = *work;
        operation->references = 1;
    }
    return operation;
}

void sim_operation_put(struct sim_operation *operation)
{
    if (operation == NULL || --operation->references != 0) {
        return;
    }
    for (size_t i = 0; i < operation->before_count; i++) { /* it was never submitted */
        sim_operation_put(operation->before[i]);
    }
    if (operation->work.drop != NULL) {
        operation->work.drop(operation->work.data);
    }
    free(operation->before);
    free(operation->behind);
    free(operation->clock.at);
    free(operation->extents.at);
    free(operation);
}

struct sim_operation *sim_operation_keep(struct sim_operation *operation)
{
    if (operation != NULL) {
        pthread_mutex_lock(&sim_order.lock);
        operation->references++;
        pthread_mutex_unlock(&sim_order.lock);
    }
    return operation;
}

void sim_operation_release(struct sim_operation *operation)
{
    pthread_mutex_lock(&sim_order.lock);
    sim_operation_put(operation);
    pthread_mutex_unlock(&sim_order.lock);
}

bool sim_operations_push(struct sim_operation ***list, size_t *count, size_t *capacity,
                         struct sim_operation *operation)
{
    if (*count == *capacity) {
        size_t grown = *capacity != 0 ? 2 * *capacity : 4;
        struct sim_operation **at = realloc((void *)*list, grown * sizeof(void *));
        if (at == NULL) {
            return false;
        }
        *list = at;
        *capacity = grown;
    }
    (*list)[(*count)++] = operation;
    return true;
}

bool sim_operation_link(struct sim_operation *operation, struct sim_operation *before)
{
    if (before == NULL || before == operation) {
        return true;
    }
    for (size_t i = 0; i < operation->before_count; i++) {
        if (operation->before[i] == before) {
            return true;
        }
    }
    if (!sim_operations_push(&operation->before, &operation->before_count,
                             &operation->before_capacity, before)) {
        return false;
    }
    before->references++;
    return true;
}

bool sim_operation_after(struct sim_operation *operation, struct sim_operation *before)
{
    pthread_mutex_lock(&sim_order.lock);
    bool linked = sim_operation_link(operation, before);
    pthread_mutex_unlock(&sim_order.lock);
    return linked;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The operations that could be done now, and the choice of one. */
#include "simgpu/order/state.h"

static struct sim_operation *ready; /* in the order in which they became so */
size_t sim_ready_count;
bool sim_ready_by_weight;

void sim_device_ready(struct sim_operation *operation)
{
    /* A stream keeps its weight for a while, so that one may get far behind another. */
    const struct sim_operation *before = operation->before_count != 0 ? operation->before[0] : NULL;
    operation->weight = before != NULL && sim_draw(8) != 0 ? before->weight : sim_draw(UINT64_MAX);
    operation->next_ready = NULL;
    struct sim_operation **at = &ready;
    while (*at != NULL) {
        at = &(*at)->next_ready;
    }
    *at = operation;
    sim_ready_count++;
}

size_t sim_ready_needed(void)
{
    size_t count = 0;
    for (const struct sim_operation *at = ready; at != NULL; at = at->next_ready) {
        count += at->is_needed;
    }
    return count;
}

struct sim_operation *sim_ready_take(bool needed, size_t count)
{
    struct sim_operation **chosen = NULL;
    size_t index = sim_ready_by_weight ? 0 : (size_t)sim_draw(count);
    for (struct sim_operation **at = &ready; *at != NULL; at = &(*at)->next_ready) {
        if (needed && !(*at)->is_needed) {
            continue;
        }
        if (sim_ready_by_weight ? chosen == NULL || (*at)->weight > (*chosen)->weight
                                : index-- == 0) {
            chosen = at;
        }
    }
    if (chosen == NULL) {
        return NULL; /* there are none */
    }
    struct sim_operation *operation = *chosen;
    *chosen = operation->next_ready;
    sim_ready_count--;
    return operation;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* An array that is sorted when events are taken out. */
#include "libtrace/store/steps/step_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void gmt_step_queue_free(struct gmt_step_queue *queue)
{
    free(queue->event);
    *queue = (struct gmt_step_queue){0};
}

int gmt_step_queue_add(struct gmt_step_queue *queue, const struct gmt_step_event *event)
{
    if (queue->count == queue->capacity) {
        size_t capacity = queue->capacity != 0 ? 2 * queue->capacity : 1024;
        struct gmt_step_event *grown = realloc(queue->event, capacity * sizeof(*grown));
        if (grown == NULL) {
            return -ENOMEM;
        }
        queue->event = grown;
        queue->capacity = capacity;
    }
    queue->event[queue->count++] = *event;
    return 0;
}

#define COMPARE(left, right) (((left) > (right)) - ((left) < (right)))

/* An order of all events that differ, so that the sums do not depend on who reported first. The range that ends
 * last among equals is the outer one. */
static int by_end(const void *a, const void *b)
{
    const struct gmt_step_event *left = a, *right = b;
    int order = COMPARE(left->end_ns, right->end_ns);
    order = order != 0 ? order : COMPARE(left->type, right->type);
    order = order != 0 ? order : COMPARE(right->begin_ns, left->begin_ns);
    order = order != 0 ? order : COMPARE(left->kind, right->kind);
    order = order != 0 ? order : COMPARE(left->thread, right->thread);
    order = order != 0 ? order : COMPARE(left->device, right->device);
    order = order != 0 ? order : COMPARE(left->stream, right->stream);
    order = order != 0 ? order : COMPARE(left->key, right->key);
    order = order != 0 ? order : COMPARE(left->stack, right->stack);
    return order != 0 ? order : COMPARE(left->bytes, right->bytes);
}

static bool is_sorted(const struct gmt_step_queue *queue, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (by_end(&queue->event[i - 1], &queue->event[i]) > 0) {
            return false;
        }
    }
    return true;
}

size_t gmt_step_queue_sort(struct gmt_step_queue *queue, uint64_t until_ns)
{
    if (!is_sorted(queue, queue->count)) {
        qsort(queue->event, queue->count, sizeof(*queue->event), by_end);
    }
    size_t low = 0, high = queue->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (queue->event[middle].end_ns < until_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

uint64_t gmt_step_queue_median(const struct gmt_step_queue *queue)
{
    return queue->count != 0 ? queue->event[queue->count / 2].end_ns : 0;
}

void gmt_step_queue_drop(struct gmt_step_queue *queue, size_t count)
{
    queue->count -= count;
    if (queue->count != 0 && count != 0) {
        memmove(queue->event, queue->event + count, queue->count * sizeof(*queue->event));
    }
}

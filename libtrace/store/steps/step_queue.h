/* SPDX-License-Identifier: Apache-2.0 */
/* Events in the order in which they ended, though threads and devices report theirs in any order. */
#ifndef GMT_STORE_STEPS_STEP_QUEUE_H
#define GMT_STORE_STEPS_STEP_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/store/steps/step_event.h"

/* So many are kept at most: 22 MB. Beyond that the oldest are given out, complete or not. */
enum { GMT_STEP_EVENTS = 262144 };

struct gmt_step_queue {
    struct gmt_step_event *event;
    size_t count, capacity;
};

/* Zero-initialization is an empty queue. */
void gmt_step_queue_free(struct gmt_step_queue *queue);

/* 0 or -ENOMEM. */
int gmt_step_queue_add(struct gmt_step_queue *queue, const struct gmt_step_event *event);

/* Those that ended before `until_ns` are the first so many, in order. */
size_t gmt_step_queue_sort(struct gmt_step_queue *queue, uint64_t until_ns);

/* When the older half had ended. */
uint64_t gmt_step_queue_median(const struct gmt_step_queue *queue);

/* Forget the first so many. */
void gmt_step_queue_drop(struct gmt_step_queue *queue, size_t count);

#endif

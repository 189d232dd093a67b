/* SPDX-License-Identifier: Apache-2.0 */
/* Puts events in order, and has them summed up. */
#include "libtrace/store/steps/steps.h"

#include <errno.h>
#include <stdlib.h>

#include "libtrace/store/steps/steps_internal.h"

#define MOST_SPANS 32768u     /* of a long step: then its idle times are counted before it ends */
#define MOST_KERNELS 1048576u /* further ones have no name */

struct gmt_steps *gmt_steps_open(const char *name, unsigned collectives_most, uint64_t begin_ns)
{
    struct gmt_steps *steps = calloc(1, sizeof(*steps));
    if (steps == NULL) {
        return NULL;
    }
    steps->finder = gmt_step_finder_open(name);
    if (steps->finder == NULL || gmt_step_sums_open(&steps->sums, collectives_most) != 0) {
        gmt_steps_close(steps);
        return NULL;
    }
    steps->has_name = name[0] != '\0';
    gmt_steps_begin(steps, begin_ns);
    steps->slice_ns = GMT_STEP_SLICE_NS;
    return steps;
}

void gmt_steps_begin(struct gmt_steps *steps, uint64_t begin_ns)
{
    if (steps->last_ns == 0) {
        steps->step.begin_ns = steps->thread_ns = steps->one_ns = begin_ns;
    }
}

void gmt_steps_close(struct gmt_steps *steps)
{
    if (steps == NULL) {
        return;
    }
    gmt_step_finder_close(steps->finder);
    gmt_open_ranges_free(&steps->open);
    gmt_step_names_free(&steps->names);
    gmt_step_queue_free(&steps->queue);
    gmt_live_memory_free(&steps->memory);
    gmt_live_idle_free(&steps->idle);
    gmt_step_sums_close(&steps->sums);
    free(steps->spans.item);
    free(steps->kernels);
    free(steps);
}

int gmt_steps_context(struct gmt_steps *steps, uint32_t context, uint32_t device)
{
    return gmt_live_memory_context(&steps->memory, context, device);
}

void gmt_steps_api(struct gmt_steps *steps, uint32_t api, unsigned family)
{
    if (api < sizeof(steps->family)) {
        steps->family[api] = (uint8_t)family;
    }
}

int gmt_steps_kernel(struct gmt_steps *steps, uint32_t kernel, const char *name, size_t bytes)
{
    if (kernel >= MOST_KERNELS) {
        return 0;
    }
    if (kernel >= steps->kernel_count) {
        size_t count = 2 * (size_t)kernel + 64;
        uint32_t *grown = realloc(steps->kernels, count * sizeof(*grown));
        if (grown == NULL) {
            return -ENOMEM;
        }
        for (size_t i = steps->kernel_count; i < count; i++) {
            grown[i] = 0;
        }
        steps->kernels = grown;
        steps->kernel_count = count;
    }
    steps->kernels[kernel] = gmt_step_names_put(&steps->names, name, bytes);
    return 0;
}

void gmt_steps_range_opened(struct gmt_steps *steps, uint32_t id,
                            const struct gmt_range_names *names)
{
    gmt_open_ranges_note(&steps->open, id, names);
}

bool gmt_steps_range_taken(struct gmt_steps *steps, uint32_t id, struct gmt_range_names *names)
{
    return gmt_open_ranges_take(&steps->open, id, names);
}

struct gmt_step_names *gmt_steps_names(struct gmt_steps *steps)
{
    return &steps->names;
}

uint64_t gmt_steps_late(const struct gmt_steps *steps)
{
    return steps->late;
}

int gmt_steps_add(struct gmt_steps *steps, const struct gmt_step_event *event,
                  struct gmt_step_writer *writer)
{
    int error = 0;
    if (event->end_ns == 0) {
        return 0; /* CUPTI had no time for it */
    }
    if (steps->queue.count >= GMT_STEP_EVENTS) {
        (void)gmt_step_queue_sort(&steps->queue, 0);
        error = gmt_steps_settle(steps, gmt_step_queue_median(&steps->queue) + 1, writer);
    }
    steps->late += event->end_ns < steps->settled_ns;
    error = error == 0 ? gmt_steps_span(steps, event) : error;
    return error == 0 ? gmt_step_queue_add(&steps->queue, event) : error;
}

static int by_begin(const void *a, const void *b)
{
    const struct gmt_step_span *left = a, *right = b;
    int order = (left->begin_ns > right->begin_ns) - (left->begin_ns < right->begin_ns);
    order = order != 0 ? order : (left->end_ns > right->end_ns) - (left->end_ns < right->end_ns);
    order = order != 0 ? order : (left->device > right->device) - (left->device < right->device);
    return order != 0 ? order : (left->kind > right->kind) - (left->kind < right->kind);
}

/* Those that are counted go. */
static void tidy_spans(struct gmt_step_spans *spans)
{
    for (size_t i = spans->at; i < spans->count && spans->at != 0; i++) {
        spans->item[i - spans->at] = spans->item[i];
    }
    spans->count -= spans->at;
    spans->at = 0;
    if (spans->count > 1) {
        qsort(spans->item, spans->count, sizeof(*spans->item), by_begin);
    }
}

int gmt_steps_settle(struct gmt_steps *steps, uint64_t until_ns, struct gmt_step_writer *writer)
{
    size_t count = gmt_step_queue_sort(&steps->queue, until_ns);
    int error = 0;
    if (count == 0) {
        return 0;
    }
    tidy_spans(&steps->spans);
    steps->memory.pass++;
    for (size_t i = 0; i < count && error == 0; i++) {
        error = gmt_steps_take(steps, &steps->queue.event[i], writer);
    }
    gmt_step_queue_drop(&steps->queue, count);
    if (error == 0 && steps->spans.count - steps->spans.at > MOST_SPANS) {
        error = gmt_steps_settle_idle(steps, steps->last_ns);
    }
    steps->settled_ns = until_ns > steps->settled_ns ? until_ns : steps->settled_ns;
    return error;
}

int gmt_steps_finish(struct gmt_steps *steps, uint64_t end_ns, struct gmt_step_writer *writer)
{
    int error = gmt_steps_settle(steps, UINT64_MAX, writer);
    end_ns = end_ns > steps->last_ns ? end_ns : steps->last_ns;
    return error == 0 ? gmt_steps_cut(steps, end_ns, GMT_STEP_SLICE, writer) : error;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Events under SIMGPU_ORDER: an event is the operation that recorded it last. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "simgpu/driver/late.h"

struct sim_late_mark {
    atomic_uint references; /* the event, and the operation */
    _Atomic uint64_t reached_ns;
    struct sim_operation *operation; /* the event's reference */
};

static pthread_mutex_t marks_lock = PTHREAD_MUTEX_INITIALIZER; /* the marks of events */

/* With a reference; NULL: the event was not recorded. */
static struct sim_operation *operation_of(struct sim_late_mark *const *mark)
{
    pthread_mutex_lock(&marks_lock);
    struct sim_operation *operation = *mark != NULL ? sim_operation_keep((*mark)->operation) : NULL;
    pthread_mutex_unlock(&marks_lock);
    return operation;
}

static void put(void *data)
{
    struct sim_late_mark *mark = data;
    if (atomic_fetch_sub(&mark->references, 1) == 1) {
        free(mark);
    }
}

static void reach(void *data)
{
    struct sim_late_mark *mark = data;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    atomic_store(&mark->reached_ns,
                 (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec);
}

void sim_late_mark_free(struct sim_late_mark *mark)
{
    if (mark != NULL) {
        struct sim_operation *operation = mark->operation;
        put(mark);
        sim_operation_release(operation);
    }
}

CUresult sim_late_mark_record(struct sim_late_mark **mark, struct sim_stream *stream,
                              const struct sim_context *context)
{
    struct sim_late_mark *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    atomic_init(&made->references, 2);
    struct sim_work work = {.run = reach, .drop = put, .data = made, .name = "event record"};
    struct sim_operation *operation = sim_operation_new(&work);
    if (operation == NULL) {
        free(made);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->operation = sim_operation_keep(operation);
    CUresult result = CUDA_SUCCESS;
    if (stream != NULL) {
        result = sim_late_append(stream, operation);
    } else {
        (void)sim_lanes_before(context, operation);
        sim_operation_submit(operation);
        sim_operation_release(operation);
    }
    if (result != CUDA_SUCCESS) {
        sim_late_mark_free(made);
        return result;
    }
    pthread_mutex_lock(&marks_lock);
    struct sim_late_mark *old = *mark;
    *mark = made;
    pthread_mutex_unlock(&marks_lock);
    sim_late_mark_free(old);
    sim_order_progress();
    return CUDA_SUCCESS;
}

CUresult sim_late_mark_wait(struct sim_late_mark *const *mark, struct sim_stream *stream)
{
    const struct sim_work work = {.name = "event wait"};
    struct sim_operation *before = operation_of(mark);
    if (before == NULL) {
        return CUDA_SUCCESS; /* there is nothing to wait for */
    }
    struct sim_operation *operation = sim_operation_new(&work);
    if (operation != NULL && !sim_operation_after(operation, before)) {
        sim_operation_release(operation);
        operation = NULL;
    }
    sim_operation_release(before);
    CUresult result = sim_late_append(stream, operation);
    sim_order_progress();
    return result;
}

bool sim_late_mark_query(struct sim_late_mark *const *mark)
{
    struct sim_operation *operation = operation_of(mark);
    bool done = operation == NULL || sim_operation_query(operation);
    sim_operation_release(operation);
    return done;
}

void sim_late_mark_host_waits(struct sim_late_mark *const *mark)
{
    struct sim_operation *operation = operation_of(mark);
    if (operation != NULL) {
        (void)sim_operation_wait(operation, 0);
        sim_operation_release(operation);
    }
}

uint64_t sim_late_mark_ns(const struct sim_late_mark *mark)
{
    return atomic_load(&mark->reached_ns);
}

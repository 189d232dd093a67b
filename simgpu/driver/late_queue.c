/* SPDX-License-Identifier: Apache-2.0 */
/* The queues of streams under SIMGPU_ORDER, and waiting for them. */
#include <pthread.h>

#include "simgpu/driver/late.h"

/* Streams' lanes, and that nothing comes between the operations of a graph. Taken before order's. */
static pthread_mutex_t lanes_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void sim_late_queue_begin(void)
{
    pthread_mutex_lock(&lanes_lock);
}

void sim_late_queue_end(void)
{
    pthread_mutex_unlock(&lanes_lock);
}

/* A thread's own default stream is of whichever context was current when it was used last. */
struct sim_lane *sim_late_lane(struct sim_stream *stream)
{
    const struct sim_context *context = stream->context;
    enum sim_lane_kind kind = stream == &context->legacy ? SIM_LANE_LEGACY
                              : (stream->flags & CU_STREAM_NON_BLOCKING) != 0
                                  ? SIM_LANE_NON_BLOCKING
                                  : SIM_LANE_BLOCKING;
    pthread_mutex_lock(&lanes_lock);
    if (stream->lane != NULL && sim_lane_context(stream->lane) != context) {
        sim_lane_free(stream->lane);
        stream->lane = NULL;
    }
    if (stream->lane == NULL) {
        stream->lane = sim_lane_new(context, kind);
    }
    pthread_mutex_unlock(&lanes_lock);
    return stream->lane;
}

void sim_late_stream_gone(struct sim_stream *stream)
{
    pthread_mutex_lock(&lanes_lock);
    sim_lane_free(stream->lane);
    stream->lane = NULL;
    pthread_mutex_unlock(&lanes_lock);
}

CUresult sim_late_append(struct sim_stream *stream, struct sim_operation *operation)
{
    sim_late_queue_begin();
    struct sim_lane *lane = sim_late_lane(stream);
    bool queued = operation != NULL && lane != NULL && sim_lane_append(lane, operation);
    sim_late_queue_end();
    sim_operation_release(operation);
    return queued ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* ---- waiting ----------------------------------------------------------------------------------- */

/* Nothing to do: it only shows when all before it is done. */
static struct sim_operation *marker(void)
{
    const struct sim_work nothing = {.name = "wait"};
    return sim_operation_new(&nothing);
}

static void wait_for(struct sim_operation *operation, bool linked)
{
    if (operation != NULL && linked) {
        sim_operation_submit(operation);
        (void)sim_operation_wait(operation, 0);
    }
    sim_operation_release(operation);
}

void sim_late_wait_stream(struct sim_stream *stream)
{
    struct sim_lane *lane = sim_late_lane(stream);
    struct sim_operation *operation = marker();
    wait_for(operation, operation != NULL && lane != NULL && sim_lane_before(lane, operation));
}

void sim_late_wait_context(const struct sim_context *context)
{
    struct sim_operation *operation = marker();
    wait_for(operation, operation != NULL && sim_lanes_before(context, operation));
}

bool sim_late_query_stream(struct sim_stream *stream)
{
    struct sim_lane *lane = sim_late_lane(stream);
    return lane == NULL || sim_lane_query(lane);
}

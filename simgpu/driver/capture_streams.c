/* SPDX-License-Identifier: Apache-2.0 */
/* Which streams take part in a capture, and what a thread must not call meanwhile. */
#include <pthread.h>

#include "simgpu/driver/driver.h"

static pthread_mutex_t capture_lock = PTHREAD_MUTEX_INITIALIZER; /* the lists of captured streams */

CUresult sim_capture_safe(void)
{
    return sim_thread.unsafe_captures > 0 &&
                   sim_thread.capture_mode != CU_STREAM_CAPTURE_MODE_RELAXED
               ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
               : CUDA_SUCCESS;
}

CUresult sim_capture_begin(struct sim_stream *stream, struct sim_graph *graph)
{
    pthread_mutex_lock(&capture_lock);
    bool busy = stream->capture != NULL || graph->captured != NULL;
    if (!busy) {
        stream->capture = graph;
        stream->is_origin = true;
        stream->next_captured = NULL;
        graph->captured = stream;
    }
    pthread_mutex_unlock(&capture_lock);
    return busy ? CUDA_ERROR_ILLEGAL_STATE : CUDA_SUCCESS;
}

CUresult sim_capture_join(struct sim_stream *stream, struct sim_graph *graph)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&capture_lock);
    if (!sim_object_is(graph, SIM_GRAPH) || graph->captured == NULL) {
        result = CUDA_ERROR_CAPTURED_EVENT; /* that capture has ended */
    } else if (stream->capture == NULL) {
        stream->capture = graph;
        stream->next_captured = graph->captured;
        graph->captured = stream;
    } else if (stream->capture != graph) {
        result = CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    pthread_mutex_unlock(&capture_lock);
    return result;
}

/* The capture goes on without this stream, if it is not the one it began in. */
void sim_capture_drop(struct sim_stream *stream)
{
    pthread_mutex_lock(&capture_lock);
    if (stream->capture != NULL) {
        struct sim_stream **at = &stream->capture->captured;
        while (*at != NULL && *at != stream) {
            at = &(*at)->next_captured;
        }
        if (*at == stream) {
            *at = stream->next_captured;
        }
        stream->capture = NULL;
    }
    pthread_mutex_unlock(&capture_lock);
}

void sim_capture_end(struct sim_graph *graph)
{
    pthread_mutex_lock(&capture_lock);
    for (struct sim_stream *stream = graph->captured, *next; stream != NULL; stream = next) {
        next = stream->next_captured;
        stream->capture = NULL;
        stream->is_origin = false;
        stream->next_captured = NULL;
    }
    graph->captured = NULL;
    pthread_mutex_unlock(&capture_lock);
}

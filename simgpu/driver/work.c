/* SPDX-License-Identifier: Apache-2.0 */
/* Doing work at once, recording it, or queueing it. */
#include "simgpu/driver/late.h"

CUresult sim_submit(CUstream handle, const struct sim_node *node, bool blocking)
{
    struct sim_stream *stream;
    CUresult result = blocking ? sim_capture_safe() : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS) {
        result = sim_stream_of(handle, &stream);
    }
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (stream->capture != NULL) {
        return sim_order_on() ? sim_late_capture(stream, node)
                              : sim_graph_add(stream->capture, node);
    }
    if (sim_faulted(stream->context)) { /* nothing runs any more */
        return sim_fault(stream->context, blocking);
    }
    if (sim_order_on()) {
        return sim_late_submit(stream, node, blocking);
    }
    result = sim_node_run(node, stream->context);
    if (blocking) {
        sim_print_flush();
    }
    return result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes, callbacks, allocations and frees under SIMGPU_ORDER. */
#include <stdlib.h>

#include "simgpu/driver/late.h"

/* ---- nodes ------------------------------------------------------------------------------------- */

CUresult sim_late_submit(struct sim_stream *stream, const struct sim_node *node, bool blocking)
{
    enum sim_late_host host = sim_late_host_of(node, blocking);
    if (host == SIM_HOST_STAGES && blocking) {
        sim_late_wait_stream(stream);
        if (sim_faulted(stream->context)) { /* by what it has waited for */
            return sim_fault(stream->context, true);
        }
    }
    struct sim_operation *operation = sim_late_operation(stream, node, host == SIM_HOST_STAGES,
                                                         false);
    CUresult result = sim_late_append(stream, sim_operation_keep(operation));
    if (result == CUDA_SUCCESS && node->kind == SIM_NODE_CALL &&
        sim_object_is(node->call->completion, SIM_EVENT)) {
        result = sim_event_record_late(node->call->completion, stream);
    }
    if (result == CUDA_SUCCESS && host == SIM_HOST_WAITS) {
        (void)sim_operation_wait(operation, 0);
        result = sim_fault(stream->context, true);
    } else if (result == CUDA_SUCCESS) {
        sim_order_progress();
    }
    sim_operation_release(operation);
    if (blocking) {
        sim_print_flush();
    }
    return result;
}

/* ---- other work -------------------------------------------------------------------------------- */

static CUresult call(struct sim_stream *stream, const char *name, const struct sim_work *given,
                     uintptr_t start, size_t bytes)
{
    struct sim_work work = *given;
    sim_late_name(&work, stream, name, false);
    struct sim_operation *operation = sim_operation_new(&work);
    if (operation == NULL && work.drop != NULL) {
        work.drop(work.data);
    }
    if (operation != NULL) {
        sim_operation_touch(operation, start, bytes, SIM_TOUCH_WRITE);
    }
    CUresult result = sim_late_append(stream, operation);
    sim_order_progress();
    return result;
}

CUresult sim_late_call(struct sim_stream *stream, const char *name, void (*run)(void *data),
                       void (*drop)(void *data), void *data)
{
    const struct sim_work work = {.run = run, .drop = drop, .data = data, .shows_host = true};
    return call(stream, name, &work, 0, 0);
}

CUresult sim_late_allocated(struct sim_stream *stream, uintptr_t start, size_t bytes)
{
    const struct sim_work work = {.run = NULL};
    return call(stream, "allocation", &work, start, bytes);
}

struct freeing {
    uintptr_t start;
    unsigned kinds;
};

static void run_free(void *data)
{
    const struct freeing *freeing = data;
    (void)sim_heap_free(freeing->start, freeing->kinds);
}

CUresult sim_late_free(struct sim_stream *stream, const struct sim_range *range, unsigned kinds)
{
    struct freeing *freeing = malloc(sizeof *freeing);
    if (freeing == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *freeing = (struct freeing){range->start, kinds};
    const struct sim_work work = {.run = run_free, .drop = free, .data = freeing};
    return call(stream, "free", &work, range->start, range->bytes);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What a node does, as an operation: its own copy of all it needs, the memory it touches, and its name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/driver/late.h"

/* A node on its way: the operation's data. */
struct late_node {
    struct sim_node node; /* its call is its own */
    struct sim_context *context;
    struct sim_operation *operation; /* no reference: it outlives this */
    char *staged;                    /* the source of a copy, or NULL */
    bool of_graph;
    struct sim_late_counts counts;
};

/* ---- the two ends of a copy -------------------------------------------------------------------- */

enum place { ON_DEVICE, ON_HOST, PAGEABLE };

static size_t span_of(const struct sim_copy *copy, size_t pitch, size_t slice)
{
    return (copy->depth - 1) * slice + (copy->height - 1) * pitch + copy->width;
}

/* Managed memory counts as the host's: a copy without Async of it is waited for. Memory that is page-locked in part is
 * pageable. */
static enum place place_of(const void *start, size_t bytes, bool is_array)
{
    struct sim_range range;
    if (is_array) {
        return ON_DEVICE;
    }
    if (!sim_heap_find((uintptr_t)start, &range)) {
        return PAGEABLE;
    }
    if ((range.kind & (SIM_ANY_HOST_MEMORY | SIM_MEM_MANAGED)) == 0) {
        return ON_DEVICE;
    }
    return sim_heap_covers((uintptr_t)start, bytes) ? ON_HOST : PAGEABLE;
}

static enum sim_late_host host_of_copy(const struct sim_copy *copy, bool blocking)
{
    if (copy->width == 0 || copy->height == 0 || copy->depth == 0) {
        return SIM_HOST_GOES_ON;
    }
    enum place dst = place_of(copy->dst, span_of(copy, copy->dst_pitch, copy->dst_slice),
                              copy->dst_is_array);
    enum place src = place_of(copy->src, span_of(copy, copy->src_pitch, copy->src_slice),
                              copy->src_is_array);
    if (dst == ON_DEVICE) {
        return src == PAGEABLE              ? SIM_HOST_STAGES
               : src == ON_HOST && blocking ? SIM_HOST_WAITS
                                            : SIM_HOST_GOES_ON;
    }
    return dst == PAGEABLE || blocking ? SIM_HOST_WAITS
           : src == ON_DEVICE          ? SIM_HOST_GOES_ON
                                       : SIM_HOST_WAITS;
}

enum sim_late_host sim_late_host_of(const struct sim_node *node, bool blocking)
{
    switch (node->kind) {
    case SIM_NODE_COPY: return host_of_copy(&node->copy, blocking);
    case SIM_NODE_SET:
        return blocking && place_of(node->set.dst, 1, false) != ON_DEVICE ? SIM_HOST_WAITS
                                                                          : SIM_HOST_GOES_ON;
    default: return SIM_HOST_GOES_ON;
    }
}

static bool stage(struct late_node *late)
{
    struct sim_copy *copy = &late->node.copy;
    size_t slice = copy->width * copy->height;
    late->staged = malloc(slice * copy->depth);
    if (late->staged == NULL) {
        return false;
    }
    for (size_t z = 0; z < copy->depth; z++) {
        for (size_t y = 0; y < copy->height; y++) {
            memcpy(late->staged + z * slice + y * copy->width,
                   copy->src + z * copy->src_slice + y * copy->src_pitch, copy->width);
        }
    }
    copy->src = late->staged;
    copy->src_pitch = copy->width;
    copy->src_slice = slice;
    copy->src_known = false;
    return true;
}

/* ---- running ----------------------------------------------------------------------------------- */

static void run(void *data)
{
    struct late_node *late = data;
    if (sim_faulted(late->context)) { /* nothing runs any more */
        return;
    }
    sim_late_running = late->operation;
    sim_thread.in_graph = late->of_graph;
    CUresult result = sim_node_run(&late->node, late->context);
    sim_thread.in_graph = false;
    sim_late_running = NULL;
    if (late->node.kind == SIM_NODE_CALL && atomic_load(&late->counts.are_wanted)) {
        late->counts.taken = sim_counting_take();
    }
    if (result != CUDA_SUCCESS) { /* of a copy: the memory is gone by now */
        sim_fault_set(late->context,
                      result == CUDA_ERROR_INVALID_VALUE ? CUDA_ERROR_ILLEGAL_ADDRESS : result);
    }
}

static void drop(void *data)
{
    struct late_node *late = data;
    if (late->node.kind == SIM_NODE_CALL) {
        free(late->node.call);
    }
    sim_counting_free(late->counts.taken);
    free(late->staged);
    free(late);
}

/* ---- making ------------------------------------------------------------------------------------ */

void sim_late_name(struct sim_work *work, const struct sim_stream *stream, const char *name,
                   bool of_graph)
{
    const char *graph = of_graph ? "a graph in " : "";
    (void)snprintf(work->name, sizeof work->name, "%s", name);
    if (stream == &stream->context->legacy) {
        (void)snprintf(work->where, sizeof work->where, "%sthe legacy stream", graph);
    } else if (stream->id == SIM_PER_THREAD_STREAM_ID) {
        (void)snprintf(work->where, sizeof work->where, "%sa thread's default stream", graph);
    } else {
        (void)snprintf(work->where, sizeof work->where, "%sstream %llu", graph, stream->id);
    }
    work->call = sim_late_caller();
}

static void name_of(const struct late_node *late, char *out, size_t bytes)
{
    const struct sim_copy *copy = &late->node.copy;
    switch (late->node.kind) {
    case SIM_NODE_COPY: {
        bool from = late->staged == NULL && place_of(copy->src, 1, copy->src_is_array) == ON_DEVICE;
        bool to = place_of(copy->dst, 1, copy->dst_is_array) == ON_DEVICE;
        (void)snprintf(out, bytes, "copy from %s to %s", from ? "device" : "host",
                       to ? "device" : "host");
        break;
    }
    case SIM_NODE_SET: (void)snprintf(out, bytes, "memset"); break;
    case SIM_NODE_CALL:
        (void)snprintf(out, bytes, "kernel %s", late->node.call->function->info->name);
        break;
    case SIM_NODE_VALUE: (void)snprintf(out, bytes, "write of a value"); break;
    default: (void)snprintf(out, bytes, "host function"); break;
    }
}

static void touch_box(struct sim_operation *operation, const char *start, size_t pitch,
                      size_t slice, const struct sim_copy *copy, unsigned use)
{
    for (size_t z = 0; copy->width != 0 && z < copy->depth; z++) {
        for (size_t y = 0; y < copy->height; y++) {
            sim_operation_touch(operation, (uintptr_t)start + z * slice + y * pitch, copy->width,
                                use);
        }
    }
}

/* What kernels touch is known when they have run, what host functions do is not. */
static void touch_of(struct sim_operation *operation, const struct late_node *late)
{
    const struct sim_node *node = &late->node;
    if (node->kind == SIM_NODE_COPY) {
        touch_box(operation, node->copy.dst, node->copy.dst_pitch, node->copy.dst_slice,
                  &node->copy, SIM_TOUCH_WRITE);
        if (late->staged == NULL) {
            touch_box(operation, node->copy.src, node->copy.src_pitch, node->copy.src_slice,
                      &node->copy, SIM_TOUCH_READ);
        }
    } else if (node->kind == SIM_NODE_SET) {
        for (size_t y = 0; y < node->set.height; y++) {
            sim_operation_touch(operation, (uintptr_t)node->set.dst + y * node->set.pitch,
                                node->set.width * node->set.element_bytes, SIM_TOUCH_WRITE);
        }
    } else if (node->kind == SIM_NODE_VALUE) {
        sim_operation_touch(operation, node->value.address, node->value.bytes,
                            SIM_TOUCH_STRONG_WRITE);
    }
}

static struct late_node *copy_of(const struct sim_stream *stream, const struct sim_node *node,
                                 bool stages, bool of_graph)
{
    struct late_node *late = calloc(1, sizeof *late);
    if (late == NULL) {
        return NULL;
    }
    late->node = *node;
    late->context = stream->context;
    late->of_graph = of_graph;
    atomic_init(&late->counts.are_wanted, false);
    bool copied = !stages || stage(late);
    if (node->kind == SIM_NODE_CALL) {
        size_t bytes = sizeof *node->call + node->call->param_bytes;
        late->node.call = malloc(bytes);
        copied = late->node.call != NULL;
        if (copied) {
            memcpy(late->node.call, node->call, bytes);
        }
    }
    if (!copied) {
        drop(late);
        return NULL;
    }
    return late;
}

struct sim_operation *sim_late_operation(const struct sim_stream *stream,
                                         const struct sim_node *node, bool stages, bool of_graph)
{
    struct late_node *late = copy_of(stream, node, stages, of_graph);
    if (late == NULL) {
        return NULL;
    }
    struct sim_work work = {
        .run = run, .drop = drop, .data = late, .shows_host = node->kind == SIM_NODE_HOST};
    char name[sizeof work.name];
    name_of(late, name, sizeof name);
    sim_late_name(&work, stream, name, of_graph);
    struct sim_operation *operation = sim_operation_new(&work);
    if (operation == NULL) {
        drop(late);
        return NULL;
    }
    late->operation = operation;
    touch_of(operation, late);
    if (node->kind == SIM_NODE_CALL && !of_graph && sim_counting_on()) {
        sim_late_counts_expect(operation, &late->counts);
    }
    return operation;
}

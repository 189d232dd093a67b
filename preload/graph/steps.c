/* SPDX-License-Identifier: Apache-2.0 */
/* Reads executable graphs as steps, and follows their changes (steps.h). */
#include "preload/graph/steps.h"

#include <string.h>
#include <sys/mman.h>

#include "preload/driver/resolve.h"
#include "preload/graph/attributes.h"
#include "preload/state/allocmap.h"
#include "preload/state/context.h"
#include "preload/state/graphs.h"
#include "preload/state/hazards.h"
#include "preload/state/kernels.h"

#define MOST_STEPS 8192u
#define MOST_LEVELS 4u /* of child graphs */
#define PARAMETER_BYTES \
    512u /* of a kernel, in the mean over a graph; what is not touched takes no memory */
#define MOST_PARAMETER_BYTES 32768u /* of a kernel */

static size_t aligned(size_t bytes)
{
    return (bytes + 15) & ~(size_t)15;
}

static void release(struct gmt_node_steps *steps)
{
    if (steps != NULL) {
        (void)munmap(steps->memory, steps->mapped_bytes);
    }
}

/* NULL: no memory. */
static struct gmt_node_steps *make(size_t count)
{
    size_t own = aligned(sizeof(struct gmt_node_steps)),
           steps_bytes = aligned(count * sizeof(struct gmt_node_step));
    size_t index_bytes = aligned(gmt_node_index_bytes(count));
    size_t room = count * PARAMETER_BYTES + MOST_PARAMETER_BYTES;
    size_t bytes = own + steps_bytes + index_bytes + room;
    uint8_t *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return NULL;
    }
    struct gmt_node_steps *steps = (struct gmt_node_steps *)memory;
    steps->memory = memory;
    steps->mapped_bytes = bytes;
    steps->steps = (struct gmt_node_step *)(memory + own);
    steps->index = gmt_node_index_make(memory + own + steps_bytes, count);
    steps->bytes = memory + own + steps_bytes + index_bytes;
    steps->room = room;
    return steps;
}

/* ---- one kernel --------------------------------------------------------------------------------- */

static uint16_t context_here(void)
{
    return gmt_context_several() ? gmt_context_current(NULL) : 0;
}

/* Kernels of a graph may wait for one another: by such memory they do. */
static bool may_wait(const struct gmt_kernel_info *info, const uint8_t *bytes, size_t count)
{
    struct gmt_hazard_given given = {.communicates = info->never_measure, .known = true};
    gmt_hazard_given_words(&given, bytes, count, context_here());
    return gmt_hazard_of(&given) != GMT_HAZARD_NONE;
}

/* Room for `bytes` of parameters: that of before, if they fit. */
static bool find_room(struct gmt_node_steps *steps, struct gmt_step_kernel *kernel, size_t bytes)
{
    if (bytes > MOST_PARAMETER_BYTES) {
        return false;
    }
    if (bytes > kernel->room) {
        if (steps->used + aligned(bytes) > steps->room) {
            return false;
        }
        kernel->parameters = (uint32_t)steps->used;
        kernel->room = (uint32_t)aligned(bytes);
        steps->used += aligned(bytes);
    }
    kernel->parameter_bytes = (uint32_t)bytes;
    return true;
}

static bool copy_parameters(struct gmt_node_steps *steps, struct gmt_step_kernel *kernel,
                            const struct gmt_kernel_info *info, void **parameters)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < info->parameter_count; i++) {
        size_t end = (size_t)info->parameters[i].offset + info->parameters[i].bytes;
        bytes = end > bytes ? end : bytes;
    }
    if (!find_room(steps, kernel, bytes)) {
        return false;
    }
    uint8_t *to = steps->bytes + kernel->parameters;
    memset(to, 0, bytes);
    for (unsigned i = 0; i < info->parameter_count; i++) {
        if (parameters[i] == NULL) {
            return false;
        }
        memcpy(to + info->parameters[i].offset, parameters[i], info->parameters[i].bytes);
    }
    kernel->packed = false;
    return true;
}

static bool copy_packed(struct gmt_node_steps *steps, struct gmt_step_kernel *kernel, void **extra)
{
    const void *buffer = NULL;
    size_t bytes = 0;
    for (size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) {
            buffer = extra[i + 1];
        } else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE) {
            memcpy(&bytes, extra[i + 1], sizeof(bytes));
        } else {
            return false;
        }
    }
    if (buffer == NULL || !find_room(steps, kernel, bytes)) {
        return false;
    }
    memcpy(steps->bytes + kernel->parameters, buffer, bytes);
    kernel->packed = true;
    return true;
}

/* Its attributes stay as they are. */
static bool set_kernel(struct gmt_node_steps *steps, struct gmt_step_kernel *kernel,
                       const CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
    CUfunction function = params->func != NULL ? params->func : (CUfunction)params->kern;
    const struct gmt_kernel_info *info = function != NULL ? gmt_kernel_find(function) : NULL;
    if (info == NULL || !info->parameters_known ||
        (params->ctx != NULL && steps->context != NULL && params->ctx != steps->context)) {
        return false;
    }
    steps->context = params->ctx != NULL ? params->ctx : steps->context;
    kernel->function = function;
    memcpy(kernel->grid, (unsigned[]){params->gridDimX, params->gridDimY, params->gridDimZ},
           sizeof(kernel->grid));
    memcpy(kernel->block, (unsigned[]){params->blockDimX, params->blockDimY, params->blockDimZ},
           sizeof(kernel->block));
    kernel->dynamic_shared_bytes = params->sharedMemBytes;
    bool read = params->kernelParams != NULL
                    ? copy_parameters(steps, kernel, info, params->kernelParams)
                : params->extra != NULL      ? copy_packed(steps, kernel, params->extra)
                : info->parameter_count == 0 ? find_room(steps, kernel, 0)
                                             : false;
    return read && !may_wait(info, steps->bytes + kernel->parameters, kernel->parameter_bytes);
}

bool gmt_step_parameters(const struct gmt_node_steps *steps, const struct gmt_step_kernel *kernel,
                         void **out, size_t room)
{
    const struct gmt_kernel_info *info = gmt_kernel_find(kernel->function);
    if (info == NULL || !info->parameters_known || info->parameter_count > room) {
        return false;
    }
    for (unsigned i = 0; i < info->parameter_count; i++) {
        if (info->parameters[i].offset + info->parameters[i].bytes > kernel->parameter_bytes) {
            return false; /* the handle is another kernel's now */
        }
        out[i] = steps->bytes + kernel->parameters + info->parameters[i].offset;
    }
    return true;
}

/* ---- other operations --------------------------------------------------------------------------- */

/* A copy in a stream reads pageable memory while it is called, one in a graph later. */
static bool is_pageable(CUmemorytype type, const void *host, CUdeviceptr address)
{
    uint32_t id = 0;
    uint64_t where = type == CU_MEMORYTYPE_HOST ? (uint64_t)(uintptr_t)host : address;
    return (type == CU_MEMORYTYPE_HOST || type == CU_MEMORYTYPE_UNIFIED) &&
           gmt_allocmap_class(where, GMT_MEM_PAGEABLE, &id) == GMT_MEM_PAGEABLE;
}

/* A node says nothing of the context that it copies in. */
static bool is_of_others(CUmemorytype type, CUdeviceptr address)
{
    struct gmt_allocation found;
    return type != CU_MEMORYTYPE_HOST && gmt_context_several() &&
           (!gmt_allocmap_find(address, &found) || gmt_hazards_of_others(&found, context_here()));
}

static bool set_copy(struct gmt_node_step *step, const CUDA_MEMCPY3D *copy)
{
    step->copy = *copy;
    return !is_of_others(copy->srcMemoryType, copy->srcDevice) &&
           !is_of_others(copy->dstMemoryType, copy->dstDevice) &&
           !is_pageable(copy->srcMemoryType, copy->srcHost, copy->srcDevice) &&
           !is_pageable(copy->dstMemoryType, copy->dstHost, copy->dstDevice);
}

static bool set_memset(struct gmt_node_step *step, const CUDA_MEMSET_NODE_PARAMS *set)
{
    step->set = *set;
    return !is_of_others(CU_MEMORYTYPE_DEVICE, set->dst) &&
           (set->elementSize == 1 || set->elementSize == 2 || set->elementSize == 4);
}

/* ---- a graph ------------------------------------------------------------------------------------ */

#define ASK(function, ...) \
    (gmt_driver.function != NULL && gmt_driver.function(__VA_ARGS__) == CUDA_SUCCESS)

/* Nodes with those of child graphs behind each child's own, in an order in which they may be made. */
struct flat {
    struct flat_node {
        CUgraphNode node;
        CUgraphNodeType type;
        uint32_t child_count; /* nodes of the child graph, all levels */
    } * nodes;
    size_t count;
};

static bool begin_flat(struct flat *flat)
{
    flat->count = 0;
    flat->nodes = mmap(NULL, MOST_STEPS * sizeof(*flat->nodes), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return flat->nodes != MAP_FAILED;
}

static void end_flat(struct flat *flat)
{
    (void)munmap(flat->nodes, MOST_STEPS * sizeof(*flat->nodes));
}

/* NOLINTNEXTLINE(misc-no-recursion): at most MOST_LEVELS deep */
static bool flatten(struct flat *flat, CUgraph graph, unsigned level)
{
    struct gmt_ordered_nodes nodes = {0};
    bool done = level < MOST_LEVELS &&
                gmt_ordered_nodes_get(graph, MOST_STEPS - flat->count, &nodes);
    for (size_t i = 0; i < nodes.count && done; i++) {
        CUgraphNodeType type = CU_GRAPH_NODE_TYPE_HOST;
        CUgraph child = NULL;
        size_t at = flat->count;
        done = at < MOST_STEPS && ASK(cuGraphNodeGetType, nodes.nodes[i], &type);
        if (done) {
            flat->nodes[flat->count++] = (struct flat_node){nodes.nodes[i], type, 0};
        }
        if (done && type == CU_GRAPH_NODE_TYPE_GRAPH) {
            done = ASK(cuGraphChildGraphNodeGetGraph, nodes.nodes[i], &child) &&
                   flatten(flat, child, level + 1);
            flat->nodes[at].child_count = (uint32_t)(flat->count - at - 1);
        }
    }
    if (nodes.nodes != NULL) {
        gmt_ordered_nodes_free(&nodes);
    }
    return done;
}

/* GMT_STEP_KINDS: it cannot be made by a call in a stream, or is not. */
static enum gmt_node_step_kind kind_of(CUgraphNodeType type)
{
    return type == CU_GRAPH_NODE_TYPE_EMPTY    ? GMT_STEP_NONE
           : type == CU_GRAPH_NODE_TYPE_GRAPH  ? GMT_STEP_CHILD
           : type == CU_GRAPH_NODE_TYPE_KERNEL ? GMT_STEP_KERNEL
           : type == CU_GRAPH_NODE_TYPE_MEMCPY ? GMT_STEP_COPY
           : type == CU_GRAPH_NODE_TYPE_MEMSET ? GMT_STEP_MEMSET
                                               : GMT_STEP_KINDS;
}

/* Reads over what the step was before: room for parameters is kept. */
static bool read_step(struct gmt_node_steps *steps, struct gmt_node_step *step,
                      const struct flat_node *from)
{
    CUDA_KERNEL_NODE_PARAMS_v2 kernel = {0};
    CUDA_MEMCPY3D copy = {0};
    CUDA_MEMSET_NODE_PARAMS set = {0};
    CUgraphNode node = from->node;
    step->kind = kind_of(from->type);
    switch (step->kind) {
    case GMT_STEP_NONE: return true;
    case GMT_STEP_CHILD: step->child_count = from->child_count; return true;
    case GMT_STEP_KERNEL:
        return ASK(cuGraphKernelNodeGetParams_v2, node, &kernel) &&
               gmt_step_attributes(&step->kernel, node, steps->uses_priorities) &&
               set_kernel(steps, &step->kernel, &kernel);
    case GMT_STEP_COPY:
        return ASK(cuGraphMemcpyNodeGetParams, node, &copy) && set_copy(step, &copy);
    case GMT_STEP_MEMSET:
        return ASK(cuGraphMemsetNodeGetParams, node, &set) && set_memset(step, &set);
    default: return false;
    }
}

static struct gmt_node_steps *read_all(const struct flat *flat, unsigned long long flags)
{
    struct gmt_node_steps *steps = make(flat->count);
    if (steps == NULL) {
        return NULL;
    }
    bool has_kernel = false;
    steps->uses_priorities = (flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) != 0;
    for (size_t i = 0; i < flat->count; i++) {
        if (!read_step(steps, &steps->steps[i], &flat->nodes[i])) {
            release(steps);
            return NULL;
        }
        has_kernel |= steps->steps[i].kind == GMT_STEP_KERNEL;
        gmt_node_index_add(&steps->index, flat->nodes[i].node, (uint32_t)i);
    }
    steps->count = flat->count;
    if (!has_kernel) {
        release(steps);
        return NULL;
    }
    return steps;
}

void gmt_steps_read(CUgraphExec exec, CUgraph graph)
{
    const unsigned long long refused = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH |
                                       GMT_GRAPH_NO_STEPS;
    unsigned long long flags = gmt_graph_flags(exec);
    struct flat flat;
    struct gmt_node_steps *steps = NULL;
    if ((flags & refused) == 0 && begin_flat(&flat)) {
        steps = flatten(&flat, graph, 0) ? read_all(&flat, flags) : NULL;
        end_flat(&flat);
    }
    struct gmt_node_steps *before = gmt_graph_set_steps(exec, steps);
    if (before != NULL && before != steps && steps != NULL) {
        steps->launched = before->launched; /* an update: earlier launches may be under way */
        steps->stream = before->stream;
    }
    release(before);
}

struct gmt_node_steps *gmt_steps_of(CUgraphExec exec)
{
    return gmt_graph_steps(exec);
}

void gmt_steps_forget(CUgraphExec exec)
{
    release(gmt_graph_set_steps(exec, NULL));
}

/* The step of `node`, if it is one of `kind`; else what the graph holds is not known any more. */
static struct gmt_node_step *step_of(CUgraphExec exec, struct gmt_node_steps *steps,
                                     CUgraphNode node, enum gmt_node_step_kind kind)
{
    size_t at = gmt_node_index_find(&steps->index, node);
    struct gmt_node_step *step = at < steps->count ? &steps->steps[at] : NULL;
    if (step == NULL || step->kind != kind) {
        gmt_steps_forget(exec);
        return NULL;
    }
    return step;
}

void gmt_steps_set_kernel(CUgraphExec exec, CUgraphNode node,
                          const CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
    struct gmt_node_steps *steps = gmt_steps_of(exec);
    struct gmt_node_step *step = steps != NULL ? step_of(exec, steps, node, GMT_STEP_KERNEL) : NULL;
    if (step != NULL && !set_kernel(steps, &step->kernel, params)) {
        gmt_steps_forget(exec);
    }
}

void gmt_steps_set_copy(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *params)
{
    struct gmt_node_steps *steps = gmt_steps_of(exec);
    struct gmt_node_step *step = steps != NULL ? step_of(exec, steps, node, GMT_STEP_COPY) : NULL;
    if (step != NULL && !set_copy(step, params)) {
        gmt_steps_forget(exec);
    }
}

/* Those of the child keep their names: an update has the same form. */
static bool set_child(struct gmt_node_steps *steps, struct gmt_node_step *step,
                      const struct flat *flat)
{
    bool done = flat->count == step->child_count;
    for (size_t i = 0; i < flat->count && done; i++) {
        struct gmt_node_step *at = &step[i + 1];
        size_t child_count = at->kind == GMT_STEP_CHILD ? at->child_count : 0;
        done = kind_of(flat->nodes[i].type) == at->kind && read_step(steps, at, &flat->nodes[i]) &&
               (at->kind != GMT_STEP_CHILD || at->child_count == child_count);
    }
    return done;
}

void gmt_steps_set_child(CUgraphExec exec, CUgraphNode node, CUgraph child)
{
    struct gmt_node_steps *steps = gmt_steps_of(exec);
    struct gmt_node_step *step = steps != NULL ? step_of(exec, steps, node, GMT_STEP_CHILD) : NULL;
    struct flat flat;
    if (step == NULL) {
        return;
    }
    bool done = begin_flat(&flat);
    if (done) {
        done = flatten(&flat, child, 1) && set_child(steps, step, &flat);
        end_flat(&flat);
    }
    if (!done) {
        gmt_steps_forget(exec);
    }
}

void gmt_steps_set_memset(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params)
{
    struct gmt_node_steps *steps = gmt_steps_of(exec);
    struct gmt_node_step *step = steps != NULL ? step_of(exec, steps, node, GMT_STEP_MEMSET) : NULL;
    if (step != NULL && !set_memset(step, params)) {
        gmt_steps_forget(exec);
    }
}

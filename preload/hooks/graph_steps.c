/* SPDX-License-Identifier: Apache-2.0 */
/* Launches a graph as its steps (graph_steps.h). */
#include "preload/hooks/graph_steps.h"

#include "libtrace/record/clock.h"
#include "preload/graph/steps.h"
#include "preload/hooks/hook.h"
#include "preload/hooks/launch_call.h"
#include "preload/hooks/memset.h"
#include "preload/hooks/transfer.h"
#include "preload/overhead/device_records.h"
#include "preload/session/options.h"
#include "preload/session/session.h"
#include "preload/state/context.h"
#include "preload/state/hazards.h"
#include "preload/state/kernels.h"
#include "preload/state/user_ranges.h"
#include "preload/state/waits.h"

#define MOST_PARAMETERS 256u
#define FIRST_PAUSE_NS UINT64_C(10000000)
#define LONGEST_PAUSE_NS UINT64_C(10000000000)
#define LONGEST_REFUSED_NS UINT64_C(2000000000) /* where the budget refuses, which may change */
/* That the steps are waited for: a kernel may wait for what this thread does next. */
#define LONGEST_NS UINT64_C(1000000000)

/* ---- is it worth it, and may it be? --------------------------------------------------------------- */

static void cluster_of(const struct gmt_step_kernel *kernel, uint32_t cluster[3])
{
    cluster[0] = cluster[1] = cluster[2] = 0;
    for (unsigned i = 0; i < kernel->attribute_count; i++) {
        if (kernel->attributes[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
            cluster[0] = (uint16_t)kernel->attributes[i].value.clusterDim.x;
            cluster[1] = (uint16_t)kernel->attributes[i].value.clusterDim.y;
            cluster[2] = (uint16_t)kernel->attributes[i].value.clusterDim.z;
        }
    }
}

/* Some kernel lacks counters. Earlier launches of the graph are counted for the classes, as that shows which are worth measuring.
 * Sets *refused where the budget refuses one. */
static bool any_lacks(struct gmt_node_steps *steps, bool *refused)
{
    bool any = false;
    for (size_t i = 0; i < steps->count; i++) {
        const struct gmt_step_kernel *kernel = &steps->steps[i].kernel;
        const struct gmt_kernel_info *info = NULL;
        uint32_t cluster[3];
        if (steps->steps[i].kind == GMT_STEP_KERNEL) {
            info = gmt_kernel_find(kernel->function);
        }
        if (info == NULL) {
            continue;
        }
        cluster_of(kernel, cluster);
        struct gmt_class_info *cls = gmt_class_find(info, kernel->grid, kernel->block,
                                                    kernel->dynamic_shared_bytes, cluster);
        if (cls != NULL) {
            if (gmt_collector->launched != NULL) {
                gmt_collector->launched(&cls->collector, steps->launches);
            }
            *refused |= atomic_load(&cls->collector.retry_ns) != 0;
            any |= gmt_collector->lacks != NULL && gmt_collector->lacks(&cls->collector);
        }
    }
    steps->launches = 0;
    return any;
}

/* The stream's context is the current one, and that of the nodes: of the kernels, for copies to and from others are no
 * steps. */
static bool is_in_context(const struct gmt_node_steps *steps, CUstream stream)
{
    CUcontext current = NULL, of_stream = NULL;
    return gmt_driver.cuStreamGetCtx != NULL && gmt_driver.cuCtxGetCurrent != NULL &&
           gmt_driver.cuCtxGetCurrent(&current) == CUDA_SUCCESS &&
           gmt_driver.cuStreamGetCtx(stream, &of_stream) == CUDA_SUCCESS && of_stream == current &&
           (steps->context == NULL ? gmt_context_live() == 1 : steps->context == current);
}

/* Nothing forbids to hold the launching thread until the kernels have ended. */
static bool may_wait(const struct gmt_hook_call *call)
{
    return (call->flags & GMT_CALL_CAPTURING) == 0 && atomic_load(&gmt_captures) == 0 &&
           !gmt_user_ranges_skip() && (gmt_hazards_ignored() || !gmt_waits_under_way());
}

/* ---- the steps ---------------------------------------------------------------------------------- */

static CUresult launch_kernel(const struct gmt_node_steps *steps, struct gmt_step_kernel *kernel,
                              const struct gmt_hook_call *call, bool *measured)
{
    void *parameters[MOST_PARAMETERS];
    size_t bytes = kernel->parameter_bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, steps->bytes + kernel->parameters,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    CUlaunchConfig config = {
        .gridDimX = kernel->grid[0],
        .gridDimY = kernel->grid[1],
        .gridDimZ = kernel->grid[2],
        .blockDimX = kernel->block[0],
        .blockDimY = kernel->block[1],
        .blockDimZ = kernel->block[2],
        .sharedMemBytes = kernel->dynamic_shared_bytes,
        .hStream = call->stream,
        .attrs = kernel->attributes,
        .numAttrs = kernel->attribute_count,
    };
    if (!kernel->packed && !gmt_step_parameters(steps, kernel, parameters, MOST_PARAMETERS)) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return gmt_launch_step(call, &config, kernel->function, kernel->packed ? NULL : parameters,
                           kernel->packed ? extra : NULL, measured);
}

static CUresult copy(const struct gmt_hook_call *graph, const CUDA_MEMCPY3D *params)
{
    bool per_thread = (graph->flags & GMT_CALL_PER_THREAD) != 0;
    struct gmt_hook_call call = {
        .id = per_thread ? GMT_HOOK_cuMemcpy3DAsync_v2_ptsz : GMT_HOOK_cuMemcpy3DAsync_v2,
        .flags = (graph->flags & GMT_CALL_PER_THREAD) | GMT_CALL_STEP,
        .stream = graph->stream,
        .at = graph->at,
    };
    CUresult (*real)(const CUDA_MEMCPY3D *, CUstream) = gmt_hook_find_real(call.id);
    if (real == NULL) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    call.begin_ticks = gmt_clock_ticks();
    call.result = real(params, graph->stream);
    call.end_ticks = gmt_clock_ticks();
    struct gmt_transfer transfer = gmt_transfer_of_box(params);
    gmt_transfer_record(&call, &transfer, transfer.width * transfer.height * transfer.depth);
    return call.result;
}

/* Time of consecutive steps that are not measured. The collector accounts for those that are. */
struct stretch {
    uint64_t began_ns, total_ns;
};

static void end_stretch(struct stretch *stretch)
{
    if (stretch->began_ns != 0) {
        stretch->total_ns += gmt_clock_monotonic_ns() - stretch->began_ns;
        gmt_spool_own_time(GMT_OWN_GRAPH, stretch->began_ns, 0);
        stretch->began_ns = 0;
    }
}

/* The steps from `*at` on; stops at the first that fails, at `*at`. Returns how many kernels were measured. */
static unsigned make_all(struct gmt_node_steps *steps, struct gmt_hook_call *call, size_t *at,
                         struct stretch *stretch)
{
    unsigned count = 0;
    for (; *at < steps->count; (*at)++) {
        struct gmt_node_step *step = &steps->steps[*at];
        bool measured = false;
        stretch->began_ns = stretch->began_ns == 0 ? gmt_clock_monotonic_ns() : stretch->began_ns;
        switch (step->kind) {
        case GMT_STEP_KERNEL:
            call->result = launch_kernel(steps, &step->kernel, call, &measured);
            break;
        case GMT_STEP_COPY: call->result = copy(call, &step->copy); break;
        case GMT_STEP_MEMSET: call->result = gmt_memset_step(call, &step->set); break;
        default: break;
        }
        if (measured) {
            count++;
            stretch->began_ns = 0; /* the collector writes what that took */
        }
        if (call->result != CUDA_SUCCESS) {
            break;
        }
    }
    return count;
}

/* The next launch of the graph may be made in another stream, and must find this one over. */
static void wait_for_all(const struct gmt_hook_call *call)
{
    CUresult (*query)(CUstream) = (call->flags & GMT_CALL_PER_THREAD) != 0
                                      ? gmt_driver.cuStreamQuery_ptsz
                                      : gmt_driver.cuStreamQuery;
    uint64_t began_ns = gmt_clock_monotonic_ns();
    while (query != NULL && query(call->stream) == CUDA_ERROR_NOT_READY &&
           gmt_clock_monotonic_ns() - began_ns < LONGEST_NS) {
    }
}

static bool launch(struct gmt_node_steps *steps, struct gmt_hook_call *call, unsigned *measured)
{
    struct stretch stretch = {0};
    size_t made = 0;
    call->result = CUDA_SUCCESS;
    uint64_t began = gmt_clock_ticks();
    *measured = make_all(steps, call, &made, &stretch);
    if (call->result != CUDA_SUCCESS && made == 0) {
        call->result = CUDA_SUCCESS;
        return false; /* nothing was done: the graph itself may do better */
    }
    stretch.began_ns = stretch.began_ns == 0 ? gmt_clock_monotonic_ns() : stretch.began_ns;
    wait_for_all(call);
    end_stretch(&stretch);
    gmt_collector->charge(stretch.total_ns);
    call->begin_ticks = began;
    call->end_ticks = gmt_clock_ticks();
    call->made = true;
    return true;
}

bool gmt_graph_steps_wanted(void)
{
    /* The software device counts in graphs, too. */
    return gmt_collector != NULL && gmt_collector->repeats != NULL &&
           (gmt_options.graph_steps == GMT_GRAPH_STEPS_ALWAYS ||
            (gmt_options.graph_steps == GMT_GRAPH_STEPS_ON && !gmt_driver_is_software));
}

bool gmt_graph_launch_steps(CUgraphExec exec, struct gmt_hook_call *call)
{
    struct gmt_node_steps *steps = gmt_graph_steps_wanted() ? gmt_steps_of(exec) : NULL;
    if (steps == NULL) {
        return false;
    }
    uint64_t now_ns = gmt_clock_monotonic_ns();
    bool first = !steps->launched, elsewhere = !first && steps->stream != call->stream;
    steps->launched = true;
    steps->stream = call->stream;
    /* A graph that is launched once has times for its kernels, at least. Steps would not wait for a launch of before in
     * another stream. */
    bool always = gmt_options.graph_steps == GMT_GRAPH_STEPS_ALWAYS;
    if (((first || now_ns < steps->next_look_ns) && !always) || elsewhere || !may_wait(call) ||
        !is_in_context(steps, call->stream)) {
        steps->launches++;
        return false;
    }
    unsigned measured = 0;
    bool refused = false, tries = any_lacks(steps, &refused) || always;
    if (tries) {
        gmt_device_records_need();
    }
    bool made = tries && launch(steps, call, &measured);
    if (measured != 0) {
        steps->pause_ns = 0;
        return true;
    }
    if (made) {
        (void)any_lacks(steps, &refused);
    }
    steps->launches += made ? 0 : 1;
    uint64_t longest_ns = refused ? LONGEST_REFUSED_NS : LONGEST_PAUSE_NS;
    uint64_t pause_ns = steps->pause_ns == 0 ? FIRST_PAUSE_NS : 2 * steps->pause_ns;
    steps->pause_ns = pause_ns < longest_ns ? pause_ns : longest_ns;
    steps->next_look_ns = gmt_clock_monotonic_ns() + steps->pause_ns;
    return made;
}

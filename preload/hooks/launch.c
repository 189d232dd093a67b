/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks: kernel and graph launches. */
#include "preload/graph/steps.h"
#include "preload/hooks/graph_steps.h"
#include "preload/hooks/hook.h"
#include "preload/hooks/launch_call.h"
#include "preload/session/session.h"
#include "preload/state/hazards.h"
#include "preload/state/waits.h"

#define SHAPE(KIND) \
    ((struct gmt_launch){ \
        .grid = {grid_x, grid_y, grid_z}, \
        .block = {block_x, block_y, block_z}, \
        .dynamic_shared_bytes = shared_bytes, \
        .kind = (KIND), \
    })

#define AGAIN(SYMBOL, EXTRA) \
    GMT_IS_INTERCEPTED == 0 ? NULL : &(struct gmt_relaunch) \
    { \
        .hook = GMT_HOOK_##SYMBOL, .grid = {grid_x, grid_y, grid_z}, \
        .block = {block_x, block_y, block_z}, .dynamic_shared_bytes = shared_bytes, \
        .stream = stream, .function = function, .parameters = parameters, .extra = (EXTRA), \
    }

#define LAUNCH(SYMBOL, KIND, FLAGS) \
    GMT_DEFINE_HOOK_SAVING( \
        SYMBOL, struct gmt_hooked_launch, \
        (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
         unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, \
         void **parameters, void **extra), \
        (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, \
         parameters, extra), \
        stream, FLAGS, gmt_launch_begin(saved, SHAPE(KIND)); \
        gmt_launch_before(saved, &call, function, parameters, extra, AGAIN(SYMBOL, extra)), \
        gmt_launch_after(saved, &call))

#define LAUNCH_COOPERATIVE(SYMBOL, FLAGS) \
    GMT_DEFINE_HOOK_SAVING( \
        SYMBOL, struct gmt_hooked_launch, \
        (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
         unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, \
         void **parameters), \
        (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, \
         parameters), \
        stream, FLAGS, gmt_launch_begin(saved, SHAPE(GMT_LAUNCH_COOPERATIVE)); \
        gmt_launch_before(saved, &call, function, parameters, NULL, AGAIN(SYMBOL, NULL)), \
        gmt_launch_after(saved, &call))

LAUNCH(cuLaunchKernel, GMT_LAUNCH_KERNEL, 0)
LAUNCH(cuLaunchKernel_ptsz, GMT_LAUNCH_KERNEL, GMT_CALL_PER_THREAD)
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel, 0)
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel_ptsz, GMT_CALL_PER_THREAD)

#define AGAIN_EX(SYMBOL) \
    GMT_IS_INTERCEPTED == 0 ? NULL : &(struct gmt_relaunch) \
    { \
        .hook = GMT_HOOK_##SYMBOL, .config = config, .stream = config->hStream, \
        .function = function, .parameters = parameters, .extra = extra, \
    }

#define LAUNCH_EX(SYMBOL, FLAGS) \
    GMT_DEFINE_HOOK_SAVING( \
        SYMBOL, struct gmt_hooked_launch, \
        (const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra), \
        (config, function, parameters, extra), config != NULL ? config->hStream : NULL, FLAGS, \
        gmt_launch_begin(saved, (struct gmt_launch){0}); \
        if (config != NULL) { \
            gmt_launch_begin_ex(saved, config); \
            gmt_launch_before(saved, &call, function, parameters, extra, AGAIN_EX(SYMBOL)); \
        } else { gmt_launch_count(saved); }, \
        gmt_launch_after(saved, &call))

LAUNCH_EX(cuLaunchKernelEx, 0)
LAUNCH_EX(cuLaunchKernelEx_ptsz, GMT_CALL_PER_THREAD)

/* `may_make`: the launch may be made here. */
static void before_graph(struct gmt_hooked_launch *launch, struct gmt_hook_call *call,
                         CUgraphExec graph, bool may_make)
{
    /* Its launches are counted before this one: none is measured while another is under way. */
    bool by_steps = may_make && gmt_graph_launch_steps(graph, call);
    launch->head.kind = GMT_LAUNCH_GRAPH;
    launch->head.graph = (uint64_t)(uintptr_t)graph;
    gmt_launch_count(launch);
    /* Nothing in a graph whose steps are known waits for the host. */
    launch->hazard = gmt_hazard_of(&(struct gmt_hazard_given){.known = false});
    launch->waits = (gmt_waits_any_in_graphs() || launch->hazard != GMT_HAZARD_NONE) &&
                    gmt_steps_of(graph) == NULL;
    if (launch->waits) {
        gmt_waits_begin();
    }
    if (by_steps || (gmt_collector != NULL && !gmt_collector->kernel_activity_on())) {
        call->flags |= GMT_CALL_NO_ACTIVITY;
    }
}

#define LAUNCH_GRAPH(SYMBOL, FLAGS) \
    GMT_DEFINE_HOOK_SAVING(SYMBOL, struct gmt_hooked_launch, (CUgraphExec graph, CUstream stream), \
                           (graph, stream), stream, FLAGS, \
                           gmt_launch_begin(saved, (struct gmt_launch){0}); \
                           before_graph(saved, &call, graph, GMT_IS_INTERCEPTED != 0), \
                           gmt_launch_after(saved, &call))

LAUNCH_GRAPH(cuGraphLaunch, 0)
LAUNCH_GRAPH(cuGraphLaunch_ptsz, GMT_CALL_PER_THREAD)

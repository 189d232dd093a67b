/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph launched as its steps (graph/steps.h), one call for each, so that its kernels are measured.
 *
 * Kernels in a graph cannot be measured one by one, and many programs launch most of theirs in graphs. So now and then, while kernels
 * of a graph lack counters and the budget allows it, the operations of the graph are called one after the other in
 * the stream of the launch. They are recorded as what they are: launches, copies and memsets. The launch of the graph is
 * recorded, too, without work of its own.
 */
#ifndef GMT_PRELOAD_HOOKS_GRAPH_STEPS_H
#define GMT_PRELOAD_HOOKS_GRAPH_STEPS_H

#include <cuda.h>
#include <stdbool.h>

#include "preload/state/hook_call.h"

/* Whether any may be launched so. */
bool gmt_graph_steps_wanted(void);

/* Before a launch of `exec`. True: its steps were made; `site` has result and times, and site->made is set. */
bool gmt_graph_launch_steps(CUgraphExec exec, struct gmt_hook_call *call);

#endif

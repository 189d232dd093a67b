/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs made executable: their handles, as ids in the trace. */
#ifndef GMT_PRELOAD_STATE_GRAPHS_H
#define GMT_PRELOAD_STATE_GRAPHS_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "libtrace/record/layout.h"

struct gmt_node_steps;

/* Give the handle a new id (graph->id, graph->made): of an update, where it has been made executable before. */
void gmt_graph_name(CUgraphExec handle, bool is_update, struct gmt_graph *graph);

/* Its id; 0: it is not known. */
uint32_t gmt_graph_id(CUgraphExec handle);

/* What a launch of it does (graph/steps.h), which is kept here. NULL: nothing is. `set` returns what was there, which is the
 * caller's; what cannot be kept is returned, too. */
struct gmt_node_steps *gmt_graph_steps(CUgraphExec handle);
struct gmt_node_steps *gmt_graph_set_steps(CUgraphExec handle, struct gmt_node_steps *steps);

/* Flags of CUgraphInstantiate_flags, and GMT_GRAPH_NO_STEPS: what it holds cannot be followed. They are added to those of before; a
 * handle that is named anew has none. */
#define GMT_GRAPH_NO_STEPS (1ull << 63)
void gmt_graph_add_flags(CUgraphExec handle, unsigned long long flags);
unsigned long long gmt_graph_flags(CUgraphExec handle);

/* Forget it, before the call that destroys it: the handle may come back in another thread at once. False: it was
 * not known. */
bool gmt_graph_forget(CUgraphExec exec);

/* May the nodes of an updated graph be read again, at `now`, in ticks? */
bool gmt_graph_may_read(uint64_t now);
/* ... that took so long. */
void gmt_graph_was_read(uint64_t ticks);

/* In a forked child: nothing is known. */
void gmt_graph_reset(void);

#endif

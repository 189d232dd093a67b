/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that launches of graphs ran: device times by kernel class. */
#ifndef GMT_ANALYZER_TRACE_GRAPH_KERNELS_H
#define GMT_ANALYZER_TRACE_GRAPH_KERNELS_H

#include "analyzer/trace/timeline.h"

/*
 * Fills nodes, node_count, unknown_nodes and unknown_nodes_ns of a timeline whose classes are loaded, and
 * of each class nodes, in_graphs and captured. CUPTI records every kernel of a launch of a graph with its
 * name, grid and block; the class is the one that has these. Where several have it is the one that was
 * captured, else the one that was launched; where that does not decide, and they differ in dynamic shared memory
 * or cluster, or none has, the kernel is of no class and counts as unknown. 0, -ENOMEM or -EIO.
 */
int gmt_graph_kernels_load(struct gmt_timeline *timeline);

/* Does the class run in graphs for the most part, so that its captured call is its place? */
bool gmt_class_is_of_graphs(const struct gmt_tl_class *class);

#endif

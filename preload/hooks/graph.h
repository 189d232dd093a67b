/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs made executable: their handles, as ids in the trace. */
#ifndef GMT_PRELOAD_HOOKS_GRAPH_H
#define GMT_PRELOAD_HOOKS_GRAPH_H

/* In a forked child: nothing is known. */
void gmt_graph_reset(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of a kernel node, as those of a launch. */
#ifndef GMT_PRELOAD_GRAPH_ATTRIBUTES_H
#define GMT_PRELOAD_GRAPH_ATTRIBUTES_H

#include <cuda.h>
#include <stdbool.h>

#include "preload/graph/steps.h"

/* Those of `node` that a launch by itself must have. `with_priority`: the graph heeds that of its nodes. False: one of them
 * cannot be had that way, or measuring is out of the question (a cooperative kernel). */
bool gmt_step_attributes(struct gmt_step_kernel *kernel, CUgraphNode node, bool with_priority);

#endif

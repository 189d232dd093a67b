/* SPDX-License-Identifier: Apache-2.0 */
/* Memsets that gmtrace makes in place of the program's. */
#ifndef GMT_PRELOAD_HOOKS_MEMSET_H
#define GMT_PRELOAD_HOOKS_MEMSET_H

#include <cuda.h>

#include "preload/state/hook_call.h"

/* That of a node of the graph whose launch is under way (`graph`), of elements of 1, 2 or 4 bytes: made in its stream, and recorded. */
CUresult gmt_memset_step(const struct gmt_hook_call *graph, const CUDA_MEMSET_NODE_PARAMS *set);

#endif

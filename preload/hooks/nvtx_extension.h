/* SPDX-License-Identifier: Apache-2.0 */
/* Filling in the tables of NVTX's extensions. */
#ifndef GMT_PRELOAD_HOOKS_NVTX_EXTENSION_H
#define GMT_PRELOAD_HOOKS_NVTX_EXTENSION_H

#include "preload/state/nvtx.h"
#include "preload/state/nvtx_payload.h"

/* Slots that nobody fills in do nothing, and return what a program without a tool gets. */
static inline void gmt_nvtx_set_slot(struct gmt_nvtx_segment *segment, unsigned slot,
                                     gmt_nvtx_function function)
{
    if (slot < segment->slots) {
        segment->functions[slot] = (intptr_t)function;
    }
}

/* Those of the memory extension. */
void gmt_nvtx_memory_install(struct gmt_nvtx_segment *segment);

#endif

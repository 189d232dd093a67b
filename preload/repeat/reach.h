/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that a kernel can write: live allocations of its context, and the variables and constants of its module
 * (no kernel writes constants, but they may hold addresses).
 *
 * All of them, not those that its arguments name: a kernel may load addresses from memory, or compute them. Variables of
 * other modules belong to it where an address of theirs is found (scan.h). Memory that others see (allocmap.h), of other
 * devices, and what is mapped (cuMemMap) without access to write does not: it is not restored, and what leads there forbids
 * to repeat.
 */
#ifndef GMT_PRELOAD_REPEAT_REACH_H
#define GMT_PRELOAD_REPEAT_REACH_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/record/collector.h"

#define GMT_REACH_EXTENTS 4096u

struct gmt_extent {
    uint64_t base, bytes;
};

/* In the order of addresses; no two overlap. */
struct gmt_reach {
    size_t count;
    uint64_t bytes; /* of all */
    struct gmt_extent extents[GMT_REACH_EXTENTS];
};

/* Fill `reach` for a launch of `function` in the current context, gmt_context.id `context`. GMT_MEASURABLE, or why it
 * cannot be said what the kernel can write, or not be copied. */
enum gmt_unmeasured gmt_reach_find(struct gmt_reach *reach, CUfunction function,
                                   const struct gmt_collector_class *cls, uint16_t context);

/* Add memory that the kernel can reach besides, and no other knows. False: there is no room. */
bool gmt_reach_add(struct gmt_reach *reach, uint64_t base, uint64_t bytes);

/* Does `address` lie in one of them? */
bool gmt_reach_holds(const struct gmt_reach *reach, uint64_t address);

#endif

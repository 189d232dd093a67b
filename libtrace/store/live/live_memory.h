/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that a program holds, by kind: allocations and releases in any order that a reader finds them in. */
#ifndef GMT_STORE_LIVE_LIVE_MEMORY_H
#define GMT_STORE_LIVE_LIVE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/store/live/live_page.h"

/* Sums of one context. */
struct gmt_live_context {
    uint32_t device; /* ordinal; UINT32_MAX: not known yet */
    struct gmt_live_held memory[GMT_ALLOC_KIND_COUNT];
};

struct gmt_live_memory {
    struct gmt_live_block *blocks;     /* by gmt_alloc.id                         */
    size_t capacity, used;             /* capacity: a power of two, or 0          */
    uint32_t pass;                     /* of the reader                           */
    struct gmt_live_context *contexts; /* by gmt_context.id                   */
    size_t context_count;
};

/* Zero-initialization is one without memory. */
void gmt_live_memory_free(struct gmt_live_memory *memory);

/* Each: 0 or -ENOMEM. What is freed before its allocation is read is remembered until that is. */
int gmt_live_memory_allocated(struct gmt_live_memory *memory, uint32_t id, unsigned kind,
                              uint16_t context, uint64_t bytes);
int gmt_live_memory_freed(struct gmt_live_memory *memory, uint32_t id);
int gmt_live_memory_context(struct gmt_live_memory *memory, uint32_t context, uint32_t device);

/* Of a gmt_context.id; UINT32_MAX: not known. */
uint32_t gmt_live_memory_device(const struct gmt_live_memory *memory, uint32_t context);

/* Is an allocation there, and page-locked memory? */
bool gmt_live_memory_is_host(const struct gmt_live_memory *memory, uint32_t id);

/* In place of a device: page-locked memory. */
#define GMT_LIVE_HOST_MEMORY UINT32_MAX

/* What is held of a device (an unknown one counts as 0, those beyond the last as the last). */
struct gmt_live_held gmt_live_memory_held(const struct gmt_live_memory *memory, uint32_t device);

/* Put the sums into the page: page-locked memory into host_memory, all other by device. */
void gmt_live_memory_sum(const struct gmt_live_memory *memory, struct gmt_live_page *page);

#endif

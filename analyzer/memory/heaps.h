/* SPDX-License-Identifier: Apache-2.0 */
/* What the program's allocators said of their memory: heaps, and the regions of these that were in use. */
#ifndef GMT_ANALYZER_MEMORY_HEAPS_H
#define GMT_ANALYZER_MEMORY_HEAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gmt_memory;

/* A row of `heap` or of `region`, with a size and a beginning that are known. Later ones have larger ids. */
struct gmt_heap_row {
    int64_t id, address, bytes;
    int64_t begin_ns,
        until_ns; /* INT64_MAX: to the end of the program. It ends with its heap, and with the allocation that it
                                   began in, at the latest */
    int64_t stack_id; /* of who registered it; 0: not known */
    int64_t heap_id;  /* of a region; 0: it is of none that is known */
    int64_t
        device_id; /* of the allocation that it began in: as gmt_memory_row.device_id; -2: there is none */
    bool is_pool; /* of a heap: nothing but its regions is in use */
};

struct gmt_heaps {
    struct gmt_heap_row *heaps, *regions; /* by id */
    size_t heap_count, region_count;
};

/*
 * Reads them, while rows are in the order of their ids, and marks allocations that lie in such a heap, or of which a region without a heap
 * is a part, as segments: they are an allocator's. 0, -ENOMEM or -EIO; free it in any case.
 */
int gmt_heaps_load(struct gmt_memory *memory);
/* The heap of that id, NULL: none is known. */
const struct gmt_heap_row *gmt_heaps_find(const struct gmt_heaps *heaps, int64_t id);
void gmt_heaps_free(struct gmt_heaps *heaps);

#endif

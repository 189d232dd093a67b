/* SPDX-License-Identifier: Apache-2.0 */
/* Side records of what the program's allocators say of their memory (NVTX's memory extension). A part of layout.h. */
#ifndef GMT_RECORD_LAYOUT_HEAPS_H
#define GMT_RECORD_LAYOUT_HEAPS_H

#ifndef GMT_RECORD_LAYOUT_H
#error "include libtrace/record/layout.h"
#endif

/* Memory that an allocator hands out parts of. Text, when it begins: name, domain. Records of one heap can come in any order. */
struct gmt_heap {
    struct gmt_side_head head;
    uint64_t since_ticks; /* when it began or ended */
    uint64_t address, bytes;
    uint32_t
        id; /* unique in the process, from 1; heaps and regions share the numbers, which grow with time */
    uint32_t
        stack; /* gmt_stack.id of who registered it, 0 = none, or registered before the recording */
    uint8_t event; /* enum gmt_heap_event */
    uint8_t usage; /* enum gmt_heap_usage */
    uint8_t reserved[6];
};

/* A part of a heap that is in use. Text: when it begins, where its name is known before; when it is named. It ends with its heap
 * at the latest, which is not written. One that is resized ends and begins as another, with `made` of the one before. */
struct gmt_region {
    struct gmt_side_head head;
    uint64_t since_ticks;
    uint64_t address, bytes;
    uint32_t id;
    uint32_t heap;  /* gmt_heap.id, 0 = of none that is known */
    uint32_t stack; /* of who registered it */
    uint32_t made;  /* `id` of what was registered: its own but for resized ones */
    uint8_t event;  /* enum gmt_heap_event */
    uint8_t reserved[7];
};

static_assert(sizeof(struct gmt_heap) == 56, "heap");
static_assert(sizeof(struct gmt_region) == 64, "region is one slot");

#endif

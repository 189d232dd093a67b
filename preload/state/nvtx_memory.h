/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX's memory extension, as far as allocators use it: heaps, and the regions in them.
 *
 * An allocator registers the memory that it hands out parts of as a heap, and each part, for as long as it is in use, as a region.
 * Only virtual addresses are understood; permissions and initialized memory are for memory checkers, and their functions stay as they
 * are without a tool. Numbers and layouts are NVTX's binary interface (compatibility 0x0102, of CUDA 13);
 * tests/clients/regions_calls.c, compiled with NVIDIA's headers, holds them to it.
 */
#ifndef GMT_PRELOAD_STATE_NVTX_MEMORY_H
#define GMT_PRELOAD_STATE_NVTX_MEMORY_H

#include <stddef.h>
#include <stdint.h>

enum { GMT_NVTX_MODULE_MEMORY = 1, GMT_NVTX_MEMORY_COMPATIBILITY = 0x0102 };

enum gmt_nvtx_memory_slot {
    GMT_NVTX_HEAP_REGISTER = 0,
    GMT_NVTX_HEAP_UNREGISTER,
    GMT_NVTX_HEAP_RESET,
    GMT_NVTX_REGIONS_REGISTER,
    GMT_NVTX_REGIONS_RESIZE,
    GMT_NVTX_REGIONS_UNREGISTER,
    GMT_NVTX_REGIONS_NAME
};

enum { GMT_NVTX_VIRTUAL_ADDRESS = 1 };                  /* a type of memory */
enum { GMT_NVTX_REF_POINTER = 1, GMT_NVTX_REF_HANDLE }; /* to a region; both are its address */

struct gmt_nvtx_extent {
    size_t bytes;
    const void *address;
};

struct gmt_nvtx_heap {
    uint16_t compatibility, struct_size;
    uint32_t reserved;
    uint32_t usage, type;
    size_t extent_size;
    const void *extent;
    uint32_t category;
    uint32_t message_type; /* enum gmt_nvtx_message */
    const void *message;
};

/* Of a heap's handle, which is its address; NULL: the whole process. */
struct gmt_nvtx_regions {
    uint16_t compatibility, struct_size;
    uint32_t type;
    const void *heap;
    size_t count, element_size;
    const void *extents;
    const void *
        *handles; /* what the regions are called from now on: their addresses; NULL: not asked */
};

struct gmt_nvtx_resizes {
    uint16_t compatibility, struct_size;
    uint32_t type;
    size_t count, element_size;
    const void *extents;
};

struct gmt_nvtx_endings {
    uint16_t compatibility, struct_size;
    uint32_t reference_type;
    size_t count, element_size;
    const void *references; /* each an address */
};

struct gmt_nvtx_region_name {
    uint32_t reference_type, message_type;
    const void *region, *message;
    uint32_t category, reserved;
};
struct gmt_nvtx_region_names {
    uint16_t compatibility, struct_size;
    uint32_t reserved;
    size_t count, element_size;
    const void *elements;
    size_t reserved_too;
};

#endif

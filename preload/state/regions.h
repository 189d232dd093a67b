/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heaps and regions that the program's allocators register: which are there, and writing them as records.
 *
 * They are known by their addresses. What is there is kept whether a recording runs or not, in a table of fixed size. Nothing that a
 * program says is believed further than that: what contradicts it is counted (gmt_coverage_count_fault). Callers hold the re-entry guard.
 */
#ifndef GMT_PRELOAD_STATE_REGIONS_H
#define GMT_PRELOAD_STATE_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "libtrace/record/layout.h"

#define GMT_REGIONS_MOST \
    (UINT32_C(1) << 18) /* heaps and regions at one time; more are counted as lost */

/* `stack`: gmt_stack.id of the caller, 0: none. domain: as gmt_nvtx_keep returns them; name: cut at GMT_RANGE_NAME_BYTES - 1. False: it
 * is not registered. */
bool gmt_heap_begin(uint64_t address, uint64_t bytes, uint32_t usage, const char *domain,
                    const char *name, uint32_t stack);
/* With all of its regions; address 0 is the whole process. */
void gmt_heap_end(uint64_t address);
/* The same, and it begins anew, empty. */
void gmt_heap_empty(uint64_t address, uint32_t stack);

/* `heap`: its address, 0: the whole process. */
void gmt_region_begin(uint64_t heap, uint64_t address, uint64_t bytes, uint32_t stack);
void gmt_region_resize(uint64_t address, uint64_t bytes);
void gmt_region_end(uint64_t address);
void gmt_region_name(uint64_t address, const char *name);

/* The recording begins: write what is there. */
void gmt_regions_start(void);
/* In a forked child: it is not recorded yet. After fork() everything was forgotten. */
void gmt_regions_forked(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What an allocator calls of NVTX's memory extension, and a pool of memory. */
#ifndef CLIENTS_REGIONS_CALLS_H
#define CLIENTS_REGIONS_CALLS_H

#include "client.h"

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtMem.h>

#define MIB ((size_t)1 << 20)
#define POOL_BYTES (64 * MIB)

struct regions_pool {
    CUdeviceptr base;
    size_t used;
    nvtxMemHeapHandle_t heap;
};
extern struct regions_pool regions_pool;
extern nvtxDomainHandle_t regions_domain;

/* Loads the driver and makes a context. */
void regions_begin(void);
/* Allocates the pool and registers it as a heap. */
void regions_open_pool(void);

nvtxMemVirtualRangeDesc_t regions_range(CUdeviceptr address, size_t bytes);
nvtxMemHeapHandle_t regions_heap(CUdeviceptr base, size_t bytes, uint32_t usage, const char *name);
void regions_register(nvtxMemHeapHandle_t heap, const nvtxMemVirtualRangeDesc_t *ranges,
                      size_t count, nvtxMemRegionHandle_t *handles);
void regions_resize(CUdeviceptr address, size_t bytes);
void regions_end(nvtxMemRegionRef_t reference, uint32_t type);
void regions_end_at(CUdeviceptr address);
void regions_name(CUdeviceptr address, const char *text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A memory pool, as the files pool*.c see it. */
#ifndef SIMGPU_DRIVER_POOL_H
#define SIMGPU_DRIVER_POOL_H

#include "simgpu/driver/registry.h"

#define SIM_POOL_PAGE ((size_t)4096)

struct sim_mempool {
    CUdevice device;
    _Atomic unsigned access; /* bit set of devices */
    size_t most;             /* bytes, 0 = no limit but the device's */
    cuuint64_t release_threshold, used, used_high;
    int reuse[3];                           /* the three REUSE attributes, in their order */
    bool is_default, is_destroyed, is_host; /* page-locked memory of the host */
    /* Of a pool that may be shared: its memory lies in this file. Made here, or imported: then nothing can be
     * allocated from it. */
    bool is_shareable, is_imported;
    int file;
    size_t next_offset; /* where the next allocation goes; none comes twice */
};

/* Made by this process. NULL: no memory. */
struct sim_mempool *sim_mempool_new(CUdevice device, size_t most);
/* NULL: no pool. */
struct sim_mempool *sim_mempool_of(CUmemoryPool handle);
void sim_mempool_free(struct sim_mempool *pool);

/* A part of its file; NULL: it cannot be mapped. */
void *sim_mempool_map(const struct sim_mempool *pool, size_t bytes, size_t offset);

/* Give a new pool its file. False: none can be had. */
bool sim_mempool_make_shareable(struct sim_mempool *pool);

#endif

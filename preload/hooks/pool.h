/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools. */
#ifndef GMT_PRELOAD_HOOKS_POOL_H
#define GMT_PRELOAD_HOOKS_POOL_H

#include <cuda.h>
#include <stdint.h>

#include "libtrace/record/layout.h"

/* Where the memory of a pool is, looked up by an address of it: on the device, managed or page-locked. */
enum gmt_alloc_kind gmt_pool_kind(CUmemoryPool pool, uint64_t address);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of CUDA arrays. */
#ifndef GMT_PRELOAD_HOOKS_ARRAY_H
#define GMT_PRELOAD_HOOKS_ARRAY_H

#include <cuda.h>
#include <stdint.h>

/* Bytes of one channel; 0 for formats that are stored in blocks or in planes. */
uint64_t gmt_array_channel_bytes(CUarray_format format);

#endif

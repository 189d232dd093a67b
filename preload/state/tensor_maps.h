/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor maps of the program: descriptors that it has encoded, found again in the parameters of launches. */
#ifndef GMT_PRELOAD_STATE_TENSOR_MAPS_H
#define GMT_PRELOAD_STATE_TENSOR_MAPS_H

#include <cuda.h>
#include <stdatomic.h>

#include "libtrace/record/layout.h"
#include "preload/state/kernels.h"

/* Different descriptors that have been encoded. */
extern _Atomic uint32_t gmt_tensor_map_count;

/* The id of a descriptor; what is not known is remembered and described by `map`. 0: there is no room. */
uint32_t gmt_tensor_map_id_for(const CUtensorMap *descriptor, struct gmt_tensor_map *map);
/* The id of what lies at `map`, which need not be readable; 0: it is not known. */
uint32_t gmt_tensor_map_id_at(const CUtensorMap *map);
/* What a known id stands for. */
const struct gmt_tensor_map *gmt_tensor_map_of(uint32_t id);

/* The address that descriptor `index` (below gmt_tensor_map_count) was encoded with. */
uint64_t gmt_tensor_map_address(uint32_t index);

/* The same for a program that has encoded some. */
uint8_t gmt_tensor_map_find_all(const struct gmt_kernel_info *kernel, void **parameters,
                                struct gmt_launch_arg *list, unsigned room);

/*
 * Descriptors inside the parameters of a launch, put into `list` as arguments with GMT_ARG_TENSOR_MAP;
 * returns how many. Those for which there is no room are counted as a loss. Nothing is found where the
 * layout of the parameters is not known, or `parameters` is NULL.
 */
static inline uint8_t gmt_tensor_map_arguments(const struct gmt_kernel_info *kernel,
                                               void **parameters, struct gmt_launch_arg *list,
                                               unsigned room)
{
    return __builtin_expect(gmt_tensor_map_count == 0, 1)
               ? 0
               : gmt_tensor_map_find_all(kernel, parameters, list, room);
}

/* In a forked child: nothing has been written. */
void gmt_tensor_map_reset(void);

#endif

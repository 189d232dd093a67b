/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of tensor maps that the program has encoded. */
#ifndef GMT_PRELOAD_TENSOR_MAP_H
#define GMT_PRELOAD_TENSOR_MAP_H

/* In a forked child: nothing has been written. */
void gmt_tensor_map_reset(void);

#endif

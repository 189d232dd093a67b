/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow while a module is read. */
#ifndef SIMGPU_PTX_ARRAY_H
#define SIMGPU_PTX_ARRAY_H

#include <stddef.h>

/* All zero is an empty array. The items move when it grows. */
struct ptx_array {
    void *items;
    size_t count, capacity;
};

/* Room for `count` more zeroed items of `bytes` bytes at the end; NULL when there is no memory. */
void *ptx_array_add(struct ptx_array *array, size_t count, size_t bytes);
void ptx_array_free(struct ptx_array *array);

#endif

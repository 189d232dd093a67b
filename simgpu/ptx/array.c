/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow (array.h). */
#include "simgpu/ptx/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *ptx_array_add(struct ptx_array *array, size_t count, size_t bytes)
{
    unsigned char *added;

    if (count > SIZE_MAX / 4 / bytes - array->count) {
        return NULL;
    }
    if (array->count + count > array->capacity) {
        size_t capacity = array->capacity < 16 ? 16 : array->capacity * 2;
        void *items;

        if (capacity < array->count + count) {
            capacity = array->count + count;
        }
        items = realloc(array->items, capacity * bytes);
        if (items == NULL) {
            return NULL;
        }
        array->items = items;
        array->capacity = capacity;
    }
    added = (unsigned char *)array->items + array->count * bytes;
    memset(added, 0, count * bytes);
    array->count += count;
    return added;
}

void ptx_array_free(struct ptx_array *array)
{
    free(array->items);
    *array = (struct ptx_array){0};
}

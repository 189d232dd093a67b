/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow while calls and operations are loaded. */
#include <stdlib.h>
#include <string.h>

#include "libtrace/store/ingest/join_internal.h"

void *gmt_join_push(struct gmt_join_array *array, size_t element_bytes)
{
    if (array->count == array->capacity) {
        size_t capacity = array->capacity != 0 ? 2 * array->capacity : 256;
        void *items = realloc(array->items, capacity * element_bytes);
        if (items == NULL) {
            return NULL;
        }
        array->items = items;
        array->capacity = capacity;
    }
    void *item = (char *)array->items + array->count++ * element_bytes;
    memset(item, 0, element_bytes);
    return item;
}

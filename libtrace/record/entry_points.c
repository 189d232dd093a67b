/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up the class of a driver entry point in the table made from cuda.h. */
#include "libtrace/record/entry_points.h"

#include <string.h>

const struct gmt_entry_point gmt_entry_points[] = {
#define GMT_ENTRY_POINT(name, class) {#name, GMT_ENTRY_##class},
#include "libtrace/record/entry_points.def"
#undef GMT_ENTRY_POINT
};
const size_t gmt_entry_point_count = sizeof(gmt_entry_points) / sizeof(gmt_entry_points[0]);

enum gmt_entry_class gmt_entry_class(const char *name)
{
    size_t low = 0, high = gmt_entry_point_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, gmt_entry_points[middle].name);
        if (order == 0) {
            return gmt_entry_points[middle].class;
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return GMT_ENTRY_UNKNOWN;
}

const char *gmt_entry_class_name(enum gmt_entry_class class)
{
    static const char *const names[] = {
#define GMT_ENTRY_CLASS(id, name) name,
        GMT_ENTRY_CLASSES
#undef GMT_ENTRY_CLASS
    };
    return (size_t) class < GMT_ENTRY_CLASS_COUNT ? names[class] : names[GMT_ENTRY_UNKNOWN];
}

bool gmt_entry_matters(enum gmt_entry_class class)
{
    return class != GMT_ENTRY_OTHER;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What directions of copies and classes of memory are called in traces and reports. */
#include "analyzer/trace/timeline.h"

static const char *const direction_names[GMT_COPY_DIRECTIONS] = {"h2d", "d2h",  "d2d",
                                                                 "h2h", "peer", "unknown"};
static const char *const class_names[GMT_CLASSES] = {"unknown", "pageable", "pinned",
                                                     "managed", "device",   "array"};

const char *gmt_direction_name(unsigned direction)
{
    return direction < GMT_COPY_DIRECTIONS ? direction_names[direction] : "unknown";
}

const char *gmt_class_name(unsigned memory_class)
{
    return memory_class < GMT_CLASSES ? class_names[memory_class] : "unknown";
}

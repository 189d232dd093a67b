/* SPDX-License-Identifier: Apache-2.0 */
/* What the entry points of the driver API do to memory, by name. */
#ifndef GMT_RECORD_ENTRY_POINTS_H
#define GMT_RECORD_ENTRY_POINTS_H

#include <stdbool.h>
#include <stddef.h>

/* What a call does:  GMT_ENTRY_CLASS(id, name in the trace) */
#define GMT_ENTRY_CLASSES \
    GMT_ENTRY_CLASS(UNKNOWN, "unknown")   /* newer than the table */ \
    GMT_ENTRY_CLASS(OTHER, "other")       /* asks, or sets a state */ \
    GMT_ENTRY_CLASS(MOVE, "move")         /* copies, sets or migrates bytes */ \
    GMT_ENTRY_CLASS(ALLOCATE, "allocate") /* or frees */ \
    GMT_ENTRY_CLASS(MAP, "map")           /* makes memory reachable, or no more */ \
    GMT_ENTRY_CLASS(SHARE, "share")       /* with another process, API or device on the bus */ \
    GMT_ENTRY_CLASS(LAUNCH, "launch")     /* kernels, graphs, host functions */ \
    GMT_ENTRY_CLASS(WAIT, "wait")         /* the host, or a stream for a value */ \
    GMT_ENTRY_CLASS(LOAD, "load")         /* code, and variables with it */ \
    GMT_ENTRY_CLASS(GRAPH, "graph")       /* changes what an executable graph does */

enum gmt_entry_class {
#define GMT_ENTRY_CLASS(id, name) GMT_ENTRY_##id,
    GMT_ENTRY_CLASSES
#undef GMT_ENTRY_CLASS
        GMT_ENTRY_CLASS_COUNT
};

struct gmt_entry_point {
    const char *name;
    enum gmt_entry_class class;
};
extern const struct gmt_entry_point gmt_entry_points[]; /* sorted by name */
extern const size_t gmt_entry_point_count;

/* GMT_ENTRY_UNKNOWN for a name that cuda.h does not declare. */
enum gmt_entry_class gmt_entry_class(const char *name);
const char *gmt_entry_class_name(enum gmt_entry_class class);
/* Would the trace lack something if a call went by unseen? */
bool gmt_entry_matters(enum gmt_entry_class class);

#endif

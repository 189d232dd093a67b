/* SPDX-License-Identifier: Apache-2.0 */
/* What became of each upload: did a kernel or a copy get to see its bytes? */
#ifndef GMT_ANALYZER_MEMORY_UPLOAD_FATE_H
#define GMT_ANALYZER_MEMORY_UPLOAD_FATE_H

#include "analyzer/trace/launch_rows.h"

enum gmt_upload_fate {
    GMT_FATE_SEEN,        /* or nobody can say: a launch with unknown arguments came after it */
    GMT_FATE_OVERWRITTEN, /* whole, by a copy or a memset */
    GMT_FATE_FREED,       /* with its allocation */
    GMT_FATE_LEFT,        /* untouched when the program ended, in memory that no kernel got */
};

struct gmt_upload_fates {
    unsigned char *of_copy; /* enum gmt_upload_fate by index of copy */
    bool *reachable;        /* by index of copy: kernels got its allocation at another time */
    size_t doubtful;        /* uploads that a launch with unknown arguments may have read */
};

/*
 * Follows each upload into device memory up to the first event that decides: a launch that got a
 * pointer into its allocation, a copy out of it, one over all of it, its release. Only what is in the
 * arguments of launches is known to be reached; a launch whose arguments are not complete, a graph, or
 * a kernel of a communication library may reach everything. 0, -ENOMEM or -EIO; gmt_upload_fates_free
 * in every case.
 */
int gmt_upload_fates_find(struct gmt_upload_fates *fates, const struct gmt_timeline *timeline,
                          const struct gmt_launch_rows *rows);
/* May launches of it reach memory that their arguments do not show? A graph (class_index < 0) may,
 * and kernels of a communication library, which find their buffers in queues. */
bool gmt_class_is_open_ended(const struct gmt_timeline *timeline, int32_t class_index);

void gmt_upload_fates_free(struct gmt_upload_fates *fates);

#endif

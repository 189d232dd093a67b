/* SPDX-License-Identifier: Apache-2.0 */
/* Whose bytes: one table for what a memory snapshot shows and for heaps and regions, whichever report prints it. */
#ifndef GMT_REPORTS_MODEL_WHOSE_H
#define GMT_REPORTS_MODEL_WHOSE_H

#include "libtrace/base/arena.h"
#include "reports/model/heaps.h"
#include "reports/model/snapshot.h"

enum { GMT_WHOSE_ROWS = 5 };

/* A part of the memory, and who holds it. */
struct gmt_whose_row {
    double bytes;
    const char *what;                           /* "in use, 3 regions"; NULL: the title says it */
    const struct gmt_snapshot_holders *holders; /* NULL: it is nobody's */
    const char *unit;                           /* what is counted of holders: "region" */
};

/* Parts of more than 0 bytes; they do not overlap. */
struct gmt_whose {
    const char *title; /* "1.50 GiB of device 0 at the memory snapshot, 3.00 ms" */
    struct gmt_whose_row rows[GMT_WHOSE_ROWS];
    size_t row_count;
};

/* Texts are in that arena; holders are those of the device or the moment, which have to stay. */
struct gmt_whose gmt_whose_of_heaps(struct gmt_arena *arena, const struct gmt_heaps_device *device);
struct gmt_whose gmt_whose_at_snapshot(struct gmt_arena *arena,
                                       const struct gmt_snapshot_device *device);
/* Of tensors at a moment of the history, and what was outside of the allocator then; without a title. */
struct gmt_whose gmt_whose_at_moment(const struct gmt_snapshot_moment *moment);

/* "1 region", "1,200 regions"; in that arena. */
const char *gmt_whose_count(struct gmt_arena *arena, double count, const char *what);

#endif

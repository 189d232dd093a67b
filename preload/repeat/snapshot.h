/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of the memory that a kernel can write, in device memory of its own. */
#ifndef GMT_PRELOAD_REPEAT_SNAPSHOT_H
#define GMT_PRELOAD_REPEAT_SNAPSHOT_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/repeat/reach.h"

struct gmt_snapshot {
    const struct gmt_reach *reach;
    struct gmt_extent memory; /* of ours: gmt_scan_bytes(), then the copies */
};

/* What copying `reach` one way takes, about, ns: from the copies so far. */
uint64_t gmt_snapshot_copy_ns(const struct gmt_reach *reach);

/* Is there room for the copy of `reach` and for a scan? The program's next allocation must not fail for it. */
bool gmt_snapshot_has_room(const struct gmt_reach *reach);
/* Allocate it. False: there is too little free memory. */
bool gmt_snapshot_reserve(struct gmt_snapshot *snapshot, const struct gmt_reach *reach);
/* Copy, or copy back, after gmt_scan; both are over when they return, and L2 is clean (gmt_scan_clean_l2). False: the driver refused, and it is not known what was copied. */
bool gmt_snapshot_take(const struct gmt_snapshot *snapshot);
bool gmt_snapshot_restore(const struct gmt_snapshot *snapshot);
void gmt_snapshot_release(struct gmt_snapshot *snapshot);

/* The same where freeing would have to wait, or disturb others: it is done later. */
void gmt_snapshot_release_later(struct gmt_snapshot *snapshot);
/* ... now, in the current context, in which nothing is under way. False: too much is left of other contexts. */
bool gmt_snapshot_release_late(void);
/* Is there memory of ours that is still to be freed? */
extern _Atomic unsigned gmt_snapshots_late;
/* The context is gone, and memory of ours with it. NULL: all are, in a forked child. */
void gmt_snapshot_forget(CUcontext context);

#endif

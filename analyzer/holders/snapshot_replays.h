/* SPDX-License-Identifier: Apache-2.0 */
/* What other settings of PyTorch's allocator would have reserved for the same blocks. */
#ifndef GMT_ANALYZER_HOLDERS_SNAPSHOT_REPLAYS_H
#define GMT_ANALYZER_HOLDERS_SNAPSHOT_REPLAYS_H

#include "analyzer/snapshot/history.h"
#include "reports/model/snapshot.h"

/* Fills replays and best of the device, whose recorded peak is filled. 0 or -ENOMEM. */
int gmt_snapshot_replays_fill(struct gmt_arena *arena, const struct gmt_history *history,
                              struct gmt_snapshot_device *device);

#endif

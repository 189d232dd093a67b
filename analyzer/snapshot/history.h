/* SPDX-License-Identifier: Apache-2.0 */
/* The history of a snapshot: what one device's allocator held before it began, and at any event of it. */
#ifndef GMT_ANALYZER_SNAPSHOT_HISTORY_H
#define GMT_ANALYZER_SNAPSHOT_HISTORY_H

#include "analyzer/snapshot/snapshot.h"

/* A block that was held when the history began. */
struct gmt_history_block {
    uint64_t address, requested;
    int64_t stream;
    uint32_t place;
};

struct gmt_history {
    const struct gmt_torch_snapshot *snapshot;
    size_t begin, end;                /* events of the device */
    struct gmt_history_block *before; /* by address */
    size_t before_count;
    uint64_t reserved_before; /* bytes of segments when it began */
    /* The most that was reserved, and that tensors asked for; the event after which that was first so, `begin` - 1 counting
     * as the beginning. */
    uint64_t reserved_peak, requested_peak;
    size_t requested_peak_at; /* so many events of the device had happened */
    size_t out_of_memory;     /* how many events */
};

/* 0 or -ENOMEM. To be given to gmt_history_free in any case. */
int gmt_history_load(struct gmt_history *history, const struct gmt_torch_snapshot *snapshot,
                     size_t device);
void gmt_history_free(struct gmt_history *history);

/* What was held when so many events had happened. */
struct gmt_history_state {
    uint64_t reserved, requested;
    size_t blocks;
    double *place_bytes; /* by place, the last for those of no place: places + 1 */
    double *place_blocks;
};

/* 0 or -ENOMEM. To be given to gmt_history_state_free in any case. */
int gmt_history_at(const struct gmt_history *history, size_t events,
                   struct gmt_history_state *state);
void gmt_history_state_free(struct gmt_history_state *state);

#endif

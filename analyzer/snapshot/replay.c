/* SPDX-License-Identifier: Apache-2.0 */
/* Gives the requests of a history to a simulated allocator. */
#include "analyzer/snapshot/replay.h"

#include <errno.h>

#include "analyzer/snapshot/address_map.h"
#include "analyzer/snapshot/replay_pools.h"

struct replay_run {
    struct gmt_pools pools;
    struct gmt_address_map live; /* from recorded addresses to blocks */
};

static void allocate(struct replay_run *run, uint64_t address, uint64_t bytes, int64_t stream)
{
    uint32_t old = gmt_address_take(&run->live, address);

    if (old != GMT_ADDRESS_NONE) {
        gmt_pools_free(&run->pools, old);
    }
    uint32_t block = gmt_pools_allocate(&run->pools, bytes, stream);

    if (block != GMT_NO_BLOCK && !gmt_address_put(&run->live, address, block)) {
        run->pools.rc = -ENOMEM;
    }
}

/* The request, once what is unused has been given back; then all is as before but for that. */
static void try_request(struct replay_run *run, const struct gmt_snapshot_event *event,
                        uint64_t reserved, struct gmt_replay *replay)
{
    uint64_t peak = run->pools.reserved_peak;

    gmt_pools_release(&run->pools);
    uint32_t block = run->pools.rc == 0
                         ? gmt_pools_allocate(&run->pools, event->size, event->stream)
                         : GMT_NO_BLOCK;

    replay->out_of_memory_needs = run->pools.reserved;
    replay->out_of_memory_limit = reserved + event->address;
    if (block != GMT_NO_BLOCK) {
        gmt_pools_free(&run->pools, block);
        gmt_pools_release(&run->pools);
    }
    run->pools.reserved_peak = peak;
}

static bool is_release(const struct gmt_snapshot_event *event)
{
    return event->action == GMT_SNAPSHOT_SEGMENT_FREE ||
           event->action == GMT_SNAPSHOT_SEGMENT_UNMAP;
}

int gmt_replay_run(const struct gmt_history *history, const struct gmt_allocator_settings *settings,
                   struct gmt_replay *replay)
{
    const struct gmt_snapshot_event *events = history->snapshot->events;
    uint64_t reserved = history->reserved_before; /* as recorded */
    struct replay_run run = {0};

    *replay = (struct gmt_replay){0};
    gmt_pools_begin(&run.pools, settings);
    for (size_t i = 0; run.pools.rc == 0 && i < history->before_count; i++) {
        const struct gmt_history_block *block = &history->before[i];

        allocate(&run, block->address, block->requested, block->stream);
    }
    for (size_t i = history->begin; run.pools.rc == 0 && i < history->end; i++) {
        const struct gmt_snapshot_event *event = &events[i];

        if (event->action == GMT_SNAPSHOT_ALLOC) {
            allocate(&run, event->address, event->size, event->stream);
        } else if (event->action == GMT_SNAPSHOT_FREE_COMPLETED) {
            uint32_t block = gmt_address_take(&run.live, event->address);

            if (block != GMT_ADDRESS_NONE) {
                gmt_pools_free(&run.pools, block);
            }
        } else if (event->action == GMT_SNAPSHOT_OOM) {
            try_request(&run, event, reserved, replay);
        } else if (is_release(event)) {
            reserved -= event->size < reserved ? event->size : reserved;
            if (i == history->begin || !is_release(&events[i - 1])) {
                gmt_pools_release(&run.pools);
            }
        } else if (event->action == GMT_SNAPSHOT_SEGMENT_ALLOC ||
                   event->action == GMT_SNAPSHOT_SEGMENT_MAP) {
            reserved += event->size;
        }
        if (run.pools.steps > GMT_REPLAY_MOST_STEPS) {
            run.pools.rc = -E2BIG;
        }
    }
    replay->reserved_peak = run.pools.reserved_peak;
    replay->reserved_end = run.pools.reserved;
    int rc = run.pools.rc;

    gmt_pools_end(&run.pools);
    gmt_address_free(&run.live);
    return rc;
}

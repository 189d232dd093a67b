/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What PyTorch's caching allocator would have reserved for the blocks of a history under given settings. How it works is
 * described in "Memory management" of PyTorch's documentation (docs/source/notes/cuda.rst): best fit by stream in two pools,
 * requests up to 1 MiB out of segments of 2 MiB, up to 10 MiB of 20 MiB, larger ones of multiples of 2 MiB; what is left of a
 * block is split off.
 *
 * Not replayed: garbage_collection_threshold (it takes effect only with a memory fraction, which a snapshot does not hold),
 * private pools of CUDA graphs (the history does not say which pool a block is of), and frees before an out-of-memory error that
 * would not have come. Freed segments of the history are one release of all that is unused at that time.
 */
#ifndef GMT_ANALYZER_SNAPSHOT_REPLAY_H
#define GMT_ANALYZER_SNAPSHOT_REPLAY_H

#include "analyzer/snapshot/history.h"

/* Steps of a replay: visited blocks of all releases. A history that needs more is not replayed. */
enum { GMT_REPLAY_MOST_STEPS = 1 << 26 };

struct gmt_replay {
    uint64_t reserved_peak, reserved_end;
    /* Of the last out-of-memory event: what would have been reserved with the request in place, unused segments released. */
    uint64_t out_of_memory_needs;
    /* What the device had for the allocator then: reserved + free. 0: there was no such event. */
    uint64_t out_of_memory_limit;
};

/* 0, -ENOMEM, or -E2BIG: too many steps. */
int gmt_replay_run(const struct gmt_history *history, const struct gmt_allocator_settings *settings,
                   struct gmt_replay *replay);

#endif

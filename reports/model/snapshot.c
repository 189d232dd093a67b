/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences about a memory snapshot that all formats share. */
#include "reports/model/snapshot.h"

#include <math.h>

#include "libtrace/base/arena.h"
#include "libtrace/base/format.h"

bool gmt_snapshot_peak_differs(const struct gmt_snapshot_device *device)
{
    return device->peak != NULL && device->tensor_bytes < 0.995 * device->peak->requested_bytes;
}

double gmt_snapshot_replay_error(const struct gmt_snapshot_device *device)
{
    if (device->replay_count == 0 || !(device->recorded_peak_bytes > 0)) {
        return NAN;
    }
    return device->replays[0].reserved_bytes / device->recorded_peak_bytes - 1;
}

const char *gmt_snapshot_caveats(struct gmt_arena *arena,
                                 const struct gmt_report_snapshot *snapshot,
                                 const struct gmt_snapshot_device *device)
{
    char older[GMT_FORMAT_BYTES], unknown[GMT_FORMAT_BYTES];
    const char *text = gmt_arena_text(
        arena, "%s%s%s",
        snapshot->defaults
            ? " The snapshot does not say how the allocator was set up: its defaults are assumed."
            : "",
        snapshot->private_pools
            ? " Private pools of CUDA graphs are replayed as if they were common ones."
            : "",
        snapshot->collects ? " garbage_collection_threshold is not replayed." : "");

    if (device->lost_bytes > 0) {
        text = gmt_arena_text(arena,
                              "%s Blocks of %s are older than the history: they are placed first.",
                              text, gmt_format_bytes(older, device->lost_bytes));
    }
    if (snapshot->unknown_actions > 0) {
        text = gmt_arena_text(arena, "%s Events of kinds that are not known were left out: %s.",
                              text, gmt_format_count(unknown, snapshot->unknown_actions));
    }
    return text[0] != '\0' ? text + 1 : NULL;
}

const char *gmt_snapshot_advice(struct gmt_arena *arena, const struct gmt_snapshot_device *device)
{
    char with[GMT_FORMAT_BYTES], without[GMT_FORMAT_BYTES];
    const struct gmt_snapshot_replay *best = device->best;

    if (best == NULL) {
        return NULL;
    }
    bool rescues = best->fits && !isnan(best->needed_bytes) && !device->replays[0].fits;

    if (rescues) {
        return gmt_arena_text(
            arena,
            "With %s the request that failed would have fit: %s reserved with it, in "
            "place of %s: set PYTORCH_CUDA_ALLOC_CONF=%s",
            best->setting, gmt_format_bytes(with, best->needed_bytes),
            gmt_format_bytes(without, device->replays[0].needed_bytes), best->setting);
    }
    return gmt_arena_text(
        arena, "%s would have reserved %s in place of %s: set PYTORCH_CUDA_ALLOC_CONF=%s",
        best->setting, gmt_format_bytes(with, best->reserved_bytes),
        gmt_format_bytes(without, device->replays[0].reserved_bytes), best->setting);
}

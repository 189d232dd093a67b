/* SPDX-License-Identifier: Apache-2.0 */
/* Replays a history under the recorded settings, and under each of a few changes of them. */
#include "analyzer/holders/snapshot_replays.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/snapshot/replay.h"

#define MIB (UINT64_C(1) << 20)
#define EXPANDABLE "expandable_segments:True"

static void set_expandable(struct gmt_allocator_settings *settings, uint64_t value)
{
    settings->expandable = value != 0;
}

static void set_split(struct gmt_allocator_settings *settings, uint64_t value)
{
    settings->max_split_bytes = value * MIB;
}

static void set_divisions(struct gmt_allocator_settings *settings, uint64_t value)
{
    size_t n = sizeof(settings->roundup_divisions) / sizeof(settings->roundup_divisions[0]);

    for (size_t i = 0; i < n; i++) {
        settings->roundup_divisions[i] = (unsigned)value;
    }
}

static bool is_expandable(const struct gmt_allocator_settings *settings)
{
    return settings->expandable;
}

static bool is_not_expandable(const struct gmt_allocator_settings *settings)
{
    return !settings->expandable;
}

static bool splits_all(const struct gmt_allocator_settings *settings)
{
    return !settings->expandable && settings->max_split_bytes == UINT64_MAX;
}

static bool rounds_to_512(const struct gmt_allocator_settings *settings)
{
    return settings->roundup_divisions[0] <= 1;
}

/* What is tried where the recorded settings allow it; values as PyTorch's documentation uses them. */
static const struct {
    const char *setting;
    bool (*applies)(const struct gmt_allocator_settings *settings);
    void (*set)(struct gmt_allocator_settings *settings, uint64_t value);
    uint64_t value;
} changes[] = {
    {EXPANDABLE, is_not_expandable, set_expandable, 1},
    {"expandable_segments:False", is_expandable, set_expandable, 0},
    {"max_split_size_mb:128", splits_all, set_split, 128},
    {"max_split_size_mb:512", splits_all, set_split, 512},
    {"roundup_power2_divisions:4", rounds_to_512, set_divisions, 4},
};

static int replay(struct gmt_arena *arena, const struct gmt_history *history,
                  const struct gmt_allocator_settings *settings, const char *setting,
                  struct gmt_snapshot_device *device)
{
    struct gmt_replay result;
    struct gmt_snapshot_replay *to = GMT_PUSH(arena, device->replays, device->replay_count);
    int rc = to != NULL ? gmt_replay_run(history, settings, &result) : -ENOMEM;

    if (rc != 0 && rc != -E2BIG) {
        return rc;
    }
    *to = (struct gmt_snapshot_replay){
        .setting = setting, .reserved_bytes = NAN, .needed_bytes = NAN};
    if (rc == 0) {
        to->reserved_bytes = (double)result.reserved_peak;
        if (result.out_of_memory_limit > 0) {
            to->needed_bytes = (double)result.out_of_memory_needs;
            to->fits = result.out_of_memory_needs <= result.out_of_memory_limit;
        }
    }
    return 0;
}

static bool rescues(const struct gmt_snapshot_device *device,
                    const struct gmt_snapshot_replay *with)
{
    return with->fits && !device->replays[0].fits;
}

/* A gain within the replay's own error, or too small for a change of the settings, is none. That a failed request would fit is
 * worth a change, whatever it gains at the peak. */
static bool is_worth_it(const struct gmt_snapshot_device *device,
                        const struct gmt_snapshot_replay *with)
{
    const struct gmt_snapshot_replay *now = &device->replays[0];
    double error = fabs(gmt_snapshot_replay_error(device)) * device->recorded_peak_bytes;

    return rescues(device, with) ? now->needed_bytes - with->needed_bytes > error
                                 : now->reserved_bytes - with->reserved_bytes >
                                       fmax(error, GMT_SETTING_MIN_SHARE * now->reserved_bytes);
}

/* One that makes a failed request fit goes first, then the least that is reserved: but segments that grow, where these are near to
 * it. They fit whatever is asked for; what else is best is so for the sizes of this run. */
static void choose(struct gmt_snapshot_device *device)
{
    const struct gmt_snapshot_replay *best = NULL, *expandable = NULL;

    for (size_t i = 1; i < device->replay_count; i++) {
        const struct gmt_snapshot_replay *with = &device->replays[i];

        if (!is_worth_it(device, with)) {
            continue;
        }
        expandable = strcmp(with->setting, EXPANDABLE) == 0 ? with : expandable;
        bool first = best == NULL || (rescues(device, with) && !rescues(device, best));

        if (first || (rescues(device, with) == rescues(device, best) &&
                      with->reserved_bytes < best->reserved_bytes)) {
            best = with;
        }
    }
    if (expandable != NULL && rescues(device, expandable) == rescues(device, best) &&
        expandable->reserved_bytes <= (1 + GMT_SETTING_CLOSE_SHARE) * best->reserved_bytes) {
        best = expandable;
    }
    device->best = best;
}

int gmt_snapshot_replays_fill(struct gmt_arena *arena, const struct gmt_history *history,
                              struct gmt_snapshot_device *device)
{
    const struct gmt_allocator_settings *recorded = &history->snapshot->settings;
    int rc = replay(arena, history, recorded, NULL, device);

    for (size_t i = 0; rc == 0 && i < sizeof(changes) / sizeof(changes[0]); i++) {
        if (changes[i].applies(recorded)) {
            struct gmt_allocator_settings settings = *recorded;

            changes[i].set(&settings, changes[i].value);
            rc = replay(arena, history, &settings, changes[i].setting, device);
        }
    }
    if (rc == 0) {
        choose(device);
    }
    return rc;
}

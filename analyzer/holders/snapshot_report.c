/* SPDX-License-Identifier: Apache-2.0 */
/* Whose bytes the device memory holds, as a memory snapshot beside the trace shows it. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/holders/holders.h"
#include "analyzer/holders/snapshot_holders.h"
#include "analyzer/holders/snapshot_match.h"
#include "analyzer/holders/snapshot_replays.h"

enum { MOST_ERRORS = 3 };

/* What is being filled. */
struct snapshot_work {
    struct gmt_analysis *analysis;
    const struct gmt_torch_snapshot *snapshot;
    struct gmt_snapshot_match match;
    struct gmt_report_snapshot *report;
};

static struct gmt_arena *arena_of(const struct snapshot_work *work)
{
    return work->analysis->report->arena;
}

static double since_start(const struct snapshot_work *work, int64_t at_ns)
{
    const struct gmt_timeline *tl = work->analysis->timeline;

    return tl->simulated || at_ns == GMT_NO_TIME ? NAN : (double)(at_ns - tl->start_ns);
}

/* ---- at the time of the snapshot ------------------------------------------------------------------- */

static void add_block(const struct gmt_snapshot_block *block, struct gmt_snapshot_device *device)
{
    if (block->state == GMT_BLOCK_INACTIVE) {
        device->unused_bytes += (double)block->size;
        return;
    }
    device->rounding_bytes += (double)(block->size - block->requested);
    if (block->state == GMT_BLOCK_PENDING) {
        device->pending_bytes += (double)block->requested;
    } else {
        device->tensor_bytes += (double)block->requested;
        device->blocks += 1;
    }
}

static int fill_blocks(struct snapshot_work *work, struct gmt_snapshot_device *device)
{
    const struct gmt_torch_snapshot *s = work->snapshot;
    double *bytes = calloc(s->place_count + 1, sizeof(*bytes));
    double *counts = calloc(s->place_count + 1, sizeof(*counts));
    int rc = bytes != NULL && counts != NULL ? 0 : -ENOMEM;

    for (size_t i = 0; rc == 0 && i < s->segment_count; i++) {
        const struct gmt_snapshot_segment *segment = &s->segments[i];

        if (segment->device != device->device) {
            continue;
        }
        device->segments += 1;
        device->segment_bytes += (double)segment->size;
        work->report->private_pools |= segment->private_pool;
        for (size_t k = 0; k < segment->block_count; k++) {
            const struct gmt_snapshot_block *block = &s->blocks[segment->first_block + k];
            size_t place = block->place == GMT_SNAPSHOT_NO_PLACE ? s->place_count : block->place;

            add_block(block, device);
            if (block->state == GMT_BLOCK_ACTIVE) {
                bytes[place] += (double)block->requested;
                counts[place] += 1;
            }
        }
    }
    if (rc == 0) {
        rc = gmt_snapshot_hold_places(arena_of(work), s, bytes, counts, &device->tensors);
    }
    free(bytes);
    free(counts);
    return rc;
}

/* Bytes of the device's segments that allocations of the trace are. */
static double matched_bytes(const struct snapshot_work *work, int64_t device)
{
    const struct gmt_memory *memory = work->analysis->memory;
    double bytes = 0;

    for (size_t i = 0; i < memory->count; i++) {
        const struct gmt_memory_row *row = &memory->rows[i];
        const struct gmt_snapshot_segment *segment = gmt_snapshot_match_row(work->snapshot, row);

        if (segment != NULL && segment->device == device && row->lives_ns <= work->match.at_ns &&
            gmt_memory_freed_ns(row) > work->match.at_ns) {
            bytes += (double)row->bytes;
        }
    }
    return bytes;
}

static int fill_trace(struct snapshot_work *work, struct gmt_snapshot_device *device)
{
    int rc = 0;

    device->at_ns = since_start(work, work->match.at_ns);
    device->aligned = work->match.offset_ns != INT64_MIN;
    device->unmatched_bytes = device->segment_bytes;
    if (work->match.at_ns != GMT_NO_TIME) {
        device->unmatched_bytes -= matched_bytes(work, device->device);
        rc = gmt_snapshot_hold_others(work->analysis, work->match.at_ns, device->device,
                                      &device->others, &device->other_bytes);
    }
    if (device->unmatched_bytes < 0) {
        device->unmatched_bytes = 0; /* allocations of two moments at one address */
    }
    device->total_bytes = device->segment_bytes + device->other_bytes;
    return rc;
}

/* ---- history --------------------------------------------------------------------------------------- */

static int fill_moment(struct snapshot_work *work, const struct gmt_history *history, size_t events,
                       int64_t device, struct gmt_snapshot_moment *moment)
{
    struct gmt_history_state state;
    const struct gmt_snapshot_event *last =
        events > 0 ? &work->snapshot->events[history->begin + events - 1] : NULL;
    int64_t at_ns = last != NULL ? gmt_snapshot_match_time(&work->match, last->time_us)
                                 : GMT_NO_TIME;
    int rc = gmt_history_at(history, events, &state);

    *moment = (struct gmt_snapshot_moment){.at_ns = since_start(work, at_ns),
                                           .reserved_bytes = (double)state.reserved,
                                           .requested_bytes = (double)state.requested,
                                           .asked_bytes = NAN,
                                           .free_bytes = NAN,
                                           .other_bytes = NAN};
    if (last != NULL && last->action == GMT_SNAPSHOT_OOM) {
        moment->asked_bytes = (double)last->size;
        moment->free_bytes = (double)last->address;
    }
    if (rc == 0) {
        rc = gmt_snapshot_hold_places(arena_of(work), work->snapshot, state.place_bytes,
                                      state.place_blocks, &moment->holders);
    }
    gmt_history_state_free(&state);
    if (rc == 0 && at_ns != GMT_NO_TIME) {
        rc = gmt_snapshot_hold_others(work->analysis, at_ns, device, &moment->others,
                                      &moment->other_bytes);
    }
    return rc;
}

static int fill_errors(struct snapshot_work *work, const struct gmt_history *history,
                       struct gmt_snapshot_device *device)
{
    size_t skipped = history->out_of_memory > MOST_ERRORS ? history->out_of_memory - MOST_ERRORS
                                                          : 0;
    int rc = 0;

    device->all_errors = (double)history->out_of_memory;
    for (size_t i = history->begin; rc == 0 && i < history->end; i++) {
        if (work->snapshot->events[i].action != GMT_SNAPSHOT_OOM) {
            continue;
        }
        if (skipped > 0) {
            skipped--;
            continue;
        }
        struct gmt_snapshot_moment *moment = GMT_PUSH(arena_of(work), device->errors,
                                                      device->error_count);

        rc = moment != NULL
                 ? fill_moment(work, history, i + 1 - history->begin, device->device, moment)
                 : -ENOMEM;
    }
    return rc;
}

static int fill_history(struct snapshot_work *work, struct gmt_snapshot_device *device)
{
    struct gmt_history history;
    int rc = gmt_history_load(&history, work->snapshot, (size_t)device->device);

    device->events = (double)(history.end - history.begin);
    device->recorded_peak_bytes = NAN;
    if (rc == 0 && history.end > history.begin) {
        struct gmt_snapshot_moment *peak = gmt_arena_alloc(arena_of(work), sizeof(*peak));

        device->recorded_peak_bytes = (double)history.reserved_peak;
        for (size_t i = 0; i < history.before_count; i++) {
            device->lost_bytes += (double)history.before[i].requested;
        }
        device->peak = peak;
        rc = peak != NULL
                 ? fill_moment(work, &history, history.requested_peak_at, device->device, peak)
                 : -ENOMEM;
        if (rc == 0) {
            rc = fill_errors(work, &history, device);
        }
        if (rc == 0) {
            rc = gmt_snapshot_replays_fill(arena_of(work), &history, device);
        }
    }
    gmt_history_free(&history);
    return rc;
}

/* ---- devices --------------------------------------------------------------------------------------- */

/* Has segments or a history. */
static bool is_used(const struct gmt_torch_snapshot *snapshot, size_t device)
{
    bool used = device < snapshot->device_count &&
                snapshot->device_events[device + 1] > snapshot->device_events[device];

    for (size_t i = 0; !used && i < snapshot->segment_count; i++) {
        used = (size_t)snapshot->segments[i].device == device;
    }
    return used;
}

int gmt_snapshot_report(struct gmt_analysis *analysis)
{
    struct snapshot_work work = {.analysis = analysis, .snapshot = analysis->snapshot};

    if (work.snapshot == NULL) {
        return 0;
    }
    work.report = gmt_arena_alloc(arena_of(&work), sizeof(*work.report));
    int rc = work.report != NULL
                 ? gmt_snapshot_match_find(analysis->memory, work.snapshot, &work.match)
                 : -ENOMEM;

    if (rc != 0) {
        return rc;
    }
    *work.report = (struct gmt_report_snapshot){
        .path = work.snapshot->path,
        .conf = work.snapshot->conf,
        .defaults = !work.snapshot->has_settings,
        .collects = work.snapshot->settings.garbage_collection > 0,
        .unknown_actions = (double)work.snapshot->unknown_actions};
    for (size_t i = 0; rc == 0 && i < GMT_SNAPSHOT_MOST_DEVICES; i++) {
        if (!is_used(work.snapshot, i)) {
            continue;
        }
        struct gmt_snapshot_device *device = GMT_PUSH(arena_of(&work), work.report->devices,
                                                      work.report->device_count);

        if (device == NULL) {
            return -ENOMEM;
        }
        device->device = (int64_t)i;
        rc = fill_blocks(&work, device);
        if (rc == 0) {
            rc = fill_trace(&work, device);
        }
        if (rc == 0) {
            rc = fill_history(&work, device);
        }
    }
    analysis->report->snapshot = work.report;
    return rc;
}

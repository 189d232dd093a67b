/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the events of a history; what it frees without having allocated it was there before. */
#include "analyzer/snapshot/history.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/snapshot/address_map.h"

/* Segments grow and shrink by this event. */
static int64_t reserved_by(const struct gmt_snapshot_event *event)
{
    switch (event->action) {
    case GMT_SNAPSHOT_SEGMENT_ALLOC:
    case GMT_SNAPSHOT_SEGMENT_MAP: return (int64_t)event->size;
    case GMT_SNAPSHOT_SEGMENT_FREE:
    case GMT_SNAPSHOT_SEGMENT_UNMAP: return -(int64_t)event->size;
    default: return 0;
    }
}

static int add_before(struct gmt_history *history, size_t *room, struct gmt_history_block block)
{
    if (history->before_count == *room) {
        size_t more = *room == 0 ? 64 : 2 * *room;
        struct gmt_history_block *grown = realloc(history->before, more * sizeof(*grown));

        if (grown == NULL) {
            return -ENOMEM;
        }
        history->before = grown;
        *room = more;
    }
    history->before[history->before_count++] = block;
    return 0;
}

/* Blocks that are freed in the history, or live at its end, and were not allocated in it. */
static int find_before(struct gmt_history *history, size_t device)
{
    const struct gmt_torch_snapshot *s = history->snapshot;
    struct gmt_address_map live = {0};
    size_t room = 0;
    int rc = 0;

    for (size_t i = history->begin; rc == 0 && i < history->end; i++) {
        const struct gmt_snapshot_event *event = &s->events[i];

        if (event->action == GMT_SNAPSHOT_ALLOC) {
            rc = gmt_address_put(&live, event->address, 0) ? 0 : -ENOMEM;
        } else if (event->action == GMT_SNAPSHOT_FREE_COMPLETED &&
                   gmt_address_take(&live, event->address) == GMT_ADDRESS_NONE) {
            rc = add_before(history, &room,
                            (struct gmt_history_block){event->address, event->size, event->stream,
                                                       GMT_SNAPSHOT_NO_PLACE});
        }
    }
    for (size_t i = 0; rc == 0 && i < s->segment_count; i++) {
        const struct gmt_snapshot_segment *segment = &s->segments[i];

        for (size_t k = 0; rc == 0 && k < segment->block_count; k++) {
            const struct gmt_snapshot_block *block = &s->blocks[segment->first_block + k];

            if ((size_t)segment->device == device && block->state != GMT_BLOCK_INACTIVE &&
                gmt_address_get(&live, block->address) == GMT_ADDRESS_NONE) {
                rc = add_before(history, &room,
                                (struct gmt_history_block){block->address, block->requested,
                                                           segment->stream, block->place});
            }
        }
    }
    gmt_address_free(&live);
    return rc;
}

static int compare_blocks(const void *a, const void *b)
{
    const struct gmt_history_block *x = a, *y = b;

    return (x->address > y->address) - (x->address < y->address);
}

static void find_reserved(struct gmt_history *history, size_t device)
{
    const struct gmt_torch_snapshot *s = history->snapshot;
    int64_t now = 0;

    for (size_t i = 0; i < s->segment_count; i++) {
        now += (size_t)s->segments[i].device == device ? (int64_t)s->segments[i].size : 0;
    }
    int64_t peak = now;
    for (size_t i = history->end; i-- > history->begin;) {
        now -= reserved_by(&s->events[i]);
        peak = now > peak ? now : peak;
    }
    /* Less than nothing: the history lacks a segment's beginning. */
    history->reserved_before = now > 0 ? (uint64_t)now : 0;
    history->reserved_peak = (uint64_t)peak;
}

/* ---- a moment ------------------------------------------------------------------------------------ */

/* Blocks by the index of what made them: an event, or behind all events one of before. */
struct walk {
    const struct gmt_history *history;
    struct gmt_address_map live;
    uint64_t requested;
    int rc;
};

static uint64_t bytes_of(const struct gmt_history *history, uint32_t index)
{
    const struct gmt_torch_snapshot *s = history->snapshot;

    return index < s->event_count ? s->events[index].size
                                  : history->before[index - s->event_count].requested;
}

static void hold(struct walk *walk, uint64_t address, uint32_t index)
{
    uint32_t old = gmt_address_get(&walk->live, address);

    if (old != GMT_ADDRESS_NONE) {
        walk->requested -= bytes_of(walk->history, old);
    }
    walk->requested += bytes_of(walk->history, index);
    if (!gmt_address_put(&walk->live, address, index)) {
        walk->rc = -ENOMEM;
    }
}

static void walk_begin(struct walk *walk, const struct gmt_history *history)
{
    *walk = (struct walk){.history = history};
    for (size_t i = 0; walk->rc == 0 && i < history->before_count; i++) {
        hold(walk, history->before[i].address, (uint32_t)(history->snapshot->event_count + i));
    }
}

static void walk_event(struct walk *walk, size_t index)
{
    const struct gmt_snapshot_event *event = &walk->history->snapshot->events[index];

    if (event->action == GMT_SNAPSHOT_ALLOC) {
        hold(walk, event->address, (uint32_t)index);
    } else if (event->action == GMT_SNAPSHOT_FREE_COMPLETED) {
        uint32_t old = gmt_address_take(&walk->live, event->address);

        walk->requested -= old != GMT_ADDRESS_NONE ? bytes_of(walk->history, old) : 0;
    }
}

static int find_peak(struct gmt_history *history)
{
    struct walk walk;

    walk_begin(&walk, history);
    history->requested_peak = walk.requested;
    for (size_t i = history->begin; walk.rc == 0 && i < history->end; i++) {
        walk_event(&walk, i);
        if (walk.requested > history->requested_peak) {
            history->requested_peak = walk.requested;
            history->requested_peak_at = i + 1 - history->begin;
        }
        history->out_of_memory += history->snapshot->events[i].action == GMT_SNAPSHOT_OOM;
    }
    gmt_address_free(&walk.live);
    return walk.rc;
}

int gmt_history_load(struct gmt_history *history, const struct gmt_torch_snapshot *snapshot,
                     size_t device)
{
    *history = (struct gmt_history){.snapshot = snapshot};
    if (device < snapshot->device_count) {
        history->begin = snapshot->device_events[device];
        history->end = snapshot->device_events[device + 1];
    }
    int rc = find_before(history, device);

    if (rc != 0) {
        return rc;
    }
    if (history->before_count > 1) {
        qsort(history->before, history->before_count, sizeof(*history->before), compare_blocks);
    }
    find_reserved(history, device);
    return find_peak(history);
}

void gmt_history_free(struct gmt_history *history)
{
    free(history->before);
    *history = (struct gmt_history){0};
}

static uint32_t place_of(const struct gmt_history *history, uint32_t index)
{
    const struct gmt_torch_snapshot *s = history->snapshot;

    return index < s->event_count ? s->events[index].place
                                  : history->before[index - s->event_count].place;
}

int gmt_history_at(const struct gmt_history *history, size_t events,
                   struct gmt_history_state *state)
{
    size_t places = history->snapshot->place_count;
    size_t until = history->begin + events < history->end ? history->begin + events : history->end;
    int64_t reserved = (int64_t)history->reserved_before;
    struct walk walk;

    walk_begin(&walk, history);
    for (size_t i = history->begin; walk.rc == 0 && i < until; i++) {
        walk_event(&walk, i);
        reserved += reserved_by(&history->snapshot->events[i]);
    }
    *state = (struct gmt_history_state){
        .reserved = reserved > 0 ? (uint64_t)reserved : 0,
        .requested = walk.requested,
        .blocks = walk.live.count,
        .place_bytes = calloc(places + 1, sizeof(*state->place_bytes)),
        .place_blocks = calloc(places + 1, sizeof(*state->place_blocks))};
    if (state->place_bytes == NULL || state->place_blocks == NULL) {
        walk.rc = -ENOMEM;
    }
    for (size_t i = 0; walk.rc == 0 && i < walk.live.size; i++) {
        uint32_t index = walk.live.entries[i].value;

        if (index != GMT_ADDRESS_NONE) {
            uint32_t place = place_of(history, index);
            size_t at = place == GMT_SNAPSHOT_NO_PLACE ? places : place;

            state->place_bytes[at] += (double)bytes_of(history, index);
            state->place_blocks[at] += 1;
        }
    }
    gmt_address_free(&walk.live);
    return walk.rc;
}

void gmt_history_state_free(struct gmt_history_state *state)
{
    free(state->place_bytes);
    free(state->place_blocks);
    *state = (struct gmt_history_state){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Segments and allocations are matched by address and size; what is at an address changes with time. */
#include "analyzer/holders/snapshot_match.h"

#include <errno.h>
#include <stdlib.h>

const struct gmt_snapshot_segment *gmt_snapshot_match_row(const struct gmt_torch_snapshot *snapshot,
                                                          const struct gmt_memory_row *row)
{
    size_t low = 0, high = snapshot->segment_count;

    if (row->host || row->bytes <= 0 || row->address <= 0) {
        return NULL;
    }
    /* The last segment that begins at or before it. */
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (snapshot->segments[middle].address <= (uint64_t)row->address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const struct gmt_snapshot_segment *segment = low > 0 ? &snapshot->segments[low - 1] : NULL;

    if (segment == NULL) {
        return NULL;
    }
    uint64_t offset = (uint64_t)row->address - segment->address;
    return offset <= segment->size && (uint64_t)row->bytes <= segment->size - offset ? segment
                                                                                     : NULL;
}

struct segment_change {
    int64_t at_ns, bytes;
};

static int compare_changes(const void *a, const void *b)
{
    const struct segment_change *x = a, *y = b;

    return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

/* The last interval in which most bytes of segments were there; empty: they never were. */
static int find_interval(const struct gmt_memory *memory, const struct gmt_torch_snapshot *snapshot,
                         struct gmt_interval *interval)
{
    struct segment_change *changes = malloc((2 * memory->count + 1) * sizeof(*changes));
    size_t n = 0;
    int64_t now = 0, most = 0;

    if (changes == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < memory->count; i++) {
        const struct gmt_memory_row *row = &memory->rows[i];

        if (gmt_snapshot_match_row(snapshot, row) != NULL) {
            changes[n++] = (struct segment_change){row->lives_ns, row->bytes};
            changes[n++] = (struct segment_change){gmt_memory_freed_ns(row), -row->bytes};
        }
    }
    qsort(changes, n, sizeof(*changes), compare_changes);
    *interval = (struct gmt_interval){0, 0};
    for (size_t i = 0; i < n; i++) {
        now += changes[i].bytes;
        bool is_last = i + 1 == n || changes[i + 1].at_ns > changes[i].at_ns;

        if (is_last && now > 0 && now >= most) {
            most = now;
            interval->begin_ns = changes[i].at_ns;
            interval->end_ns = i + 1 < n ? changes[i + 1].at_ns : INT64_MAX;
        }
    }
    free(changes);
    return 0;
}

/* ---- two clocks ---------------------------------------------------------------------------------- */

/* An allocation of the trace. */
struct placed_row {
    uint64_t address, bytes;
    int64_t at_ns;
};

static int compare_addresses(const void *a, const void *b)
{
    const struct placed_row *x = a, *y = b;

    return (x->address > y->address) - (x->address < y->address);
}

static int compare_times(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The only one of that address, of that size too; NULL: there is none, or several. */
static const struct placed_row *only_place(const struct placed_row *places, size_t n,
                                           const struct gmt_snapshot_event *event)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (places[middle].address < event->address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool is_only = low < n && (low + 1 == n || places[low + 1].address != event->address);

    return is_only && places[low].address == event->address && places[low].bytes == event->size
               ? &places[low]
               : NULL;
}

/* Between what the history says of a segment and what the trace says of the same: the median. */
static int find_offset(const struct gmt_memory *memory, const struct gmt_torch_snapshot *snapshot,
                       int64_t *offset_ns)
{
    struct placed_row *places = malloc((memory->count + 1) * sizeof(*places));
    int64_t *offsets = malloc((snapshot->event_count + 1) * sizeof(*offsets));
    size_t n = 0, known = 0;

    *offset_ns = INT64_MIN;
    for (size_t i = 0; places != NULL && i < memory->count; i++) {
        const struct gmt_memory_row *row = &memory->rows[i];

        if (!row->host && row->address > 0 && row->bytes > 0) {
            places[n++] = (struct placed_row){(uint64_t)row->address, (uint64_t)row->bytes,
                                              row->lives_ns};
        }
    }
    if (places != NULL && n > 1) {
        qsort(places, n, sizeof(*places), compare_addresses);
    }
    for (size_t i = 0; places != NULL && offsets != NULL && i < snapshot->event_count; i++) {
        const struct gmt_snapshot_event *event = &snapshot->events[i];
        bool is_new = event->action == GMT_SNAPSHOT_SEGMENT_ALLOC ||
                      event->action == GMT_SNAPSHOT_SEGMENT_MAP;
        const struct placed_row *place = is_new ? only_place(places, n, event) : NULL;

        if (place != NULL && event->time_us > 0 && event->time_us < INT64_MAX / 2000) {
            offsets[known++] = place->at_ns - event->time_us * 1000;
        }
    }
    if (known > 0) {
        qsort(offsets, known, sizeof(*offsets), compare_times);
        *offset_ns = offsets[known / 2];
    }
    int rc = places != NULL && offsets != NULL ? 0 : -ENOMEM;

    free(places);
    free(offsets);
    return rc;
}

int64_t gmt_snapshot_match_time(const struct gmt_snapshot_match *match, int64_t time_us)
{
    if (match->offset_ns == INT64_MIN || time_us <= 0 || time_us >= INT64_MAX / 2000) {
        return GMT_NO_TIME;
    }
    return time_us * 1000 + match->offset_ns;
}

/* The last event of any device. */
static int64_t taken_us(const struct gmt_torch_snapshot *snapshot)
{
    int64_t last = INT64_MIN;

    for (size_t i = 0; i < snapshot->event_count; i++) {
        last = snapshot->events[i].time_us > last ? snapshot->events[i].time_us : last;
    }
    return last;
}

int gmt_snapshot_match_find(const struct gmt_memory *memory,
                            const struct gmt_torch_snapshot *snapshot,
                            struct gmt_snapshot_match *match)
{
    struct gmt_interval fits;
    int rc = find_interval(memory, snapshot, &fits);

    *match = (struct gmt_snapshot_match){.at_ns = GMT_NO_TIME, .offset_ns = INT64_MIN};
    if (rc != 0 || fits.end_ns <= fits.begin_ns) {
        return rc;
    }
    rc = find_offset(memory, snapshot, &match->offset_ns);
    int64_t taken = gmt_snapshot_match_time(match, taken_us(snapshot));

    if (fits.end_ns > memory->timeline->end_ns) {
        fits.end_ns = memory->timeline->end_ns + 1; /* never freed */
    }
    match->at_ns = taken == GMT_NO_TIME || taken >= fits.end_ns ? fits.end_ns - 1 : taken;
    if (match->at_ns < fits.begin_ns) {
        match->at_ns = fits.begin_ns;
    }
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Whose bytes the program's allocators hold, by the regions that they register: when these held most. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/holders/heap_names.h"
#include "analyzer/holders/holders.h"
#include "analyzer/holders/region_places.h"
#include "analyzer/holders/snapshot_holders.h"
#include "analyzer/trace/query.h"
#include "libtrace/record/checked.h"
#include "reports/model/heaps.h"

enum { MOST_DEVICES = 64 };

struct heaps_work {
    struct gmt_analysis *analysis;
    const struct gmt_memory *memory;
    const struct gmt_heaps *heaps;
    struct gmt_region_places places;
    struct gmt_heaps_device *device;
    int64_t at_ns;
};

static bool is_of(const struct heaps_work *work, int64_t device_id)
{
    return gmt_heaps_is_on(work->memory, device_id, work->device->device);
}

static bool is_live(int64_t from_ns, int64_t until_ns, int64_t at_ns)
{
    return from_ns <= at_ns && until_ns > at_ns;
}

/* ---- when ------------------------------------------------------------------------------------------ */

struct region_change {
    int64_t at_ns, bytes;
};

static int compare_changes(const void *a, const void *b)
{
    const struct region_change *x = a, *y = b;

    if (x->at_ns != y->at_ns) {
        return x->at_ns < y->at_ns ? -1 : 1;
    }
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* The first moment at which regions of the device held most; GMT_NO_TIME: there are none. */
static int find_moment(struct heaps_work *work)
{
    const struct gmt_heaps *heaps = work->heaps;
    struct region_change *changes = calloc(2 * heaps->region_count + 1, sizeof(*changes));
    int64_t now = 0, most = 0;
    size_t n = 0;

    work->at_ns = GMT_NO_TIME;
    if (changes == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < heaps->region_count; i++) {
        const struct gmt_heap_row *region = &heaps->regions[i];

        if (is_of(work, region->device_id) && region->until_ns > region->begin_ns) {
            changes[n++] = (struct region_change){region->begin_ns, region->bytes};
            changes[n++] = (struct region_change){region->until_ns, -region->bytes};
        }
    }
    if (n > 1) {
        qsort(changes, n, sizeof(*changes), compare_changes);
    }
    for (size_t i = 0; i < n; i++) {
        now = gmt_add_clamped(now, changes[i].bytes);
        if (now > most) {
            most = now;
            work->at_ns = changes[i].at_ns;
        }
    }
    free(changes);
    return 0;
}

/* ---- who holds what then ---------------------------------------------------------------------------- */

enum held_kind { PIECE_ALLOCATION, PIECE_HEAP, PIECE_REGION };

/* Of two at one address the later one is the inner one. */
struct held_piece {
    int64_t first, end, order;
    size_t index;
    enum held_kind kind;
};

struct held_pieces {
    struct held_piece *list;
    size_t count;
    int64_t *edges; /* begins and ends, in order */
    size_t edge_count;
    size_t *open; /* a heap of pieces, the latest on top */
    size_t open_count;
    double *bytes; /* of each piece: what is of no inner one, and is allocated */
};

static int compare_pieces(const void *a, const void *b)
{
    const struct held_piece *x = a, *y = b;

    if (x->first != y->first) {
        return x->first < y->first ? -1 : 1;
    }
    return (x->order > y->order) - (x->order < y->order);
}

static int compare_edges(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void add_piece(struct held_pieces *pieces, int64_t first, int64_t bytes, int64_t order,
                      size_t index, enum held_kind kind)
{
    pieces->edges[pieces->edge_count++] = first;
    pieces->edges[pieces->edge_count++] = first + bytes;
    pieces->list[pieces->count++] = (struct held_piece){first, first + bytes, order, index, kind};
}

static int find_pieces(const struct heaps_work *work, struct held_pieces *pieces)
{
    const struct gmt_memory *memory = work->memory;
    const struct gmt_heaps *heaps = work->heaps;
    size_t room = memory->count + heaps->heap_count + heaps->region_count + 1;

    *pieces = (struct held_pieces){.list = calloc(room, sizeof(*pieces->list)),
                                   .edges = calloc(2 * room, sizeof(*pieces->edges)),
                                   .open = calloc(room, sizeof(*pieces->open)),
                                   .bytes = calloc(room, sizeof(*pieces->bytes))};
    if (pieces->list == NULL || pieces->edges == NULL || pieces->open == NULL ||
        pieces->bytes == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < memory->count; i++) {
        const struct gmt_memory_row *row = &memory->rows[i];

        if (gmt_memory_has_place(row) && is_of(work, row->device_id) &&
            is_live(row->lives_ns, gmt_memory_freed_ns(row), work->at_ns)) {
            add_piece(pieces, row->address, row->bytes, INT64_MIN, i, PIECE_ALLOCATION);
        }
    }
    for (size_t i = 0; i < heaps->heap_count + heaps->region_count; i++) {
        bool is_heap = i < heaps->heap_count;
        size_t index = is_heap ? i : i - heaps->heap_count;
        const struct gmt_heap_row *row = is_heap ? &heaps->heaps[index] : &heaps->regions[index];

        if ((!is_heap || row->is_pool) && is_live(row->begin_ns, row->until_ns, work->at_ns)) {
            add_piece(pieces, row->address, row->bytes, row->id, index,
                      is_heap ? PIECE_HEAP : PIECE_REGION);
        }
    }
    qsort(pieces->list, pieces->count, sizeof(*pieces->list), compare_pieces);
    qsort(pieces->edges, pieces->edge_count, sizeof(*pieces->edges), compare_edges);
    return 0;
}

static void swap_open(struct held_pieces *pieces, size_t i, size_t k)
{
    size_t other = pieces->open[i];

    pieces->open[i] = pieces->open[k];
    pieces->open[k] = other;
}

static int64_t order_of(const struct held_pieces *pieces, size_t i)
{
    return pieces->list[pieces->open[i]].order;
}

static void push_open(struct held_pieces *pieces, size_t piece)
{
    size_t i = pieces->open_count++;

    pieces->open[i] = piece;
    while (i > 0 && order_of(pieces, (i - 1) / 2) < order_of(pieces, i)) {
        swap_open(pieces, i, (i - 1) / 2);
        i = (i - 1) / 2;
    }
}

static void pop_open(struct held_pieces *pieces)
{
    size_t i = 0;

    pieces->open[0] = pieces->open[--pieces->open_count];
    for (;;) {
        size_t largest = i;

        for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < pieces->open_count; k++) {
            largest = order_of(pieces, k) > order_of(pieces, largest) ? k : largest;
        }
        if (largest == i) {
            return;
        }
        swap_open(pieces, i, largest);
        i = largest;
    }
}

/* From edge to edge: what is allocated there is of the innermost piece. */
static void share_bytes(struct held_pieces *pieces)
{
    size_t next = 0;
    int64_t allocated_until = INT64_MIN;

    for (size_t e = 0; e + 1 < pieces->edge_count; e++) {
        int64_t from = pieces->edges[e], to = pieces->edges[e + 1];

        if (from == to) {
            continue;
        }
        for (; next < pieces->count && pieces->list[next].first <= from; next++) {
            const struct held_piece *piece = &pieces->list[next];

            push_open(pieces, next);
            if (piece->kind == PIECE_ALLOCATION && piece->end > allocated_until) {
                allocated_until = piece->end;
            }
        }
        while (pieces->open_count > 0 && pieces->list[pieces->open[0]].end <= from) {
            pop_open(pieces);
        }
        if (pieces->open_count > 0 && allocated_until > from) {
            pieces->bytes[pieces->open[0]] += (double)(to - from);
        }
    }
}

static void free_pieces(struct held_pieces *pieces)
{
    free(pieces->list);
    free(pieces->edges);
    free(pieces->open);
    free(pieces->bytes);
}

/* A region's bytes count to its heap as well. */
static void add_to_heap(const struct gmt_heaps *heaps, const struct gmt_heap_row *region,
                        double bytes, struct gmt_heap_share *shares)
{
    const struct gmt_heap_row *heap = gmt_heaps_find(heaps, region->heap_id);

    if (heap != NULL) {
        shares[heap - heaps->heaps].region_bytes += bytes;
        shares[heap - heaps->heaps].is_there = true;
    }
}

/* Sums by kind and by heap, and the holders of regions and of what is outside. */
static int fill_holders(struct heaps_work *work, const struct held_pieces *pieces,
                        struct gmt_heap_share *shares)
{
    struct gmt_heaps_device *device = work->device;
    struct gmt_arena *arena = work->analysis->report->arena;
    struct gmt_snapshot_holder *regions = calloc(pieces->count + 1, sizeof(*regions));
    struct gmt_snapshot_holder *others = calloc(pieces->count + 1, sizeof(*others));
    size_t region_count = 0, other_count = 0;
    int rc = regions != NULL && others != NULL ? 0 : -ENOMEM;

    for (size_t i = 0; rc == 0 && i < pieces->count; i++) {
        const struct held_piece *piece = &pieces->list[i];
        double bytes = pieces->bytes[i];

        if (piece->kind == PIECE_HEAP) {
            /* One of reserved addresses need not begin in memory. */
            bool is_there = bytes > 0 || is_of(work, work->heaps->heaps[piece->index].device_id);

            device->slack_bytes += bytes;
            device->heaps += is_there;
            shares[piece->index].slack_bytes += bytes;
            shares[piece->index].is_there = shares[piece->index].is_there || is_there;
        } else if (bytes > 0 && piece->kind == PIECE_REGION) {
            device->region_bytes += bytes;
            device->regions += 1;
            add_to_heap(work->heaps, &work->heaps->regions[piece->index], bytes, shares);
            regions[region_count] = gmt_region_place(&work->places,
                                                     &work->heaps->regions[piece->index]);
            regions[region_count].count = 1;
            regions[region_count++].bytes = bytes;
        } else if (bytes > 0) {
            device->other_bytes += bytes;
            others[other_count] = gmt_snapshot_holder_of(work->analysis,
                                                         &work->memory->rows[piece->index]);
            others[other_count].count = 1;
            others[other_count++].bytes = bytes;
        }
    }
    if (rc == 0) {
        rc = gmt_snapshot_hold_all(arena, regions, region_count, &device->holders);
    }
    if (rc == 0) {
        rc = gmt_snapshot_hold_all(arena, others, other_count, &device->others);
    }
    free(regions);
    free(others);
    return rc;
}

static void find_left(struct heaps_work *work)
{
    for (size_t i = 0; i < work->heaps->region_count; i++) {
        const struct gmt_heap_row *region = &work->heaps->regions[i];

        if (region->until_ns == INT64_MAX && is_of(work, region->device_id)) {
            work->device->left_bytes += (double)region->bytes;
            work->device->left_count += 1;
        }
    }
}

static int fill_device(struct heaps_work *work)
{
    const struct gmt_timeline *tl = work->memory->timeline;
    struct gmt_heap_share *shares = calloc(work->heaps->heap_count + 1, sizeof(*shares));
    struct held_pieces pieces;
    int rc = find_pieces(work, &pieces);

    rc = rc == 0 && shares == NULL ? -ENOMEM : rc;
    if (rc == 0) {
        share_bytes(&pieces);
        rc = fill_holders(work, &pieces, shares);
    }
    if (rc == 0) {
        rc = gmt_heaps_hold_names(work->analysis, shares, work->device);
    }
    free_pieces(&pieces);
    free(shares);
    find_left(work);
    work->device->at_ns = tl->simulated ? NAN : (double)(work->at_ns - tl->start_ns);
    work->device->total_bytes = work->device->region_bytes + work->device->slack_bytes +
                                work->device->other_bytes;
    return rc;
}

int gmt_heaps_report(struct gmt_analysis *analysis)
{
    struct gmt_arena *arena = analysis->report->arena;
    struct heaps_work work = {
        .analysis = analysis, .memory = analysis->memory, .heaps = &analysis->memory->heaps};
    struct gmt_report_heaps *report;
    int rc = 0;

    if (work.heaps->region_count == 0) {
        return 0;
    }
    report = gmt_arena_alloc(arena, sizeof(*report));
    rc = report != NULL ? gmt_region_places_find(&work.places, analysis) : -ENOMEM;
    for (int64_t i = 0; rc == 0 && i < MOST_DEVICES; i++) {
        struct gmt_heaps_device device = {.device = i};

        work.device = &device;
        rc = find_moment(&work);
        if (rc != 0 || work.at_ns == GMT_NO_TIME) {
            continue;
        }
        rc = fill_device(&work);
        struct gmt_heaps_device *to = rc == 0
                                          ? GMT_PUSH(arena, report->devices, report->device_count)
                                          : NULL;
        if (to == NULL) {
            rc = rc != 0 ? rc : -ENOMEM;
        } else {
            *to = device;
        }
    }
    if (rc == 0 && report->device_count > 0) {
        analysis->report->heaps = report;
    }
    gmt_region_places_free(&work.places);
    return rc;
}

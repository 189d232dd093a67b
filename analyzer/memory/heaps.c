/* SPDX-License-Identifier: Apache-2.0 */
/* Heaps and regions from the trace's tables, and the allocations that they lie in. */
#include "analyzer/memory/heaps.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/memory/memory.h"
#include "analyzer/trace/query.h"
#include "libtrace/store/db/guard.h"
#include "libtrace/store/db/own_schema.h"

/* Allocations that are looked at for all heaps and regions together: a program's hardly overlap, in time and place. */
#define MOST_STEPS ((size_t)1 << 26)

enum { NO_DEVICE = -2 };

/* Device memory by address. */
struct placed_memory {
    struct gmt_memory_row *row;
    int64_t end;
    int64_t furthest; /* the largest end up to this one */
    int64_t part;     /* address of a region that is a part of it; 0: none has been seen */
};
struct memory_places {
    struct placed_memory *list;
    size_t count, steps;
};

static int compare_places(const void *a, const void *b)
{
    const struct gmt_memory_row *x = ((const struct placed_memory *)a)->row;
    const struct gmt_memory_row *y = ((const struct placed_memory *)b)->row;

    if (x->address != y->address) {
        return x->address < y->address ? -1 : 1;
    }
    return (x->lives_ns > y->lives_ns) - (x->lives_ns < y->lives_ns);
}

static int find_places(const struct gmt_memory *memory, struct memory_places *places)
{
    int64_t furthest = 0;

    *places = (struct memory_places){.list = calloc(memory->count + 1, sizeof(*places->list))};
    if (places->list == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < memory->count; i++) {
        struct gmt_memory_row *row = &memory->rows[i];

        if (gmt_memory_has_place(row)) {
            places->list[places->count++] = (struct placed_memory){
                .row = row, .end = row->address + row->bytes};
        }
    }
    qsort(places->list, places->count, sizeof(*places->list), compare_places);
    for (size_t i = 0; i < places->count; i++) {
        furthest = places->list[i].end > furthest ? places->list[i].end : furthest;
        places->list[i].furthest = furthest;
    }
    return 0;
}

/* How many lie before that address, or begin there before that time. */
static size_t count_before(const struct memory_places *places, int64_t address, int64_t at_ns)
{
    size_t low = 0, high = places->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct gmt_memory_row *row = places->list[middle].row;

        if (row->address < address || (row->address == address && row->lives_ns < at_ns)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The allocation that holds that address at that time. Of those that began at one address, only the latest before that time can. */
static struct placed_memory *place_at(struct memory_places *places, int64_t address, int64_t at_ns)
{
    size_t at = count_before(places, address + 1, INT64_MIN);

    while (at > 0 && places->list[at - 1].furthest > address && places->steps < MOST_STEPS) {
        int64_t base = places->list[at - 1].row->address;
        size_t first = count_before(places, base, INT64_MIN);
        size_t after = count_before(places, base, at_ns < INT64_MAX ? at_ns + 1 : at_ns);

        places->steps++;
        if (after > first && places->list[after - 1].end > address &&
            gmt_memory_freed_ns(places->list[after - 1].row) > at_ns) {
            return &places->list[after - 1];
        }
        at = first;
    }
    return NULL;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

/* `all`: the number of rows; `sql`: id, address, bytes, begin, end, stack, heap, whether it is a pool, of each. */
static int load_rows(sqlite3 *db, const char *all, const char *sql, struct gmt_heap_row **rows,
                     size_t *count)
{
    struct gmt_query query;
    int64_t n = 0;
    int rc = gmt_query_int64(db, all, &n);

    if (rc != 0) {
        return rc;
    }
    *rows = n >= 0 && gmt_guard_plausible_rows(db, n) ? calloc((size_t)n + 1, sizeof(**rows))
                                                      : NULL;
    if (*rows == NULL) {
        return -ENOMEM;
    }
    rc = gmt_query_open(&query, db, sql);
    while (rc == 0 && *count < (size_t)n && gmt_query_next(&query)) {
        struct gmt_heap_row row = {.id = gmt_query_id(&query, 0),
                                   .address = gmt_query_int(&query, 1),
                                   .bytes = gmt_query_bytes(&query, 2),
                                   .begin_ns = gmt_query_time(&query, 3),
                                   .until_ns = gmt_query_time(&query, 4),
                                   .stack_id = gmt_query_id(&query, 5),
                                   .heap_id = gmt_query_id(&query, 6),
                                   .device_id = NO_DEVICE,
                                   .is_pool = gmt_query_int(&query, 7) != 0};

        row.until_ns = row.until_ns == GMT_NO_TIME ? INT64_MAX : row.until_ns;
        if (row.bytes > 0 && row.address > 0 && row.address <= INT64_MAX - row.bytes) {
            (*rows)[(*count)++] = row;
        }
    }
    return gmt_query_close(&query, rc);
}

const struct gmt_heap_row *gmt_heaps_find(const struct gmt_heaps *heaps, int64_t id)
{
    size_t low = 0, high = heaps->heap_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (heaps->heaps[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < heaps->heap_count && heaps->heaps[low].id == id ? &heaps->heaps[low] : NULL;
}

/* ---- what they lie in ----------------------------------------------------------------------------- */

static struct placed_memory *find_place(struct memory_places *places, struct gmt_heap_row *of)
{
    struct placed_memory *place = place_at(places, of->address, of->begin_ns);

    if (place != NULL) {
        int64_t freed_ns = gmt_memory_freed_ns(place->row);

        of->device_id = place->row->device_id;
        of->until_ns = freed_ns < of->until_ns ? freed_ns : of->until_ns;
    }
    return place;
}

static void mark(struct gmt_memory *memory, struct gmt_memory_row *row)
{
    memory->segment_count += !row->segment;
    row->segment = true;
}

/* A pool's own allocation is a segment from the start. Heaps that reserve addresses, or are a small part of an allocation, say nothing
 * of it by themselves: their regions do. */
static void mark_heap(struct gmt_memory *memory, const struct placed_memory *place,
                      const struct gmt_heap_row *heap)
{
    if (place != NULL && heap->is_pool && heap->address + heap->bytes <= place->end &&
        heap->bytes >= place->row->bytes / 2) {
        mark(memory, place->row);
    }
}

/* A part of an allocation that a pool has handed out. Without a pool two parts make a segment of it, as a program may give a name to a
 * part of what it uses as one; a region that is all of an allocation gives that a name. */
static void mark_region(struct gmt_memory *memory, struct placed_memory *place,
                        const struct gmt_heap_row *heap, const struct gmt_heap_row *region)
{
    if (place == NULL || region->bytes >= place->row->bytes) {
        return;
    }
    if (heap != NULL ? heap->is_pool : place->part != 0 && place->part != region->address) {
        mark(memory, place->row);
    }
    place->part = heap == NULL ? region->address : place->part;
}

static void find_all(struct gmt_memory *memory, struct memory_places *places)
{
    struct gmt_heaps *heaps = &memory->heaps;

    for (size_t i = 0; i < heaps->heap_count; i++) {
        mark_heap(memory, find_place(places, &heaps->heaps[i]), &heaps->heaps[i]);
    }
    for (size_t i = 0; i < heaps->region_count; i++) {
        struct gmt_heap_row *region = &heaps->regions[i];
        const struct gmt_heap_row *heap = gmt_heaps_find(heaps, region->heap_id);
        struct placed_memory *place = find_place(places, region);

        if (heap != NULL) {
            region->until_ns = heap->until_ns < region->until_ns ? heap->until_ns
                                                                 : region->until_ns;
        } else {
            region->heap_id = 0;
        }
        mark_region(memory, place, heap, region);
    }
}

#define COLUMNS "SELECT id, address, bytes, begin_ns, end_ns, stack_id, "

int gmt_heaps_load(struct gmt_memory *memory)
{
    sqlite3 *db = memory->timeline->db;
    struct gmt_heaps *heaps = &memory->heaps;

    if (!gmt_trace_has_column(db, "heap", "usage") || !gmt_trace_has_column(db, "region", "id")) {
        return 0;
    }
    int rc = load_rows(db, "SELECT count(*) FROM heap",
                       COLUMNS "0, usage = 'sub_allocator' FROM heap WHERE begin_ns IS NOT NULL "
                               "ORDER BY id",
                       &heaps->heaps, &heaps->heap_count);
    if (rc == 0) {
        rc = load_rows(db, "SELECT count(*) FROM region",
                       COLUMNS "heap_id, 0 FROM region WHERE begin_ns IS NOT NULL ORDER BY id",
                       &heaps->regions, &heaps->region_count);
    }
    if (rc != 0 || heaps->heap_count + heaps->region_count == 0) {
        return rc;
    }
    struct memory_places places;
    rc = find_places(memory, &places);
    if (rc == 0) {
        find_all(memory, &places);
    }
    free(places.list);
    return rc;
}

void gmt_heaps_free(struct gmt_heaps *heaps)
{
    free(heaps->heaps);
    free(heaps->regions);
    *heaps = (struct gmt_heaps){0};
}

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
            places->list[places->count++] = (struct placed_memory){row, row->address + row->bytes,
                                                                   0};
        }
    }
    qsort(places->list, places->count, sizeof(*places->list), compare_places);
    for (size_t i = 0; i < places->count; i++) {
        furthest = places->list[i].end > furthest ? places->list[i].end : furthest;
        places->list[i].furthest = furthest;
    }
    return 0;
}

/* How many begin before that address. */
static size_t count_before(const struct memory_places *places, int64_t address)
{
    size_t low = 0, high = places->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (places->list[middle].row->address < address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Goes on from *at, which counts down, to the next one that has a byte of [first, end) at some time; NULL: no more. */
static struct gmt_memory_row *next_with(struct memory_places *places, size_t *at, int64_t first)
{
    while (*at > 0 && places->list[*at - 1].furthest > first && places->steps < MOST_STEPS) {
        struct placed_memory *place = &places->list[--*at];

        places->steps++;
        if (place->end > first) {
            return place->row;
        }
    }
    return NULL;
}

/* The allocation that holds that address at that time. */
static struct gmt_memory_row *row_at(struct memory_places *places, int64_t address, int64_t at_ns)
{
    size_t at = count_before(places, address + 1);
    struct gmt_memory_row *row = next_with(places, &at, address);

    while (row != NULL && (row->lives_ns > at_ns || gmt_memory_freed_ns(row) <= at_ns)) {
        row = next_with(places, &at, address);
    }
    return row;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

static int load_rows(sqlite3 *db, const char *table, const char *columns,
                     struct gmt_heap_row **rows, size_t *count)
{
    struct gmt_arena arena = {0};
    struct gmt_query query;
    int64_t n = 0;
    int rc = gmt_query_int64(db, gmt_arena_text(&arena, "SELECT count(*) FROM %s", table), &n);

    *rows = rc == 0 && n >= 0 && gmt_guard_plausible_rows(db, n)
                ? calloc((size_t)n + 1, sizeof(**rows))
                : NULL;
    if (*rows == NULL) {
        gmt_arena_free(&arena);
        return rc != 0 ? rc : -ENOMEM;
    }
    rc = gmt_query_open(
        &query, db,
        gmt_arena_text(&arena,
                       "SELECT id, address, bytes, begin_ns, end_ns, stack_id, %s FROM %s "
                       "WHERE begin_ns IS NOT NULL ORDER BY id",
                       columns, table));
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
    rc = gmt_query_close(&query, rc);
    gmt_arena_free(&arena);
    return rc;
}

static const struct gmt_heap_row *heap_of(const struct gmt_heaps *heaps, int64_t id)
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

static struct gmt_memory_row *find_row(struct memory_places *places, struct gmt_heap_row *of)
{
    struct gmt_memory_row *row = row_at(places, of->address, of->begin_ns);

    if (row != NULL) {
        int64_t freed_ns = gmt_memory_freed_ns(row);

        of->device_id = row->device_id;
        of->until_ns = freed_ns < of->until_ns ? freed_ns : of->until_ns;
    }
    return row;
}

static void mark(struct gmt_memory *memory, struct gmt_memory_row *row)
{
    memory->segment_count += !row->segment;
    row->segment = true;
}

/* A heap may reserve addresses, to which memory is mapped later. */
static void mark_heap(struct gmt_memory *memory, struct memory_places *places,
                      const struct gmt_heap_row *heap)
{
    size_t at = count_before(places, heap->address + heap->bytes);
    struct gmt_memory_row *row;

    while ((row = next_with(places, &at, heap->address)) != NULL) {
        if (row->lives_ns < heap->until_ns && gmt_memory_freed_ns(row) > heap->begin_ns) {
            mark(memory, row);
        }
    }
}

static void find_all(struct gmt_memory *memory, struct memory_places *places)
{
    struct gmt_heaps *heaps = &memory->heaps;

    for (size_t i = 0; i < heaps->heap_count; i++) {
        (void)find_row(places, &heaps->heaps[i]);
        if (heaps->heaps[i].is_pool) {
            mark_heap(memory, places, &heaps->heaps[i]);
        }
    }
    for (size_t i = 0; i < heaps->region_count; i++) {
        struct gmt_heap_row *region = &heaps->regions[i];
        const struct gmt_heap_row *heap = heap_of(heaps, region->heap_id);
        struct gmt_memory_row *row = find_row(places, region);

        if (heap != NULL) {
            region->until_ns = heap->until_ns < region->until_ns ? heap->until_ns
                                                                 : region->until_ns;
        } else {
            region->heap_id = 0;
        }
        /* One that is all of an allocation gives that a name. */
        if (heap == NULL && row != NULL && region->bytes < row->bytes) {
            mark(memory, row);
        }
    }
}

int gmt_heaps_load(struct gmt_memory *memory)
{
    sqlite3 *db = memory->timeline->db;
    struct gmt_heaps *heaps = &memory->heaps;

    if (!gmt_trace_has_column(db, "heap", "usage") || !gmt_trace_has_column(db, "region", "id")) {
        return 0;
    }
    int rc = load_rows(db, "heap", "0, usage = 'sub_allocator'", &heaps->heaps, &heaps->heap_count);
    if (rc == 0) {
        rc = load_rows(db, "region", "heap_id, 0", &heaps->regions, &heaps->region_count);
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

/* SPDX-License-Identifier: Apache-2.0 */
/* A table of heaps and regions by address, and a list of the regions of each heap. */
#include "preload/state/regions.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "libtrace/record/clock.h"
#include "libtrace/record/spool.h"
#include "libtrace/threads/mutex.h"
#include "preload/driver/coverage.h"
#include "preload/session/table.h"
#include "preload/state/nvtx.h"
#include "preload/state/user_ranges.h"

#define BUCKET_BITS 15u
#define BUCKETS (1u << BUCKET_BITS)

/* A heap or a region, by its place in the table. Place 0 is the whole process, a heap of no address. */
struct known_span {
    uint64_t address, bytes, since_ticks;
    const char *domain, *name; /* name of a region: if it was given before the recording */
    uint32_t id, made, stack;
    uint32_t owner;       /* heap of a region */
    uint32_t next;        /* of its bucket, or of the free ones; likewise below 0: none */
    uint32_t first;       /* region of a heap */
    uint32_t left, right; /* in the list of its heap */
    uint8_t usage;
};

enum kind { HEAP, REGION };

struct known_spans {
    uint32_t bucket[2][BUCKETS]; /* the newest comes first */
    struct known_span at[GMT_REGIONS_MOST];
};

static struct {
    struct gmt_mutex mutex;
    gmt_table_pointer table; /* struct known_spans */
    uint32_t used, free;     /* places that were ever in use; the one that was given back last */
    bool stale;              /* the table is that of the process that forked */
} spans = {.mutex = GMT_MUTEX(REGIONS), .used = 1};
static _Atomic bool recording; /* what is there is in the trace, and what follows goes there */
static _Atomic uint32_t last_id;

static bool is_recording(void)
{
    return atomic_load_explicit(&recording, memory_order_acquire);
}

/* ---- records ----------------------------------------------------------------------------------- */

static void write_heap(const struct known_span *heap, enum gmt_heap_event event, uint64_t ticks,
                       const char *name)
{
    const char *const texts[] = {name, heap->domain};
    const struct gmt_heap record = {.since_ticks = ticks,
                                    .address = heap->address,
                                    .bytes = heap->bytes,
                                    .id = heap->id,
                                    .stack = heap->stack,
                                    .event = (uint8_t)event,
                                    .usage = heap->usage};
    if (is_recording()) {
        (void)gmt_spool_side(GMT_REC_HEAP, &record, sizeof(record), texts,
                             event == GMT_HEAP_BEGUN ? 2 : 0);
    }
}

static void write_region(const struct known_spans *table, const struct known_span *region,
                         enum gmt_heap_event event, uint64_t ticks, const char *name)
{
    const struct gmt_region record = {.since_ticks = ticks,
                                      .address = region->address,
                                      .bytes = region->bytes,
                                      .id = region->id,
                                      .heap = table->at[region->owner].id,
                                      .stack = region->stack,
                                      .made = region->made,
                                      .event = (uint8_t)event};
    if (is_recording()) {
        (void)gmt_spool_side(GMT_REC_REGION, &record, sizeof(record), &name, name != NULL);
    }
}

/* ---- the table ---------------------------------------------------------------------------------- */

static uint32_t *bucket_of(struct known_spans *table, enum kind kind, uint64_t address)
{
    return &table->bucket[kind][(address * UINT64_C(0x9e3779b97f4a7c15)) >> (64u - BUCKET_BITS)];
}

/* In the child of fork(), right away. */
static void forget(void)
{
    gmt_regions_forked();
    gmt_coverage_forget_faults();
    spans.stale = true;
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, forget);
}

/* With the mutex: the table, made if there is none and `needed`. NULL: nothing is there. */
static struct known_spans *begin(bool needed)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (needed) {
        (void)pthread_once(&once, watch_forks);
    }
    gmt_mutex_lock(&spans.mutex);
    struct known_spans *table = needed ? gmt_table_need(&spans.table, sizeof(struct known_spans))
                                       : gmt_table(&spans.table);
    if (table != NULL && spans.stale) {
        memset(table->bucket, 0, sizeof(table->bucket));
        table->at[0] = (struct known_span){0};
        spans.used = 1;
        spans.free = 0;
    }
    spans.stale = false;
    return table;
}

static void end(void)
{
    gmt_mutex_unlock(&spans.mutex);
}

static uint32_t new_id(void)
{
    return atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
}

/* 0: there is no room. */
static uint32_t put(struct known_spans *table, enum kind kind, const struct known_span *made)
{
    uint32_t place = spans.free;
    if (place != 0) {
        spans.free = table->at[place].next;
    } else if (spans.used < GMT_REGIONS_MOST) {
        place = spans.used++;
    } else {
        return 0;
    }
    struct known_span *span = &table->at[place];
    *span = *made;
    uint32_t *bucket = bucket_of(table, kind, made->address);
    span->next = *bucket;
    *bucket = place;
    if (kind == REGION) {
        struct known_span *heap = &table->at[span->owner];
        span->right = heap->first;
        if (heap->first != 0) {
            table->at[heap->first].left = place;
        }
        heap->first = place;
    }
    return place;
}

static void take_out(struct known_spans *table, enum kind kind, uint32_t place)
{
    struct known_span *span = &table->at[place];
    uint32_t *link = bucket_of(table, kind, span->address);
    while (*link != place) {
        link = &table->at[*link].next;
    }
    *link = span->next;
    if (kind == REGION) {
        uint32_t *before = span->left != 0 ? &table->at[span->left].right
                                           : &table->at[span->owner].first;
        *before = span->right;
        if (span->right != 0) {
            table->at[span->right].left = span->left;
        }
    }
    span->next = spans.free;
    spans.free = place;
}

/* Goes on behind `place`; 0: from the newest on, and: there is none. */
static uint32_t find(struct known_spans *table, enum kind kind, uint64_t address, uint32_t place)
{
    place = place != 0 ? table->at[place].next : *bucket_of(table, kind, address);
    while (place != 0 && table->at[place].address != address) {
        place = table->at[place].next;
    }
    return place;
}

static bool is_within(const struct known_span *heap, uint64_t address, uint64_t bytes)
{
    return address >= heap->address && bytes <= heap->bytes &&
           address - heap->address <= heap->bytes - bytes;
}

static bool is_somewhere(uint64_t address, uint64_t bytes)
{
    if (address == 0 || bytes > UINT64_MAX - address) {
        gmt_coverage_count_fault(GMT_REGION_NOWHERE);
        return false;
    }
    return true;
}

/* ---- heaps -------------------------------------------------------------------------------------- */

/* Their end follows from that of the heap, but for the whole process, which has no record. */
static void end_regions(struct known_spans *table, uint32_t heap)
{
    uint64_t ticks = gmt_clock_ticks();
    while (table->at[heap].first != 0) {
        uint32_t place = table->at[heap].first;
        if (heap == 0) {
            write_region(table, &table->at[place], GMT_HEAP_ENDED, ticks, NULL);
        }
        take_out(table, REGION, place);
    }
}

static void end_heap(struct known_spans *table, uint32_t heap)
{
    write_heap(&table->at[heap], GMT_HEAP_ENDED, gmt_clock_ticks(), NULL);
    end_regions(table, heap);
    take_out(table, HEAP, heap);
}

/* The same memory, or more of it, once more: nobody has said that the older one has ended. A smaller one may be one in the other. */
static void end_older(struct known_spans *table, uint64_t address, uint64_t bytes)
{
    uint32_t older = 0;
    while ((older = find(table, HEAP, address, 0)) != 0 && table->at[older].bytes <= bytes) {
        gmt_coverage_count_fault(GMT_REGION_AGAIN);
        end_heap(table, older);
    }
}

bool gmt_heap_begin(uint64_t address, uint64_t bytes, uint32_t usage, const char *domain,
                    const char *name, uint32_t stack)
{
    if (!is_somewhere(address, bytes)) {
        return false;
    }
    const char *kept = name != NULL && name[0] != '\0' ? gmt_nvtx_keep(name) : NULL;
    struct known_spans *table = begin(true);
    uint32_t place = 0;
    if (table != NULL) {
        end_older(table, address, bytes);
        const struct known_span heap = {
            .address = address,
            .bytes = bytes,
            .since_ticks = gmt_clock_ticks(),
            .domain = domain,
            .name = kept,
            .id = new_id(),
            .stack = stack,
            .usage = (uint8_t)(usage < GMT_HEAP_USAGE_COUNT ? usage : GMT_HEAP_OTHER)};
        place = put(table, HEAP, &heap);
        if (place != 0) {
            write_heap(&heap, GMT_HEAP_BEGUN, heap.since_ticks, kept);
        }
    }
    end();
    if (place == 0) {
        gmt_coverage_count_fault(GMT_REGION_MANY);
    }
    return place != 0;
}

void gmt_heap_end(uint64_t address)
{
    struct known_spans *table = begin(false);
    uint32_t heap = table != NULL && address != 0 ? find(table, HEAP, address, 0) : 0;
    if (heap != 0) {
        end_heap(table, heap);
    }
    end();
    if (heap == 0) {
        gmt_coverage_count_fault(GMT_REGION_UNKNOWN_HEAP);
    }
}

void gmt_heap_empty(uint64_t address, uint32_t stack)
{
    struct known_spans *table = begin(false);
    uint32_t heap = table != NULL && address != 0 ? find(table, HEAP, address, 0) : 0;
    if (heap != 0) {
        struct known_span *span = &table->at[heap];
        write_heap(span, GMT_HEAP_ENDED, gmt_clock_ticks(), NULL);
        end_regions(table, heap);
        span->id = new_id();
        span->stack = stack;
        span->since_ticks = gmt_clock_ticks();
        write_heap(span, GMT_HEAP_BEGUN, span->since_ticks, span->name);
    } else if (table != NULL && address == 0) {
        end_regions(table, 0);
    }
    end();
    if (heap == 0 && address != 0) {
        gmt_coverage_count_fault(GMT_REGION_UNKNOWN_HEAP);
    }
}

/* ---- regions ------------------------------------------------------------------------------------ */

/* Of several at one address the innermost that the region lies in. */
static uint32_t heap_for(struct known_spans *table, uint64_t heap, uint64_t address, uint64_t bytes)
{
    uint32_t newest = heap != 0 ? find(table, HEAP, heap, 0) : 0, place = newest;
    while (place != 0 && !is_within(&table->at[place], address, bytes)) {
        place = find(table, HEAP, heap, place);
    }
    if (heap != 0 && place == 0) {
        gmt_coverage_count_fault(newest == 0 ? GMT_REGION_UNKNOWN_HEAP : GMT_REGION_OUTSIDE);
        return newest;
    }
    return place;
}

/* The one of the same heap that nobody has ended. */
static void end_same(struct known_spans *table, uint32_t heap, uint64_t address, uint64_t ticks)
{
    uint32_t same = find(table, REGION, address, 0);
    while (same != 0 && table->at[same].owner != heap) {
        same = find(table, REGION, address, same);
    }
    if (same != 0) {
        gmt_coverage_count_fault(GMT_REGION_AGAIN);
        write_region(table, &table->at[same], GMT_HEAP_ENDED, ticks, NULL);
        take_out(table, REGION, same);
    }
}

void gmt_region_begin(uint64_t heap, uint64_t address, uint64_t bytes, uint32_t stack)
{
    if (!is_somewhere(address, bytes)) {
        return;
    }
    struct known_spans *table = begin(true);
    uint32_t place = 0;
    if (table != NULL) {
        uint64_t ticks = gmt_clock_ticks();
        uint32_t owner = heap_for(table, heap, address, bytes), id = new_id();
        end_same(table, owner, address, ticks);
        place = put(table, REGION,
                    &(struct known_span){.address = address,
                                         .bytes = bytes,
                                         .since_ticks = ticks,
                                         .id = id,
                                         .made = id,
                                         .stack = stack,
                                         .owner = owner});
        if (place != 0) {
            write_region(table, &table->at[place], GMT_HEAP_BEGUN, ticks, NULL);
        }
    }
    end();
    if (place == 0) {
        gmt_coverage_count_fault(GMT_REGION_MANY);
    }
}

/* With the mutex, which the caller releases; NULL: it is counted. */
static struct known_span *known_region(struct known_spans *table, uint64_t address)
{
    uint32_t place = table != NULL ? find(table, REGION, address, 0) : 0;
    if (place == 0) {
        gmt_coverage_count_fault(GMT_REGION_UNKNOWN_REGION);
    }
    return place != 0 ? &table->at[place] : NULL;
}

void gmt_region_resize(uint64_t address, uint64_t bytes)
{
    if (!is_somewhere(address, bytes)) {
        return;
    }
    struct known_spans *table = begin(false);
    struct known_span *region = known_region(table, address);
    if (region != NULL) {
        if (region->owner != 0 && !is_within(&table->at[region->owner], address, bytes)) {
            gmt_coverage_count_fault(GMT_REGION_OUTSIDE);
        }
        uint64_t ticks = gmt_clock_ticks();
        write_region(table, region, GMT_HEAP_ENDED, ticks, NULL);
        region->bytes = bytes;
        region->id = new_id();
        region->since_ticks = ticks;
        write_region(table, region, GMT_HEAP_BEGUN, ticks, NULL);
    }
    end();
}

void gmt_region_end(uint64_t address)
{
    struct known_spans *table = begin(false);
    struct known_span *region = known_region(table, address);
    if (region != NULL) {
        write_region(table, region, GMT_HEAP_ENDED, gmt_clock_ticks(), NULL);
        take_out(table, REGION, (uint32_t)(region - table->at));
    }
    end();
}

void gmt_region_name(uint64_t address, const char *name)
{
    char cut[GMT_RANGE_NAME_BYTES] = "";
    memcpy(cut, name, strnlen(name, sizeof(cut) - 1));
    const char *kept = !is_recording() ? gmt_nvtx_keep(cut) : NULL; /* then names are few */
    struct known_spans *table = begin(false);
    struct known_span *region = known_region(table, address);
    if (region != NULL) {
        region->name = kept;
        write_region(table, region, GMT_HEAP_NAMED, gmt_clock_ticks(), cut);
    }
    end();
}

/* ---- the recording ------------------------------------------------------------------------------ */

/* What is in use of the table is reached through its buckets. */
static void write_all(struct known_spans *table, enum kind kind)
{
    for (uint32_t i = 0; i < BUCKETS; i++) {
        for (uint32_t place = table->bucket[kind][i]; place != 0; place = table->at[place].next) {
            struct known_span *span = &table->at[place];
            if (kind == HEAP) {
                write_heap(span, GMT_HEAP_BEGUN, span->since_ticks, span->name);
            } else {
                write_region(table, span, GMT_HEAP_BEGUN, span->since_ticks, span->name);
            }
        }
    }
}

void gmt_regions_start(void)
{
    struct known_spans *table = begin(false);
    atomic_store_explicit(&recording, true, memory_order_release);
    if (table != NULL) {
        write_all(table, HEAP);
        write_all(table, REGION);
    }
    end();
}

void gmt_regions_forked(void)
{
    gmt_mutex_renew(&spans.mutex);
    atomic_store_explicit(&recording, false, memory_order_release);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Which records of heaps and regions still hold. */
#include "libtrace/store/recording/ring_sift_internal.h"

static uint64_t region_ticks(const void *data)
{
    return ((const struct gmt_region *)data)->since_ticks;
}

/* Heaps and regions: their ids are of one sequence. */
static void take_heap(struct sift *sift, size_t i, struct gmt_ring_record *record, uint32_t id,
                      unsigned event, uint64_t since_ticks)
{
    struct sift_pair *pair = gmt_sift_pair(sift, ABOUT_REGION, &id, sizeof(id));
    record->verdict = gmt_sift_in_or(sift, gmt_timebase_ns(sift->time, since_ticks),
                                     GMT_RING_HOLDS);
    *(event == GMT_HEAP_BEGUN ? &pair->first : &pair->second) = i + 1;
}

void gmt_sift_take_region(struct sift *sift, size_t i, struct gmt_ring_record *record)
{
    const struct gmt_region *region = record->data;
    if (record->type == GMT_REC_HEAP) {
        const struct gmt_heap *heap = record->data;
        take_heap(sift, i, record, heap->id, heap->event, heap->since_ticks);
    } else if (region->event != GMT_HEAP_NAMED) {
        take_heap(sift, i, record, region->id, region->event, region->since_ticks);
    } else {
        record->verdict = GMT_RING_HOLDS;
        gmt_sift_keep_latest(sift,
                             gmt_sift_pair(sift, ABOUT_NAME, &region->made, sizeof(region->made)),
                             i, region->since_ticks, region_ticks);
    }
}

static bool ended_before(struct sift *sift, uint32_t id)
{
    size_t end = gmt_sift_pair(sift, ABOUT_REGION, &id, sizeof(id))->second;
    return end != 0 && sift->content->records[end - 1].verdict != GMT_RING_IN;
}

/* A region ends with its heap. */
void gmt_sift_settle_region(struct sift *sift, struct gmt_ring_record *record)
{
    const struct gmt_region *region = record->data;
    if (record->type == GMT_REC_HEAP) {
        if (ended_before(sift, ((const struct gmt_heap *)record->data)->id)) {
            record->verdict = GMT_RING_DROPPED;
        }
    } else if (region->event == GMT_HEAP_NAMED) {
        return;
    } else if (ended_before(sift, region->id) ||
               (region->heap != 0 && ended_before(sift, region->heap))) {
        record->verdict = GMT_RING_DROPPED;
    } else {
        gmt_sift_pair(sift, ABOUT_NAME, &region->made, sizeof(region->made))->is_needed = true;
    }
}

/* What is left of a region that was resized has its name. */
void gmt_sift_settle_name(struct sift *sift, struct gmt_ring_record *record)
{
    const struct gmt_region *region = record->data;
    if (region->event == GMT_HEAP_NAMED &&
        !gmt_sift_pair(sift, ABOUT_NAME, &region->made, sizeof(region->made))->is_needed) {
        record->verdict = GMT_RING_DROPPED;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Side records -> heaps of the program's allocators, and regions in them. Their records come in any order. */
#include "libtrace/store/db/names.h"
#include "libtrace/store/ingest/ingest_internal.h"

static int string_or_null(struct gmt_ingest *ingest, struct gmt_text_cursor *texts, int64_t *id)
{
    struct gmt_record_text text = gmt_texts_next(texts);
    *id = 0;
    return text.bytes != 0 ? gmt_ingest_string(ingest, text, id) : 0;
}

/* Stack and beginning, or end: what the other records say of it is in the row already, or comes. */
static void put_event(struct gmt_binder *row, unsigned event, uint32_t stack, uint64_t at_ns)
{
    bool begun = event == GMT_HEAP_BEGUN;
    gmt_put_id_or_null(row, begun ? stack : 0);
    gmt_put_or_null(row, begun ? at_ns : 0);
    gmt_put_or_null(row, event == GMT_HEAP_ENDED ? at_ns : 0);
}

int gmt_ingest_heap(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_heap *heap = record->data;
    struct gmt_text_cursor texts = gmt_texts(record, sizeof(*heap));
    int64_t name, domain;
    int error = string_or_null(ingest, &texts, &name);
    if (error != 0 || (error = string_or_null(ingest, &texts, &domain)) != 0) {
        return error;
    }
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_HEAP);
    gmt_put_id(&row, heap->id);
    gmt_put_name(&row, gmt_name_heap_usage(heap->usage));
    gmt_put_bits(&row, heap->address);
    gmt_put_bytes(&row, heap->bytes);
    gmt_put_or_null(&row, (uint64_t)domain);
    gmt_put_or_null(&row, (uint64_t)name);
    put_event(&row, heap->event, heap->stack, gmt_ingest_ns(ingest, heap->since_ticks));
    return gmt_ingest_step(&row);
}

static void put_region(struct gmt_binder *row, const struct gmt_region *region)
{
    gmt_put_id(row, region->id);
    gmt_put_id_or_null(row, region->heap);
    gmt_put_id(row, region->made);
    gmt_put_bits(row, region->address);
    gmt_put_bytes(row, region->bytes);
}

/* A name belongs to the region as it was registered. */
static int store_region_name(struct gmt_ingest *ingest, const struct gmt_region *region,
                             int64_t name)
{
    struct gmt_region made = *region;
    made.id = region->made;
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_REGION_NAME);
    put_region(&row, &made);
    gmt_put_or_null(&row, (uint64_t)name);
    return gmt_ingest_step(&row);
}

int gmt_ingest_region(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_region *region = record->data;
    struct gmt_text_cursor texts = gmt_texts(record, sizeof(*region));
    uint64_t at_ns = gmt_ingest_ns(ingest, region->since_ticks);
    int64_t name;
    int error = string_or_null(ingest, &texts, &name);
    if (error == 0 && (name != 0 || region->event == GMT_HEAP_NAMED)) {
        error = store_region_name(ingest, region, name);
    }
    if (error != 0 || region->event == GMT_HEAP_NAMED) {
        return error;
    }
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_REGION);
    put_region(&row, region);
    put_event(&row, region->event, region->stack, at_ns);
    return gmt_ingest_step(&row);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Handles by which processes share memory -> rows of memory_handle: side records of exports, and allocations that were opened. */
#include "libtrace/store/ingest/ingest_internal.h"

int gmt_ingest_export(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_export *exported = record->data;
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_MEMORY_HANDLE);
    gmt_put_name(&row, "exported");
    gmt_put_bits(&row, exported->hash);
    gmt_put_id_or_null(&row, exported->alloc);
    gmt_put_bits(&row, exported->address);
    gmt_put_bytes_or_null(&row, exported->bytes);
    gmt_put_unsigned(&row, gmt_ingest_ns(ingest, exported->head.ticks));
    return gmt_ingest_step(&row);
}

int gmt_ingest_import(struct gmt_ingest *ingest, const struct gmt_alloc *alloc, uint64_t bytes,
                      uint64_t since_ns)
{
    if (alloc->handle_hash == 0) {
        return 0;
    }
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_MEMORY_HANDLE);
    gmt_put_name(&row, "imported");
    gmt_put_bits(&row, alloc->handle_hash);
    gmt_put_id(&row, alloc->id);
    gmt_put_bits(&row, alloc->address);
    gmt_put_bytes_or_null(&row, bytes);
    gmt_put_unsigned(&row, since_ns);
    return gmt_ingest_step(&row);
}

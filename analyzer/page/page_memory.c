/* SPDX-License-Identifier: Apache-2.0 */
/* The page's allocations: when each lived, and when the program first and last used it. */
#include "analyzer/page/page_parts.h"

int gmt_page_load_allocations(struct gmt_page *page)
{
    return gmt_memory_load(&page->memory, page->timeline);
}

void gmt_page_write_allocations(struct gmt_page *page)
{
    static const struct gmt_column_head heads[] = {
        {"kind", GMT_ENCODE_U8},          {"bytes", GMT_ENCODE_VARINT},
        {"begin", GMT_ENCODE_DELTA},      {"freed", GMT_ENCODE_VARINT},
        {"first_use", GMT_ENCODE_VARINT}, {"last_use", GMT_ENCODE_VARINT},
        {"stack", GMT_ENCODE_VARINT},     {"free_stack", GMT_ENCODE_VARINT},
        {"device", GMT_ENCODE_VARINT},    {"address", GMT_ENCODE_VARINT},
        {"id", GMT_ENCODE_DELTA},
    };
    struct gmt_page_table *table = gmt_payload_table(page->payload, "allocation", heads,
                                                     sizeof(heads) / sizeof(heads[0]));

    for (size_t i = 0; i < page->memory.count; i++) {
        const struct gmt_memory_row *a = &page->memory.rows[i];
        int64_t context = gmt_ids_index(&page->contexts, a->context_id);
        int64_t row[] = {
            a->kind,
            a->bytes,
            gmt_page_time(page, a->lives_ns),
            gmt_page_difference(a->free_begin_ns, a->lives_ns),
            gmt_page_difference(a->first_use_ns, a->lives_ns),
            gmt_page_difference(a->last_use_ns, a->lives_ns),
            gmt_page_stack(page, a->stack_id, a->caller),
            gmt_ids_index(&page->stacks, a->free_stack_id),
            context != GMT_UNKNOWN ? page->context_device[context] : GMT_UNKNOWN,
            a->address,
            a->id,
        };

        gmt_payload_row(page->payload, table, row);
    }
}

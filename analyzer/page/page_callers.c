/* SPDX-License-Identifier: Apache-2.0 */
/* Calls without a stack: their return address becomes a stack of one frame, so that they have a place. */
#include <stdlib.h>

#include "analyzer/page/page_parts.h"
#include "analyzer/trace/query.h"

/* Keeps at least half of the slots free. */
static bool grow(struct gmt_callers *callers)
{
    size_t slots = callers->slot_count > 0 ? 2 * callers->slot_count : 128;
    int64_t *addresses = realloc(callers->addresses, slots / 2 * sizeof(*addresses));

    if (addresses == NULL) {
        return false;
    }
    callers->addresses = addresses;
    uint32_t *fresh = calloc(slots, sizeof(*fresh));
    if (fresh == NULL) {
        return false;
    }
    free(callers->slots);
    callers->slots = fresh;
    callers->slot_count = slots;
    return true;
}

static uint32_t *slot_of(const struct gmt_callers *callers, int64_t address)
{
    uint64_t hash = (uint64_t)address * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (hash >> 32) & (callers->slot_count - 1);

    while (callers->slots[at] != 0 && callers->addresses[callers->slots[at] - 1] != address) {
        at = (at + 1) & (callers->slot_count - 1);
    }
    return &callers->slots[at];
}

static int64_t index_of(struct gmt_page *page, int64_t address)
{
    struct gmt_callers *callers = &page->callers;

    if (2 * (callers->n + 1) > callers->slot_count) {
        if (!grow(callers)) {
            page->payload->failed = true;
            return GMT_UNKNOWN;
        }
        for (size_t i = 0; i < callers->n; i++) {
            *slot_of(callers, callers->addresses[i]) = (uint32_t)i + 1;
        }
    }
    uint32_t *slot = slot_of(callers, address);
    if (*slot == 0) {
        callers->addresses[callers->n++] = address;
        *slot = (uint32_t)callers->n;
    }
    return (int64_t)*slot - 1;
}

int64_t gmt_page_stack(struct gmt_page *page, int64_t stack_id, int64_t caller)
{
    int64_t stack = gmt_ids_index(&page->stacks, stack_id);

    if (stack != GMT_UNKNOWN || caller == GMT_UNKNOWN || caller == 0) {
        return stack;
    }
    int64_t index = index_of(page, caller);
    return index != GMT_UNKNOWN ? (int64_t)page->stacks.n + index : GMT_UNKNOWN;
}

void gmt_page_write_callers(struct gmt_page *page, struct gmt_page_table *stack_frames)
{
    for (size_t i = 0; i < page->callers.n; i++) {
        gmt_payload_row(page->payload, stack_frames,
                        (int64_t[]){(int64_t)(page->stacks.n + i), (int64_t)(page->frames.n + i)});
    }
}

int gmt_page_write_caller_frames(struct gmt_page *page, struct gmt_page_table *frames)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, page->timeline->db,
                            "SELECT path, ?1 - load_bias FROM module "
                            "WHERE start_address <= ?1 AND end_address > ?1 LIMIT 1");

    for (size_t i = 0; rc == 0 && i < page->callers.n; i++) {
        int64_t module = GMT_UNKNOWN, offset = GMT_UNKNOWN;

        sqlite3_bind_int64(query.statement, 1, page->callers.addresses[i]);
        if (gmt_query_next(&query)) {
            module = gmt_payload_string(page->payload, gmt_query_text_here(&query, 0));
            offset = gmt_query_known(&query, 1);
        }
        gmt_payload_row(page->payload, frames,
                        (int64_t[]){GMT_UNKNOWN, GMT_UNKNOWN, module, GMT_UNKNOWN, offset, 0});
        sqlite3_reset(query.statement);
    }
    return gmt_query_close(&query, rc);
}

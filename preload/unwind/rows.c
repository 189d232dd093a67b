/* SPDX-License-Identifier: Apache-2.0 */
/* The table of rows: few probes; where all are taken, older entries make room. */
#include "preload/unwind/rows.h"

gmt_table_pointer gmt_rows;

_Static_assert(GMT_ROW_SLOTS == 1u << (64 - 50), "gmt_row_slot yields slots of this table");

void gmt_rows_put(uint64_t key, uint64_t row)
{
    static unsigned victim;
    struct gmt_row_slot *rows = gmt_table_need(&gmt_rows, GMT_ROWS_BYTES);
    if (rows == NULL) {
        return;
    }
    unsigned first = gmt_row_slot(key), use = first + victim++ % GMT_ROW_PROBES;
    for (unsigned i = 0; i < GMT_ROW_PROBES; i++) {
        struct gmt_row_slot *at = &rows[(first + i) % GMT_ROW_SLOTS];
        uint64_t old = atomic_load_explicit(&at->row, memory_order_relaxed);
        if (old == 0 || (atomic_load_explicit(&at->check, memory_order_relaxed) ^ old) == key) {
            use = first + i;
            break;
        }
    }
    struct gmt_row_slot *at = &rows[use % GMT_ROW_SLOTS];
    atomic_store_explicit(&at->row, row, memory_order_relaxed);
    atomic_store_explicit(&at->check, key ^ row, memory_order_relaxed);
}

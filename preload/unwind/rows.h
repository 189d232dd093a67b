/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that have been found, by address: read without a lock, in memory of fixed size. */
#ifndef GMT_PRELOAD_UNWIND_ROWS_H
#define GMT_PRELOAD_UNWIND_ROWS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/session/table.h"

#define GMT_ROW_SLOTS 16384u /* a power of two */
#define GMT_ROW_PROBES 4u

/* The row and the key are not stored at one moment. What ties them is `check`, the one xor the other: a
 * mixture of two entries fits no key. */
struct gmt_row_slot {
    _Atomic uint64_t check, row;
};
extern gmt_table_pointer gmt_rows; /* to GMT_ROW_SLOTS of them */
#define GMT_ROWS_BYTES (GMT_ROW_SLOTS * sizeof(struct gmt_row_slot))

/* `mark` changes when an object is unloaded, and makes all that was known void; `interrupted`: the
 * address is that of an instruction to be executed, not one that a call returns to. */
static inline uint64_t gmt_row_key(uintptr_t pc, bool interrupted, uint64_t mark)
{
    return ((uint64_t)pc << 1 | interrupted) ^ mark;
}

static inline unsigned gmt_row_slot(uint64_t key)
{
    return (unsigned)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 50);
}

static inline uint64_t gmt_rows_find(uint64_t key)
{
    struct gmt_row_slot *rows = gmt_table(&gmt_rows);
    unsigned slot = gmt_row_slot(key);
    for (unsigned i = 0; i < GMT_ROW_PROBES && rows != NULL; i++) {
        struct gmt_row_slot *at = &rows[(slot + i) % GMT_ROW_SLOTS];
        uint64_t row = atomic_load_explicit(&at->row, memory_order_relaxed);
        if ((atomic_load_explicit(&at->check, memory_order_relaxed) ^ row) == key && row != 0) {
            return row;
        }
    }
    return 0;
}

/* One writer at a time. Without memory for the table nothing is stored. */
void gmt_rows_put(uint64_t key, uint64_t row);

#endif

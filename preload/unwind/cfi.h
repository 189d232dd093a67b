/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the call frame information of an object: .eh_frame, found by its sorted table. */
#ifndef GMT_PRELOAD_UNWIND_CFI_H
#define GMT_PRELOAD_UNWIND_CFI_H

#include <stdint.h>

/* Where an object keeps it. Nothing outside of [start, end) is read, whatever the tables say. */
struct gmt_cfi {
    const uint8_t *header;      /* .eh_frame_hdr, NULL: the object has none */
    const uint8_t *start, *end; /* of the mapped segment that holds header and frames */
};

/* The row for the instruction at `pc`, without flags: GMT_ROW_FRAME where the information is missing,
 * damaged, or of a form that a row cannot hold. */
uint64_t gmt_cfi_row(const struct gmt_cfi *cfi, uintptr_t pc);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows-in-one (GM104): copies of equal size to the device, one behind the other, whose destinations and sources advance by a constant
 * distance, become one copy of two dimensions.
 *
 * What is kept, and when, is what gather.h states. Besides:
 * - The first two rows pass: they show the distance. What does not go on with it passes, too.
 * - Rows lie in one allocation, ascending, and do not overlap; their sources may lie anywhere that can be read, and are side by side in our
 *   memory, so that the source's pitch is the width.
 * - Where the driver refuses a copy of two dimensions, each row is copied by itself, in the same stream.
 */
#include "preload/apply/gather.h"
#include "preload/apply/state.h"

enum gmt_refusal gmt_rows_against(const struct gmt_copy *copy, const struct gmt_copy_row *row)
{
    uint64_t dst_step = copy->dst - row->dst, src_step = copy->src - row->src;
    if (copy->bytes > (size_t)gmt_apply_plan.values[GMT_FIX_ROWS_IN_ONE_most_bytes]) {
        return GMT_REFUSAL_LARGE;
    }
    bool goes_on = row->count >= 2 && copy->bytes == row->bytes && copy->dst > row->dst &&
                   copy->src > row->src && dst_step == row->dst_step && src_step == row->src_step;
    /* Without a gap on either side these are parts of one copy of one dimension. */
    return goes_on && dst_step >= copy->bytes && src_step >= copy->bytes &&
                   (dst_step > copy->bytes || src_step > copy->bytes)
               ? GMT_REFUSAL_COUNT
               : GMT_REFUSAL_NO_ROW;
}

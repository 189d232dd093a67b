/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gathered-copies (GM101): small copies to the device, one behind the other, are gathered in memory of ours and go together.
 *
 * What is kept, and when, is what gather.h states. Besides:
 * - Copies whose destinations follow each other become one copy, those at equal distances one of two dimensions; what is left are copies
 *   without a wait in between. All are put into the legacy stream in the order of the calls. The driver's call for many copies
 *   (cuMemcpyBatchAsync) refuses that stream, and a kernel that scatters would have to be loaded into the program's context.
 * - The first two copies pass: the driver waits for the stream in them, and says what is wrong.
 */
#include "preload/apply/gather.h"
#include "preload/apply/state.h"

enum gmt_refusal gmt_small_copies_against(const struct gmt_copy *copy)
{
    return copy->bytes <= (size_t)gmt_apply_plan.values[GMT_FIX_GATHERED_COPIES_most_bytes]
               ? GMT_REFUSAL_COUNT
               : GMT_REFUSAL_LARGE;
}

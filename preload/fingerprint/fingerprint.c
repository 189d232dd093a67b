/* SPDX-License-Identifier: Apache-2.0 */
/* Which transfers get a fingerprint, and taking it within the budget. */
#include "preload/fingerprint/fingerprint.h"

#include <errno.h>

#include "libtrace/record/clock.h"
#include "libtrace/record/spool.h"
#include "libtrace/record/traits.h"
#include "preload/driver/resolve.h"
#include "preload/fingerprint/hash_budget.h"
#include "preload/hash/content_hash.h"
#include "preload/overhead/overhead.h"
#include "preload/session/options.h"
#include "preload/state/allocmap.h"
#include "preload/state/user_ranges.h"

bool gmt_fingerprints_on;
static struct gmt_hash_budget budget;
static size_t limit; /* bytes up to which memory is hashed whole */

void gmt_fingerprint_start(void)
{
    gmt_fingerprints_on = gmt_options.fingerprints != GMT_PRINTS_OFF;
    limit = gmt_options.fingerprints == GMT_PRINTS_WHOLE ? SIZE_MAX
                                                         : gmt_options.fingerprint_limit_bytes;
    gmt_hash_budget_begin(&budget, gmt_options.fingerprint_budget, gmt_clock_ticks());
    if (!gmt_fingerprints_on) {
        gmt_spool_capability("fingerprints", GMT_CAP_OFF, 0,
                             "the content of transfers is not looked at",
                             "gmtrace --fingerprints sampled");
    } else {
        gmt_spool_capability("fingerprints", GMT_CAP_OK, 0, NULL, NULL);
    }
}

/* May the host read what the driver has just read or written there? The map knows what was
 * page-locked or allocated through the hooks; the driver knows all else that is not plain memory. */
static bool is_readable(uint64_t address, bool *careful)
{
    struct gmt_allocation found;
    unsigned type = 0, managed = 0, flags = 0;
    *careful = false;
    if (gmt_allocmap_find(address, &found)) {
        /* A device reaches registered pages even when the program has unmapped or protected them. */
        *careful = found.kind == GMT_ALLOC_REGISTERED;
        return (found.kind == GMT_ALLOC_HOST || found.kind == GMT_ALLOC_REGISTERED) &&
               !found.unreadable;
    }
    if (gmt_driver.cuPointerGetAttribute == NULL) {
        return false;
    }
    if (gmt_driver.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) !=
        CUDA_SUCCESS) {
        return true;
    }
    if (type != CU_MEMORYTYPE_HOST ||
        gmt_driver.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address) !=
            CUDA_SUCCESS ||
        managed != 0) {
        return false;
    }
    *careful = true;
    /* Page-locked before the recording began; or plain memory of a system that shares page tables. */
    return gmt_driver.cuMemHostGetFlags == NULL ||
           gmt_driver.cuMemHostGetFlags(&flags, (void *)(uintptr_t)address) !=
               CUDA_SUCCESS || // NOLINT
           (flags & CU_MEMHOSTALLOC_WRITECOMBINED) == 0;
}

/* The host side of a copy. False: there is none, or only the driver knows its shape. */
static bool host_range(const struct gmt_transfer *transfer, uint64_t bytes,
                       struct gmt_hash_range *range)
{
    bool up = transfer->direction == GMT_DIR_H2D;
    bool rows = transfer->width != 0 && transfer->height > 1;
    if ((!up && transfer->direction != GMT_DIR_D2H) || bytes == 0 || transfer->depth > 1) {
        return false;
    }
    uint64_t address = up ? transfer->src : transfer->dst;
    *range = (struct gmt_hash_range){
        .start = (const void *)(uintptr_t)address, // NOLINT
        .width = rows ? transfer->width : bytes,
        .rows = rows ? transfer->height : 1,
        .pitch = up ? transfer->src_pitch : transfer->dst_pitch,
    };
    return !rows || range->pitch >= range->width;
}

/* Of batches neither the time of reading nor that of arrival is promised. */
static bool is_batch(const struct gmt_hook_call *call)
{
    return (gmt_hook_traits[call->id] & GMT_TRAIT_BATCH) != 0;
}

/* A copy to pageable memory has ended when its call returns, whatever the call is named. */
static bool has_arrived(const struct gmt_hook_call *call, const struct gmt_transfer *transfer)
{
    return !is_batch(call) &&
           (transfer->direction == GMT_DIR_H2D || (call->flags & GMT_CALL_BLOCKING) != 0 ||
            transfer->dst_class == GMT_MEM_PAGEABLE);
}

static enum gmt_fingerprint_state take(const struct gmt_hook_call *call, uint8_t direction,
                                       struct gmt_hash_range *range, struct gmt_fingerprint *print)
{
    if (!is_readable((uint64_t)(uintptr_t)range->start, &range->careful)) {
        return GMT_PRINT_UNREADABLE;
    }
    /* Page-locked before the recording began: it only looked pageable. */
    if (range->careful && direction == GMT_DIR_D2H && (call->flags & GMT_CALL_BLOCKING) == 0) {
        return GMT_PRINT_ASYNCHRONOUS;
    }
    struct gmt_hash hash = gmt_hash_of(range, limit);
    *print = (struct gmt_fingerprint){
        .low = hash.low, .high = hash.high, .bytes_hashed = hash.bytes_hashed};
    return hash.bytes_hashed == 0 ? GMT_PRINT_UNREADABLE
           : hash.whole           ? GMT_PRINT_WHOLE
                                  : GMT_PRINT_SAMPLED;
}

bool gmt_fingerprint_take(const struct gmt_hook_call *call, struct gmt_transfer *transfer,
                          uint64_t bytes, struct gmt_fingerprint *print)
{
    struct gmt_hash_range range;
    uint64_t reserved;
    if (call->result != CUDA_SUCCESS || (call->flags & GMT_CALL_CAPTURING) != 0 ||
        !host_range(transfer, bytes, &range) || gmt_user_ranges_skip()) {
        return false;
    }
    if (!has_arrived(call, transfer)) {
        transfer->fingerprint = GMT_PRINT_ASYNCHRONOUS;
        return false;
    }
    /* All since the driver returned is ours. */
    if (!gmt_overhead_may_hash() || !gmt_hash_budget_reserve(&budget, gmt_hash_bytes(bytes, limit),
                                                             call->end_ticks, &reserved)) {
        transfer->fingerprint = GMT_PRINT_OVER_BUDGET;
        return false;
    }
    int saved_errno = errno;
    print->bytes_hashed = 0;
    transfer->fingerprint = (uint8_t)take(call, transfer->direction, &range, print);
    uint64_t now = gmt_clock_ticks();
    uint64_t took = now > call->end_ticks ? now - call->end_ticks : 0;
    gmt_hash_budget_settle(&budget, print->bytes_hashed, reserved, took);
    gmt_overhead_hashed(took);
    print->end_ticks = now;
    errno = saved_errno;
    return print->bytes_hashed != 0;
}

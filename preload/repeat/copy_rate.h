/* SPDX-License-Identifier: Apache-2.0 */
/* How fast memory is copied aside, learnt from each copy. */
#ifndef GMT_PRELOAD_REPEAT_COPY_RATE_H
#define GMT_PRELOAD_REPEAT_COPY_RATE_H

#include <stdint.h>

#define GMT_COPY_RATE_FIRST UINT64_C(50000) /* bytes/us, before the first copy: a slow device */
#define GMT_COPY_RATE_LEAST \
    (UINT64_C(1) << 20) /* bytes of a copy that says something of the rate */

/*
 * `rate`, bytes/us, after a copy of `bytes` that took `ns`, > 0. A faster copy shows what the device can do. A slower one need not:
 * the thread may have been kept from a processor meanwhile. So it halves the rate at most. Were it taken as it is, one such copy could
 * forbid all that follow, from which the rate would be learnt again.
 */
static inline uint64_t gmt_copy_rate_after(uint64_t rate, uint64_t bytes, uint64_t ns)
{
    if (bytes <= GMT_COPY_RATE_LEAST || ns <= 1000) {
        return rate;
    }
    uint64_t now = bytes * 1000 / ns, half = rate / 2 + rate % 2;
    return now > half ? now : half;
}

#endif

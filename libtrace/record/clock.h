/* SPDX-License-Identifier: Apache-2.0 */
/* The trace's clock: CLOCK_MONOTONIC, read as TSC ticks where the processor's TSC is invariant. */
#ifndef GMT_RECORD_CLOCK_H
#define GMT_RECORD_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "libtrace/record/layout.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

extern bool gmt_clock_uses_tsc;

/* CLOCK_MONOTONIC in ns. */
static inline uint64_t gmt_clock_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* The cheapest monotonic reading: TSC ticks, or ns where there is no invariant TSC. */
static inline uint64_t gmt_clock_ticks(void)
{
#if defined(__x86_64__)
    if (__builtin_expect(gmt_clock_uses_tsc, 1)) {
        return __rdtsc();
    }
#endif
    return gmt_clock_monotonic_ns();
}

/* Decide once which source is used (CPUID invariant TSC, and the kernel's own clocksource not having
 * rejected it). Call before the first gmt_clock_ticks. */
void gmt_clock_init(void);

/* Read both clocks at one instant: of several tries the one with the smallest uncertainty. */
struct gmt_clock_pair gmt_clock_read_pair(void);
/* The same of the wall clock: CLOCK_REALTIME in ns; *ticks gets when that was. */
uint64_t gmt_clock_read_wall(uint64_t *ticks);

#endif

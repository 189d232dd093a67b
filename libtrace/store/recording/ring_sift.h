/* SPDX-License-Identifier: Apache-2.0 */
/* Which records a window needs: those of the window, and of older ones those that still hold. */
#ifndef GMT_STORE_RECORDING_RING_SIFT_H
#define GMT_STORE_RECORDING_RING_SIFT_H

#include <stdint.h>

#include "libtrace/store/recording/ring_content.h"
#include "libtrace/store/spool/timebase.h"

/* Just before the window calls are looked at, too, so that device work is joined with the right ones. */
#define GMT_RING_MARGIN_NS UINT64_C(1000000000)

/*
 * Give each record its verdict, for a window that begins at `begin_ns` (CLOCK_MONOTONIC). What is not among
 * the records is not known: a release of memory stays until it meets its allocation, and so on. 0 or
 * -ENOMEM.
 */
int gmt_ring_sift(struct gmt_ring_content *content, struct gmt_timebase *time, uint64_t begin_ns);

/* When the last of what the records say happened, 0: nothing did. */
uint64_t gmt_ring_last_ns(const struct gmt_ring_content *content, struct gmt_timebase *time);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* How much a recording keeps that keeps its last records only: option --ring. */
#ifndef GMT_RECORD_RING_LIMITS_H
#define GMT_RECORD_RING_LIMITS_H

#include <stdint.h>

struct gmt_ring_limits {
    uint64_t ns;    /* how long a record is kept */
    uint64_t bytes; /* how much of them */
};

/* Read "30s,256M": a time (ms, s, m, h), a size (K, M, G; of 1024), or both in any order; what is left out
 * gets its default. 0, or -EINVAL: it is none, below 100 ms or 1 MiB, or above a week or 1 TiB; then *limits has the
 * defaults. */
int gmt_ring_limits_read(const char *text, struct gmt_ring_limits *limits);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The one range that is open, for a word to the user when its kernel does not end. */
#ifndef GMT_CUPTI_MEASURE_OPEN_RANGE_H
#define GMT_CUPTI_MEASURE_OPEN_RANGE_H

#include <stdint.h>

/* `kernel` lives as long as the process. */
void gmt_open_range_begins(const char *kernel, uint64_t now_ns);
/* Returns when it began. */
uint64_t gmt_open_range_ends(void);

/* A line on stderr, once for a range that has been open for over 10 s. From one thread only. */
void gmt_open_range_warn(void);

#endif

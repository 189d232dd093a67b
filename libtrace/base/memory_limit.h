/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory this process may take: a file that somebody else made must not take all of it. */
#ifndef GMT_BASE_MEMORY_LIMIT_H
#define GMT_BASE_MEMORY_LIMIT_H

#include <stdint.h>

/*
 * From here on allocations fail beyond so many bytes in all, whoever makes them: the kernel counts what can
 * be written (RLIMIT_DATA). Not under AddressSanitizer, whose own memory would count, nor above the user's
 * own limit.
 */
void gmt_memory_limit(int64_t bytes);
/* As the process was started: for what takes memory by other files (symbols), and for other programs. */
void gmt_memory_limit_lift(void);

#endif

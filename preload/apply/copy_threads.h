/* SPDX-License-Identifier: Apache-2.0 */
/* memcpy() by several threads of ours, which are made at the first use and sleep in between. */
#ifndef GMT_PRELOAD_APPLY_COPY_THREADS_H
#define GMT_PRELOAD_APPLY_COPY_THREADS_H

#include <stddef.h>

/* Copies; the caller takes part, and returns when all is copied. One caller at a time. Few bytes, or no threads: memcpy(). */
void gmt_copy_threads_copy(void *dst, const void *src, size_t bytes);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the pages of a table present before they are needed. */
#ifndef GMT_PRELOAD_UNWIND_PAGES_H
#define GMT_PRELOAD_UNWIND_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/* Entries of tables that are filled by hash lie on pages of their own: without this the first use of each
 * is a page fault, which costs as much as a good part of the walk. Nobody else may write there meanwhile.
 * May set errno. */
static inline void gmt_pages_populate(void *start, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t)start & ~(page - 1), end = (uintptr_t)start + bytes;
    if (madvise((void *)first, end - first, MADV_POPULATE_WRITE) == 0) { // NOLINT
        return;
    }
    for (uintptr_t at = (uintptr_t)start; at < end; at = (at & ~(page - 1)) + page) {
        volatile char *byte = (volatile char *)at; // NOLINT
        *byte = *byte;
    }
}

#endif

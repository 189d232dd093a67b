/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads of the interpreter's memory that cannot fault.
 *
 * A page that has not been read before is asked for through the kernel (process_vm_readv of this process), which
 * refuses where nothing is mapped. What the interpreter's own chain of live objects leads to stays mapped
 * while it is in the chain; an address that is wrong, because an offset is, lies in no page that is known.
 */
#ifndef GMT_PRELOAD_PYTHON_MEMORY_H
#define GMT_PRELOAD_PYTHON_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GMT_PYTHON_PAGE_SHIFT 12
#define GMT_PYTHON_PAGES 2048u /* a power of two */

/* Numbers of pages that could be read. */
extern _Atomic uint64_t gmt_python_pages[GMT_PYTHON_PAGES];

/* May the page be read? The slow way; it is noted if so. */
bool gmt_python_page_ask(uint64_t page);

static inline bool gmt_python_page_known(uint64_t page)
{
    uint64_t known = atomic_load_explicit(&gmt_python_pages[(page ^ page >> 11) % GMT_PYTHON_PAGES],
                                          memory_order_relaxed);
    return __builtin_expect(known == page, 1) || gmt_python_page_ask(page);
}

/* Can [at, at + bytes) be read? */
static inline bool gmt_python_readable(uintptr_t at, size_t bytes)
{
    uint64_t first = at >> GMT_PYTHON_PAGE_SHIFT;
    uint64_t last = (at + bytes - 1) >> GMT_PYTHON_PAGE_SHIFT;
    /* Below lie numbers, above the kernel. */
    if (bytes == 0 || at < 65536 || last >> (47 - GMT_PYTHON_PAGE_SHIFT) != 0 || last < first) {
        return false;
    }
    for (uint64_t page = first; page <= last; page++) {
        if (!gmt_python_page_known(page)) {
            return false;
        }
    }
    return true;
}

/* For what has been found readable. */
__attribute__((no_sanitize("address"), always_inline)) static inline uint64_t
gmt_python_load(uintptr_t at)
{
    return *(const uint64_t *)at; // NOLINT(performance-no-int-to-ptr)
}
__attribute__((no_sanitize("address"), always_inline)) static inline uint8_t
gmt_python_load_byte(uintptr_t at)
{
    return *(const uint8_t *)at; // NOLINT(performance-no-int-to-ptr)
}
__attribute__((no_sanitize("address"), always_inline)) static inline int32_t
gmt_python_load_int(uintptr_t at)
{
    return *(const int32_t *)at; // NOLINT(performance-no-int-to-ptr)
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the kernel which pages can be read. */
#include "preload/python/memory.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

_Atomic uint64_t gmt_python_pages[GMT_PYTHON_PAGES];

bool gmt_python_page_ask(uint64_t page)
{
    char byte;
    int saved_errno = errno;
    struct iovec here = {.iov_base = &byte, .iov_len = 1};
    struct iovec there = {.iov_base = (void *)(page << GMT_PYTHON_PAGE_SHIFT), // NOLINT
                          .iov_len = 1};
    bool can = process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1;
    errno = saved_errno;
    if (can) {
        atomic_store_explicit(&gmt_python_pages[(page ^ page >> 11) % GMT_PYTHON_PAGES], page,
                              memory_order_relaxed);
    }
    return can;
}

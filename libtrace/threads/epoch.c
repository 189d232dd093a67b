/* SPDX-License-Identifier: Apache-2.0 */
/* The page that the epoch lies on. */
#include "libtrace/threads/epoch.h"

#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

static _Atomic uint32_t standing = GMT_EPOCH_NONE; /* where no such page can be had */
_Atomic uint32_t *_Atomic gmt_epoch_word = &standing;

static _Atomic uint32_t *make_page(void)
{
    size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        return &standing;
    }
    if (madvise(page, bytes, MADV_WIPEONFORK) != 0) {
        (void)munmap(page, bytes);
        return &standing;
    }
    _Atomic uint32_t *word = page;
    atomic_store(word, GMT_EPOCH_NONE);
    return word;
}

void gmt_epoch_begin(void)
{
    static uint32_t last = GMT_EPOCH_NONE;
    if (gmt_epoch_word == &standing) {
        gmt_epoch_word = make_page();
    }
    atomic_store_explicit(gmt_epoch_word, ++last, memory_order_release);
}

bool gmt_epoch_settle(void)
{
    uint32_t seen = GMT_EPOCH_FORKED;
    if (gmt_epoch_word == &standing) {
        return true;
    }
    return atomic_compare_exchange_strong(gmt_epoch_word, &seen, GMT_EPOCH_SETTLING);
}

void gmt_epoch_end(void)
{
    atomic_store_explicit(gmt_epoch_word, GMT_EPOCH_NONE, memory_order_release);
}

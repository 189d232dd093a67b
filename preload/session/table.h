/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large tables, mapped at their first use.
 *
 * In .bss they would count against RLIMIT_DATA in every program that the library is preloaded into, most
 * of which never use CUDA. A table is there from the moment that its pointer is, and stays: whoever reads
 * without a lock loads the pointer once and takes NULL for a table without entries.
 */
#ifndef GMT_PRELOAD_SESSION_TABLE_H
#define GMT_PRELOAD_SESSION_TABLE_H

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

typedef void *_Atomic gmt_table_pointer;

/* The table, NULL: nobody has needed it yet. */
static inline void *gmt_table(gmt_table_pointer *table)
{
    return atomic_load_explicit(table, memory_order_acquire);
}

/* The table, made of zeros if there is none; NULL: no memory. Any number of threads may ask at once. */
static inline void *gmt_table_need(gmt_table_pointer *table, size_t bytes)
{
    void *there = gmt_table(table);
    if (__builtin_expect(there != NULL, 1)) {
        return there;
    }
    int saved_errno = errno;
    void *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) {
        errno = saved_errno;
        return NULL;
    }
    if (atomic_compare_exchange_strong(table, &there, made)) {
        return made;
    }
    (void)munmap(made, bytes);
    return there;
}

#endif

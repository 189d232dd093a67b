/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The epoch: a number that changes whenever another spool is this process's, or none is.
 *
 * It lies on a page that the kernel clears in every child (MADV_WIPEONFORK, Linux 4.14): so a process
 * that was made by _Fork, by the system call or by clone, where no handler of pthread_atfork runs,
 * sees at its next look that the spool it has mapped is its parent's. On older kernels such a process
 * cannot be distinguished from its parent.
 */
#ifndef GMT_THREADS_EPOCH_H
#define GMT_THREADS_EPOCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define GMT_EPOCH_FORKED 0u        /* the parent's spool is mapped, and nobody has looked yet */
#define GMT_EPOCH_NONE 1u          /* there is no spool; higher ones are those of spools */
#define GMT_EPOCH_NEVER UINT32_MAX /* no epoch: for what has not been used in any */
#define GMT_EPOCH_SETTLING (UINT32_MAX - 1) /* a thread of the child is letting go of it */

extern _Atomic uint32_t *_Atomic gmt_epoch_word;

static inline uint32_t gmt_epoch(void)
{
    const _Atomic uint32_t *word = atomic_load_explicit(&gmt_epoch_word, memory_order_relaxed);
    return atomic_load_explicit(word, memory_order_acquire);
}

/* Of a new spool; one caller at a time. */
void gmt_epoch_begin(void);
/* In a forked child: false if another of its threads is at it, or has done it. True where it cannot be
 * known. */
bool gmt_epoch_settle(void);
/* In a forked child, or where the spool could not be had after all. */
void gmt_epoch_end(void);

#endif

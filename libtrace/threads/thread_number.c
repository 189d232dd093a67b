/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers the threads of a spool in the order in which they first write. */
#include "libtrace/threads/thread_number.h"

#include <stdatomic.h>

_Thread_local
    __attribute__((tls_model("initial-exec"))) struct gmt_thread_number gmt_thread_number = {
        .epoch = GMT_EPOCH_NEVER};

static _Atomic uint32_t threads;

uint32_t gmt_thread_number_take(void)
{
    gmt_thread_number = (struct gmt_thread_number){
        .number = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) + 1,
        .epoch = gmt_epoch(),
    };
    return gmt_thread_number.number;
}

void gmt_thread_numbers_reset(void)
{
    atomic_store(&threads, 0);
}

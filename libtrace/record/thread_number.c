/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers the threads of a spool in the order in which they first write. */
#include "libtrace/record/thread_number.h"

#include <stdatomic.h>

#include "libtrace/record/epoch.h"

/* Initial-exec: the library is preloaded, never dlopen'ed late. */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
    uint32_t number; /* 0: none yet */
    uint32_t epoch;  /* of the spool this belongs to */
} tls = {.epoch = GMT_EPOCH_NEVER};

static _Atomic uint32_t threads;

bool gmt_thread_number(uint32_t *number)
{
    uint32_t epoch = gmt_epoch();
    bool is_new = tls.number == 0 || tls.epoch != epoch;
    if (__builtin_expect(is_new, 0)) {
        tls.number = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) + 1;
        tls.epoch = epoch;
    }
    *number = tls.number;
    return is_new;
}

void gmt_thread_numbers_reset(void)
{
    atomic_store(&threads, 0);
}

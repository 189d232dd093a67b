/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out that a thread ends, inside of a call or not (threads.h). */
#include "preload/guard/threads.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "libtrace/record/spool.h"
#include "preload/guard/guard.h"
#include "preload/guard/hold.h"
#include "preload/unwind/stack.h"

static pthread_key_t exit_key;
static bool has_exit_key;

void gmt_guard_count_left_call(void)
{
    gmt_spool_void();
    gmt_spool_loss("call not recorded", "left by longjmp, an exception or cancellation", 1);
}

static void thread_exits(void *unused)
{
    (void)unused;
    gmt_hold_left();
    gmt_guard.hook = 0;
    if (gmt_guard_is_inside()) {
        gmt_guard.frame = GMT_GUARD_SHUT; /* was_left() looks at no frame of a thread that ends */
        gmt_guard_count_left_call();
        gmt_guard.frame = NULL;
    }
    gmt_hold_thread_ends();
    gmt_guard.epoch = GMT_EPOCH_NEVER; /* other destructors may use CUDA: then it begins anew */
}

void gmt_guard_start(void)
{
    if (!has_exit_key) {
        has_exit_key = pthread_key_create(&exit_key, thread_exits) == 0;
    }
}

void gmt_guard_forked(void)
{
    gmt_guard = (struct gmt_guard){.epoch = GMT_EPOCH_NEVER};
    gmt_hold_forked();
}

void gmt_guard_note_thread(void)
{
    bool ends_noted = has_exit_key && pthread_setspecific(exit_key, &gmt_guard) == 0;
    gmt_hold_thread_begins(ends_noted);
    gmt_stack_note_thread();
    gmt_guard.epoch = gmt_epoch();
}

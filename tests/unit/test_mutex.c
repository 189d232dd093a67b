/* SPDX-License-Identifier: Apache-2.0 */
/* Mutexes are taken in the order of locks.def, and the check finds where they are not. */
#define GMT_CHECK_LOCKS 1 /* also where the build does not check */
#include "libtrace/threads/mutex.h"

#include <criterion/criterion.h>
#include <signal.h>

static struct gmt_mutex upper = GMT_MUTEX(KERNELS), lower = GMT_MUTEX(CONTEXTS);

Test(mutex, may_be_taken_in_rising_order)
{
    gmt_mutex_lock(&upper);
    gmt_mutex_lock(&lower);
    gmt_mutex_unlock(&lower);
    gmt_mutex_lock(&lower);
    gmt_mutex_unlock(&upper); /* released in any order */
    gmt_mutex_unlock(&lower);
    gmt_mutex_lock(&upper);
    gmt_mutex_unlock(&upper);
}

Test(mutex, is_not_waited_for_with_one_of_a_higher_rank, .signal = SIGABRT)
{
    gmt_mutex_lock(&lower);
    gmt_mutex_lock(&upper);
}

Test(mutex, is_not_waited_for_until_a_time_either, .signal = SIGABRT)
{
    gmt_mutex_lock(&lower);
    (void)gmt_mutex_lock_until(&upper, &(struct timespec){0});
}

Test(mutex, is_not_taken_twice, .signal = SIGABRT)
{
    gmt_mutex_lock(&upper);
    gmt_mutex_lock(&upper);
}

Test(mutex, may_be_tried_out_of_order_and_counts_then)
{
    gmt_mutex_lock(&lower);
    cr_assert(gmt_mutex_try(&upper));
    cr_assert_not(gmt_mutex_try(&upper));
    gmt_mutex_unlock(&lower);
    gmt_mutex_lock(&lower); /* above the one that was tried */
    gmt_mutex_unlock(&lower);
    gmt_mutex_unlock(&upper);
}

Test(mutex, that_was_tried_is_held, .signal = SIGABRT)
{
    cr_assert(gmt_mutex_try(&lower));
    gmt_mutex_lock(&upper);
}

Test(mutex, is_released_by_the_thread_that_has_it, .signal = SIGABRT)
{
    gmt_mutex_lock(&upper);
    gmt_mutex_unlock(&lower);
}

static void *take_upper(void *unused)
{
    gmt_mutex_lock(&upper);
    gmt_mutex_unlock(&upper);
    return unused;
}

Test(mutex, ranks_are_those_of_one_thread)
{
    pthread_t thread;
    gmt_mutex_lock(&lower);
    cr_assert_eq(pthread_create(&thread, NULL, take_upper, NULL), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    gmt_mutex_unlock(&lower);
}

Test(mutex, that_is_renewed_is_held_by_nobody)
{
    gmt_mutex_lock(&lower);
    gmt_mutex_renew(&lower);
    gmt_mutex_lock(&upper);
    gmt_mutex_lock(&lower);
    gmt_mutex_unlock(&lower);
    gmt_mutex_unlock(&upper);
}

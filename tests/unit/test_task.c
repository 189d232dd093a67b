/* SPDX-License-Identifier: Apache-2.0 */
#include "libtrace/cupti/base/task.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SHORT_NS 1000000
#define TRIES 10000u

static _Atomic uint32_t tid;
static _Atomic bool ends;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static unsigned wishes;

static uint32_t own_tid(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

static void rest(void)
{
    struct timespec time = {.tv_nsec = SHORT_NS};
    (void)nanosleep(&time, NULL);
}

static void *sleeper(void *unused)
{
    atomic_store(&tid, own_tid());
    pthread_mutex_lock(&mutex);
    while (!atomic_load(&ends)) {
        pthread_cond_wait(&condition, &mutex);
        wishes--;
    }
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *spinner(void *unused)
{
    atomic_store(&tid, own_tid());
    while (!atomic_load(&ends)) {
    }
    return unused;
}

static pthread_t begin(void *(*function)(void *))
{
    pthread_t thread;
    atomic_store(&tid, 0);
    atomic_store(&ends, false);
    cr_assert_eq(pthread_create(&thread, NULL, function, NULL), 0);
    while (atomic_load(&tid) == 0) {
        rest();
    }
    return thread;
}

static void wish(bool end)
{
    pthread_mutex_lock(&mutex);
    wishes++;
    atomic_store(&ends, end);
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
}

/* Waits until the thread has done all that it was woken for, and sleeps again. */
static struct gmt_task_place asleep(void)
{
    struct gmt_task_place place = {0};
    unsigned left = 1;
    for (unsigned tries = 0; tries < TRIES; tries++) {
        pthread_mutex_lock(&mutex);
        left = wishes;
        pthread_mutex_unlock(&mutex);
        if (left == 0 && gmt_task_is_asleep(atomic_load(&tid), &place)) {
            return place;
        }
        rest();
    }
    cr_assert(false, "the thread does not sleep, with %u wishes left", left);
    return place;
}

Test(task, a_thread_that_sleeps_again_is_at_the_same_place_and_has_slept_once_more)
{
    pthread_t thread = begin(sleeper);
    struct gmt_task_place first = asleep();
    uint64_t before = 0, after = 0;
    cr_assert(gmt_task_sleeps_made(atomic_load(&tid), &before));
    wish(false);
    struct gmt_task_place second = asleep();
    cr_assert(gmt_task_sleeps_made(atomic_load(&tid), &after));
    cr_assert_neq(first.stack, 0);
    cr_assert_eq(first.stack, second.stack);
    cr_assert_eq(first.code, second.code);
    cr_assert_gt(after, before);
    wish(true);
    (void)pthread_join(thread, NULL);
}

Test(task, a_thread_that_works_is_not_asleep)
{
    pthread_t thread = begin(spinner);
    struct gmt_task_place place;
    for (unsigned i = 0; i < 100; i++) {
        cr_assert_not(gmt_task_is_asleep(atomic_load(&tid), &place));
    }
    atomic_store(&ends, true);
    (void)pthread_join(thread, NULL);
}

Test(task, all_threads_are_listed_and_counted_where_there_is_no_room)
{
    uint32_t tids[64], one[1];
    size_t before = gmt_task_list(tids, 64);
    pthread_t thread = begin(sleeper);
    size_t count = gmt_task_list(tids, 64);
    bool has_own = false, has_other = false;
    for (size_t i = 0; i < count; i++) {
        has_own |= tids[i] == own_tid();
        has_other |= tids[i] == atomic_load(&tid);
    }
    cr_assert_gt(count, before);
    cr_assert(has_own);
    cr_assert(has_other);
    cr_assert_eq(gmt_task_list(one, 1), count);
    wish(true);
    (void)pthread_join(thread, NULL);
}

Test(task, nothing_is_known_of_a_thread_that_is_not_of_this_process)
{
    uint64_t count;
    struct gmt_task_place place;
    cr_assert_not(gmt_task_sleeps_made(1, &count));
    cr_assert_not(gmt_task_is_asleep(1, &place));
}

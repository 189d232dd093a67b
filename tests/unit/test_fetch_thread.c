/* SPDX-License-Identifier: Apache-2.0 */
#include "libtrace/cupti/base/fetch_thread.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#define OTHERS (sizeof(periods_us) / sizeof(periods_us[0]))
#define PAUSE_LEAST_MS 1000u
#define NEVER_MS 3600000u

/* A thread like CUPTI's, and others that have nothing to do with it. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER;
static uint32_t period_ms = NEVER_MS;
static unsigned wakes;
static _Atomic unsigned passes;
static _Atomic unsigned pass_us, slow_pass; /* slow_pass: its number, 0 for none */
static sem_t stuck;
static _Atomic bool gets_stuck, answers = true;

static struct timespec in(uint32_t ms)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += (long)(ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    return until;
}

static void pass(void)
{
    if (atomic_exchange(&gets_stuck, false)) {
        (void)sem_wait(&stuck);
    }
    unsigned number = atomic_fetch_add(&passes, 1) + 1;
    (void)usleep(number == atomic_load(&slow_pass) ? 40000 : atomic_load(&pass_us));
}

static void nothing(void)
{
}

/* What it does when it is woken, and at the end of each period. */
struct job {
    void (*pass)(void);
};
static struct job main_job = {pass}, other_job = {nothing};

static void *work(void *data)
{
    const struct job *job = data;
    pthread_mutex_lock(&mutex);
    unsigned seen = wakes;
    for (;;) {
        struct timespec until = in(period_ms);
        int ended = 0;
        while (wakes == seen && ended == 0) {
            ended = pthread_cond_timedwait(&woken, &mutex, &until);
        }
        seen = wakes;
        pthread_mutex_unlock(&mutex);
        job->pass();
        pthread_mutex_lock(&mutex);
    }
    return data;
}

static const useconds_t periods_us[] = {300, 1500, 4500, 5000};

static void *tick(void *period_us)
{
    for (;;) {
        (void)usleep(*(const useconds_t *)period_us);
    }
    return period_us;
}

static CUptiResult set_period(uint32_t ms)
{
    pthread_mutex_lock(&mutex);
    period_ms = ms;
    if (atomic_load(&answers)) {
        wakes++;
        pthread_cond_broadcast(&woken);
    }
    pthread_mutex_unlock(&mutex);
    return CUPTI_SUCCESS;
}

static const struct gmt_cupti_api api = {.cuptiActivityFlushPeriod = set_period};

static void begin_worker(struct job *job)
{
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, work, job), 0);
    (void)pthread_detach(thread);
}

static void begin(void)
{
    pthread_t thread;
    (void)sem_init(&stuck, 0, 0);
    begin_worker(&main_job);
    for (size_t i = 0; i < OTHERS; i++) {
        cr_assert_eq(pthread_create(&thread, NULL, tick, (void *)&periods_us[i]), 0);
        (void)pthread_detach(thread);
    }
}

/* On a machine that does other things it may not rest in time, and is not asked again at once. */
static enum gmt_fetch_thread pause_soon(void)
{
    enum gmt_fetch_thread found = gmt_fetch_thread_pause(&api);
    for (unsigned tries = 0; found == GMT_FETCH_THREAD_BUSY && tries < 1000; tries++) {
        (void)usleep(10000);
        found = gmt_fetch_thread_pause(&api);
    }
    return found;
}

static void pause_often(void)
{
    for (unsigned i = 0; i < 20; i++) {
        unsigned before = atomic_load(&passes);
        cr_assert_eq(pause_soon(), GMT_FETCH_THREAD_SLEEPS);
        unsigned during = atomic_load(&passes);
        cr_assert_gt(during, before, "it has fetched what there was");
        cr_assert_geq(period_ms, PAUSE_LEAST_MS);
        (void)usleep(5000);
        cr_assert_eq(atomic_load(&passes), during);
        gmt_fetch_thread_resume(&api);
        cr_assert_eq(period_ms, GMT_FETCH_THREAD_PERIOD_MS);
    }
}

Test(fetch_thread, does_nothing_in_its_pause, .init = begin)
{
    atomic_store(&pass_us, 300);
    pause_often();
}

Test(fetch_thread, is_found_by_slow_work_too, .init = begin)
{
    atomic_store(&pass_us, 1000);
    pause_often();
}

Test(fetch_thread, is_the_one_that_began_with_cupti_of_two_that_are_woken)
{
    begin_worker(&other_job);
    gmt_fetch_thread_starting();
    begin();
    gmt_fetch_thread_started();
    atomic_store(&pass_us, 300);
    pause_often();
}

Test(fetch_thread, is_not_known_where_two_are_woken, .init = begin)
{
    begin_worker(&other_job);
    cr_assert_eq(pause_soon(), GMT_FETCH_THREAD_UNKNOWN);
}

Test(fetch_thread, that_was_only_looked_for_works_as_before, .init = begin)
{
    gmt_fetch_thread_find(&api);
    cr_assert_eq(period_ms, GMT_FETCH_THREAD_PERIOD_MS);
}

ParameterizedTestParameters(fetch_thread, that_waits_while_it_is_looked_for_does_not_rest_there)
{
    static unsigned numbers[] = {1, 2, 3, 4, 5, 6, 7};
    return cr_make_param_array(unsigned, numbers, sizeof(numbers) / sizeof(numbers[0]));
}

/* Wherever in the search that is. */
ParameterizedTest(unsigned *number, fetch_thread,
                  that_waits_while_it_is_looked_for_does_not_rest_there, .init = begin)
{
    atomic_store(&slow_pass, *number);
    cr_assert_eq(pause_soon(), GMT_FETCH_THREAD_SLEEPS);
}

Test(fetch_thread, that_waits_for_something_else_is_busy_and_goes_on_as_before, .init = begin)
{
    cr_assert_eq(pause_soon(), GMT_FETCH_THREAD_SLEEPS);
    gmt_fetch_thread_resume(&api);
    (void)usleep(20000);
    atomic_store(&gets_stuck, true);
    cr_assert_eq(gmt_fetch_thread_pause(&api), GMT_FETCH_THREAD_BUSY);
    cr_assert_eq(period_ms, GMT_FETCH_THREAD_PERIOD_MS);
    (void)sem_post(&stuck);
    cr_assert_eq(pause_soon(), GMT_FETCH_THREAD_SLEEPS);
}

Test(fetch_thread, that_nobody_wakes_is_none_of_those_that_wake_by_themselves, .init = begin)
{
    atomic_store(&answers, false);
    cr_assert_eq(pause_soon(), GMT_FETCH_THREAD_UNKNOWN);
    cr_assert_eq(period_ms, GMT_FETCH_THREAD_PERIOD_MS);
}

Test(fetch_thread, errno_is_kept, .init = begin)
{
    errno = EDOM;
    (void)gmt_fetch_thread_pause(&api);
    gmt_fetch_thread_resume(&api);
    cr_assert_eq(errno, EDOM);
}

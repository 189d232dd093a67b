/* SPDX-License-Identifier: Apache-2.0 */
/* The device's thread: which of the operations that could be done is done next, and those who wait for it. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "simgpu/order/state.h"

#define IDLE_MS 500u /* without a call: the host may be looking at memory */
#define LONG_MS \
    1000u /* an operation that takes longer may be waiting for the host, which goes on */
#define END_MS 2000u
#define MOST_OPEN 1024u /* a call that submits waits until there are no more, as a driver's does */

struct waiter {
    struct waiter *next;
    const struct sim_operation *operation; /* NULL: all up to the number */
    uint64_t up_to;
    bool is_over;
};

static struct {
    pthread_once_t once;
    pthread_cond_t wake, host; /* what the device's thread waits on, and what the others do */
    bool is_started, is_stopped, is_idle;
    unsigned budget; /* operations to be done though nobody waits */
    uint64_t calls;
    struct sim_operation *running;
    struct waiter *waiters;
    /* Drawn from the seed: how often, of 4, the device gets on when nobody waits, or does what nobody waits for. */
    unsigned eager, extra;
} device = {.once = PTHREAD_ONCE_INIT};

static _Thread_local bool is_device;

/* ---- choosing ---------------------------------------------------------------------------------- */

/* NULL: nothing is to be done now. */
static struct sim_operation *choose(void)
{
    if (sim_ready_count == 0 || device.is_stopped) {
        return NULL;
    }
    size_t needed = device.waiters != NULL ? sim_ready_needed() : 0;
    if (device.waiters != NULL) {
        bool only = needed != 0 && (needed == sim_ready_count || sim_draw(4) >= device.extra);
        return sim_ready_take(only, only ? needed : sim_ready_count);
    }
    if (device.budget != 0) {
        device.budget--;
        return sim_ready_take(false, sim_ready_count);
    }
    return device.is_idle ? sim_ready_take(false, sim_ready_count) : NULL;
}

/* ---- the thread -------------------------------------------------------------------------------- */

static struct timespec after_ms(unsigned ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += ms / 1000;
    at.tv_nsec += (long)(ms % 1000) * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_nsec -= 1000000000;
        at.tv_sec++;
    }
    return at;
}

static bool over(const struct waiter *waiter)
{
    const struct sim_operation *oldest = sim_order.open.first;
    return waiter->operation != NULL ? waiter->operation->is_done
                                     : oldest == NULL || oldest->number > waiter->up_to;
}

/* At once, by this thread: what is chosen next must not depend on when they go on. */
static void end_waits(void)
{
    struct waiter **at = &device.waiters;
    while (*at != NULL) {
        if (over(*at)) {
            (*at)->is_over = true;
            *at = (*at)->next;
        } else {
            at = &(*at)->next;
        }
    }
}

static void do_operation(struct sim_operation *operation)
{
    device.running = operation;
    operation->is_running = true;
    pthread_mutex_unlock(&sim_order.lock);
    if (operation->work.run != NULL) {
        operation->work.run(operation->work.data);
    }
    pthread_mutex_lock(&sim_order.lock);
    device.running = NULL;
    sim_operation_over(operation);
    end_waits();
    pthread_cond_broadcast(&device.host);
}

/* Nothing to do: until there is, or no call has come for a while. */
static void rest(void)
{
    uint64_t calls = device.calls;
    if (sim_ready_count == 0 || device.is_stopped) {
        pthread_cond_wait(&device.wake, &sim_order.lock);
        return;
    }
    struct timespec until = after_ms(IDLE_MS);
    int result = pthread_cond_timedwait(&device.wake, &sim_order.lock, &until);
    device.is_idle = result == ETIMEDOUT && device.calls == calls;
}

static void *device_thread(void *unused)
{
    is_device = true;
    pthread_mutex_lock(&sim_order.lock);
    for (;;) {
        struct sim_operation *next = choose();
        if (next != NULL) {
            do_operation(next);
        } else {
            device.budget = 0;
            pthread_cond_broadcast(&device.host);
            rest();
        }
    }
    return unused;
}

static void start(void)
{
    pthread_condattr_t monotonic;
    pthread_attr_t detached;
    pthread_t thread;
    sigset_t all, old;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&device.wake, &monotonic);
    pthread_cond_init(&device.host, &monotonic);
    pthread_condattr_destroy(&monotonic);
    device.eager = (unsigned)sim_draw(5);
    device.extra = (unsigned)sim_draw(4);
    sim_ready_by_weight = sim_draw(2) == 0;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    sigfillset(&all); /* signals are the program's */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    device.is_started = pthread_create(&thread, &detached, device_thread, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&detached);
}

/* Locked. A call has come. */
static void called(void)
{
    (void)pthread_once(&device.once, start);
    device.calls++;
    device.is_idle = false;
}

/* Locked. The device does up to `count` operations; not waited for longer than LONG_MS. */
static void get_on(unsigned count)
{
    if (count == 0 || device.running != NULL || device.waiters != NULL || is_device) {
        pthread_cond_signal(&device.wake);
        return;
    }
    struct timespec until = after_ms(LONG_MS);
    device.budget = count;
    pthread_cond_signal(&device.wake);
    while ((device.budget != 0 || device.running != NULL) && device.is_started &&
           pthread_cond_timedwait(&device.host, &sim_order.lock, &until) != ETIMEDOUT) {
    }
    device.budget = 0;
}

/* ---- the host ---------------------------------------------------------------------------------- */

bool sim_order_is_device(void)
{
    return is_device;
}

void sim_order_progress(void)
{
    pthread_mutex_lock(&sim_order.lock);
    called();
    unsigned count = sim_draw(4) < device.eager ? 1 + (unsigned)sim_draw(4) : 0;
    if (sim_order.open.count > MOST_OPEN) {
        count += (unsigned)(sim_order.open.count - MOST_OPEN);
    }
    get_on(count);
    sim_conflicts_forget();
    pthread_mutex_unlock(&sim_order.lock);
}

/* Locked. Itself, and all that is open before it. */
static void need(struct sim_operation *operation)
{
    if (operation->is_done || operation->is_needed) {
        return;
    }
    operation->is_needed = true;
    for (struct sim_operation *at = sim_order.open.last; at != NULL; at = at->previous) {
        for (size_t i = 0; at->is_needed && i < at->before_count; i++) {
            at->before[i]->is_needed =
                true; /* it was submitted earlier: it comes next in this loop */
        }
    }
}

/* Locked. */
static bool wait_for(struct waiter *waiter, unsigned timeout_ms)
{
    struct timespec until = after_ms(timeout_ms);
    called();
    if (over(waiter)) {
        return true;
    }
    waiter->next = device.waiters;
    device.waiters = waiter;
    pthread_cond_signal(&device.wake);
    while (!waiter->is_over && device.is_started) {
        if (timeout_ms == 0) {
            pthread_cond_wait(&device.host, &sim_order.lock);
        } else if (pthread_cond_timedwait(&device.host, &sim_order.lock, &until) == ETIMEDOUT) {
            break;
        }
    }
    for (struct waiter **at = &device.waiters; *at != NULL; at = &(*at)->next) {
        if (*at == waiter) {
            *at = waiter->next;
            break;
        }
    }
    return waiter->is_over;
}

bool sim_operation_wait(struct sim_operation *operation, unsigned timeout_ms)
{
    struct waiter waiter = {.operation = operation};
    pthread_mutex_lock(&sim_order.lock);
    need(operation);
    bool done = wait_for(&waiter, timeout_ms);
    if (done) {
        sim_clock_seen(operation);
        sim_conflicts_forget();
    }
    pthread_mutex_unlock(&sim_order.lock);
    return done;
}

void sim_order_drain(void)
{
    if (sim_order_on() && !is_device) {
        sim_order_wait_all();
    }
}

void sim_order_wait_all(void)
{
    struct waiter waiter = {.up_to = 0};
    pthread_mutex_lock(&sim_order.lock);
    waiter.up_to = sim_order.submitted;
    for (struct sim_operation *at = sim_order.open.first; at != NULL; at = at->next) {
        at->is_needed = true;
    }
    if (wait_for(&waiter, 0)) {
        sim_order.all_seen = waiter.up_to;
        for (struct sim_operation *at = sim_order.remembered.first; at != NULL; at = at->next) {
            if (at->seen == 0 && at->number <= waiter.up_to) {
                at->seen = sim_order.submitted + 1;
            }
        }
        sim_conflicts_forget();
    }
    pthread_mutex_unlock(&sim_order.lock);
}

void sim_device_query_begins(void)
{
    pthread_mutex_lock(&sim_order.lock);
    called();
    get_on((unsigned)sim_draw(2));
    pthread_mutex_unlock(&sim_order.lock);
}

bool sim_operation_query(struct sim_operation *operation)
{
    if (!sim_operation_done(operation)) {
        sim_device_query_begins();
    }
    pthread_mutex_lock(&sim_order.lock);
    bool done = operation->is_done;
    if (done) {
        sim_clock_seen(operation);
        sim_conflicts_forget();
    }
    pthread_mutex_unlock(&sim_order.lock);
    return done;
}

void sim_order_stop(void)
{
    pthread_mutex_lock(&sim_order.lock);
    struct timespec until = after_ms(END_MS);
    device.is_stopped = true;
    while (device.running != NULL && !is_device &&
           pthread_cond_timedwait(&device.host, &sim_order.lock, &until) != ETIMEDOUT) {
    }
    pthread_mutex_unlock(&sim_order.lock);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps other threads out of the driver for a while (hold.h). */
#include "preload/guard/hold.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/record/clock.h"
#include "libtrace/record/spool.h"
#include "libtrace/record/traits.h"
#include "libtrace/sections/section.h"
#include "libtrace/threads/cancellation.h"
#include "libtrace/threads/mutex.h"
#include "preload/driver/hook_ids.h"
#include "preload/guard/guard.h"

/* gmt_hold_state. */
enum { FREE, HELD, UNDOING, KEPT, BROKEN };

#define LEAVE_PART 25u /* of the limit, for others to leave the calls that they are inside of */
#define STEP_NS UINT64_C(1000000)
#define STEP_MOST_NS UINT64_C(20000000)
#define ALONE_NS UINT64_C(1000000000) /* that one piece of work may take where nobody waits */

_Atomic uint32_t gmt_hold_state;

static struct gmt_mutex mutex = GMT_MUTEX(THREADS);
static struct gmt_guard *threads; /* all that use CUDA */
static _Atomic unsigned count;
static _Atomic bool strangers; /* a thread that is not in the list may use CUDA */
static _Atomic uint64_t since_ns;
static _Atomic uint64_t alive_ns; /* the holder's last sign of life in KEPT */
static _Atomic uint64_t limit_ns = GMT_HOLD_NS, launch_limit_ns = GMT_HOLD_TIMEOUT_NS;
static _Atomic uint64_t timeout_ns = GMT_HOLD_TIMEOUT_NS; /* for what the holder does now */
static bool registered;                                   /* for expedited membarrier */
/* The holder, while there is one, and its signals, which wait for the end of what it keeps: a handler may leave by longjmp. */
static struct gmt_guard *_Atomic holder;
static sigset_t signals;

void gmt_hold_set_limit(uint64_t ns)
{
    atomic_store(&limit_ns, ns);
}

void gmt_hold_set_launch_limit(uint64_t ns)
{
    atomic_store(&launch_limit_ns, ns);
}

/* ---- what a call does --------------------------------------------------------------------------- */

/* Such a call waits for the device, and puts nothing into a stream. */
static bool only_waits(unsigned hook)
{
    return hook < GMT_HOOK_COUNT && (gmt_hook_traits[hook] & GMT_TRAIT_HOST_WAITS) != 0;
}

/* ---- threads ------------------------------------------------------------------------------------ */

void gmt_hold_thread_begins(bool ends_noted)
{
    struct gmt_guard *own = &gmt_guard;
    if (own->listed) {
        return;
    }
    /* A thread that uses CUDA after our destructor ran (pthread_key_create) may end without running it again. */
    if (!ends_noted || own->ended) {
        atomic_store(&strangers, true); /* nobody would take it out of the list again */
        return;
    }
    gmt_mutex_lock(&mutex);
    own->listed = true;
    own->next = threads;
    own->before_it = NULL;
    if (threads != NULL) {
        threads->before_it = own;
    }
    threads = own;
    atomic_fetch_add(&count, 1);
    gmt_mutex_unlock(&mutex);
    atomic_thread_fence(
        memory_order_seq_cst); /* a holder counts the threads before it looks at them */
}

void gmt_hold_thread_ends(void)
{
    struct gmt_guard *own = &gmt_guard;
    own->ended = true;
    if (!own->listed) {
        return;
    }
    gmt_mutex_lock(&mutex);
    own->listed = false;
    if (own->before_it != NULL) {
        own->before_it->next = own->next;
    } else {
        threads = own->next;
    }
    if (own->next != NULL) {
        own->next->before_it = own->before_it;
    }
    atomic_fetch_sub(&count, 1);
    gmt_mutex_unlock(&mutex);
}

void gmt_hold_forked(void)
{
    gmt_mutex_renew(&mutex);
    threads = NULL;
    atomic_store(&count, 0);
    atomic_store(&strangers, false);
    atomic_store(&gmt_hold_state, FREE);
    atomic_store(&holder, NULL);
    registered = false;
}

/* ---- those who are held ------------------------------------------------------------------------- */

static void futex_wait(uint32_t state, uint64_t ns)
{
    struct timespec rest = {.tv_sec = (time_t)(ns / UINT64_C(1000000000)),
                            .tv_nsec = (long)(ns % UINT64_C(1000000000))};
    (void)syscall(SYS_futex, &gmt_hold_state, FUTEX_WAIT_PRIVATE, state, &rest, NULL, 0);
}

static uint64_t age_ns(const _Atomic uint64_t *of)
{
    uint64_t then_ns = atomic_load(of), now_ns = gmt_clock_monotonic_ns();
    return now_ns > then_ns ? now_ns - then_ns : 0;
}

/* The holder is inside of the driver or of CUPTI, and does not come back; it may wait for what a thread has that is held, the
 * loader's lock for example. */
static void give_holder_up(void)
{
    uint32_t state = KEPT;
    if (atomic_compare_exchange_strong(&gmt_hold_state, &state, BROKEN)) {
        struct gmt_cancellation of_program = gmt_cancellation_hold();
        gmt_spool_loss("kernel counters",
                       "measuring a launch did not go on: the other threads were let go", 1);
        gmt_cancellation_allow(of_program);
    }
}

/* How long a thread has waited since a sign of life of the holder's. */
struct held_time {
    uint64_t alive_ns, waited_ns;
};

/* A step that takes longer than STEP_MOST_NS is one in which the process did not run. */
static void wait_step(uint32_t state, struct held_time *held)
{
    uint64_t alive = atomic_load(&alive_ns), began_ns = gmt_clock_monotonic_ns();
    if (alive != held->alive_ns) {
        *held = (struct held_time){.alive_ns = alive};
    }
    if (state == KEPT && held->waited_ns > atomic_load(&timeout_ns)) {
        give_holder_up();
        return;
    }
    futex_wait(state, STEP_NS);
    uint64_t took_ns = gmt_clock_monotonic_ns() - began_ns;
    held->waited_ns += took_ns < STEP_MOST_NS ? took_ns : STEP_MOST_NS;
}

/* An undo may outlast its time: then it is waited for in steps. It ends: it copies device memory while nothing is under way, and
 * calls nothing else. */
static void wait_once(uint32_t state, struct held_time *held)
{
    uint64_t held_ns = age_ns(&since_ns);
    if (held_ns < atomic_load(&limit_ns)) {
        futex_wait(state, atomic_load(&limit_ns) - held_ns);
    } else if (state == UNDOING || state == KEPT) {
        wait_step(state, held);
    } else {
        (void)atomic_compare_exchange_strong(&gmt_hold_state, &state, BROKEN);
    }
}

void gmt_hold_wait(unsigned hook)
{
    if (only_waits(hook)) {
        return;
    }
    int saved_errno = errno;
    uint64_t section = gmt_section_begin(GMT_SECTION_HELD);
    struct held_time held = {0};
    for (;;) {
        gmt_guard.waits = 1;
        uint32_t state = atomic_load(&gmt_hold_state);
        if (state == HELD || state == UNDOING || state == KEPT) {
            wait_once(state, &held);
            continue;
        }
        /* Inside again, and looked for again: the holder may have begun anew meanwhile. */
        gmt_guard.waits = 0;
        atomic_thread_fence(memory_order_seq_cst);
        state = atomic_load(&gmt_hold_state);
        if (state == FREE || state == BROKEN) {
            break;
        }
    }
    gmt_section_end(section);
    errno = saved_errno;
}

/* ---- the holder --------------------------------------------------------------------------------- */

static bool see_all_stores(void)
{
    if (!registered) {
        registered = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
    }
    return registered && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

static bool is_in_the_way(const struct gmt_guard *other)
{
    const volatile struct gmt_guard *seen = other;
    return seen->frame != NULL && seen->waits == 0 && !only_waits(seen->hook - 1u);
}

static bool any_in_the_way(void)
{
    bool any = false;
    gmt_mutex_lock(&mutex);
    for (const struct gmt_guard *other = threads; other != NULL && !any; other = other->next) {
        any = other != &gmt_guard && is_in_the_way(other);
    }
    gmt_mutex_unlock(&mutex);
    return any;
}

static bool others_left(void)
{
    if (atomic_load(&count) <= 1) {
        return true;
    }
    if (!see_all_stores()) {
        return false;
    }
    uint64_t began_ns = gmt_clock_monotonic_ns();
    while (any_in_the_way()) {
        if (gmt_clock_monotonic_ns() - began_ns > atomic_load(&limit_ns) / LEAVE_PART) {
            return false;
        }
        (void)sched_yield();
    }
    return true;
}

bool gmt_hold_begin(void)
{
    uint32_t state = FREE;
    int saved_errno = errno;
    if (atomic_load(&strangers) || atomic_load(&gmt_hold_state) != FREE) {
        return false;
    }
    /* Before the state: who waits reads it after. */
    atomic_store(&since_ns, gmt_clock_monotonic_ns());
    bool held = atomic_compare_exchange_strong(&gmt_hold_state, &state, HELD);
    if (held) {
        atomic_store(&holder, &gmt_guard);
    }
    if (held && (!others_left() || atomic_load(&strangers))) {
        gmt_hold_end();
        held = false;
    }
    errno = saved_errno;
    return held;
}

bool gmt_hold_fits(uint64_t expected_ns)
{
    uint64_t held_ns = gmt_clock_monotonic_ns() - atomic_load(&since_ns);
    return atomic_load(&count) <= 1 ? expected_ns <= ALONE_NS
                                    : held_ns + expected_ns <= atomic_load(&limit_ns);
}

bool gmt_hold_lasts(void)
{
    return atomic_load(&gmt_hold_state) == HELD;
}

bool gmt_hold_alone(void)
{
    return atomic_load(&count) <= 1;
}

bool gmt_hold_keep(uint64_t expected_ns)
{
    uint32_t state = HELD;
    sigset_t all;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &signals);
    atomic_store(&timeout_ns, GMT_HOLD_TIMEOUT_NS);
    atomic_store(&alive_ns, gmt_clock_monotonic_ns());
    if (gmt_hold_fits(expected_ns) &&
        atomic_compare_exchange_strong(&gmt_hold_state, &state, KEPT)) {
        return true;
    }
    (void)pthread_sigmask(SIG_SETMASK, &signals, NULL);
    return false;
}

void gmt_hold_alive(void)
{
    if (atomic_load_explicit(&holder, memory_order_relaxed) == &gmt_guard) {
        atomic_store_explicit(&alive_ns, gmt_clock_monotonic_ns(), memory_order_relaxed);
    }
}

void gmt_hold_launch_begins(void)
{
    atomic_store(&timeout_ns, atomic_load(&launch_limit_ns));
    gmt_hold_alive();
}

void gmt_hold_launch_ends(void)
{
    gmt_hold_alive(); /* first: nobody finds the short time and an old sign */
    atomic_store(&timeout_ns, GMT_HOLD_TIMEOUT_NS);
}

bool gmt_hold_undo(void)
{
    uint32_t state = KEPT;
    return atomic_compare_exchange_strong(&gmt_hold_state, &state, UNDOING);
}

void gmt_hold_undone(void)
{
    gmt_hold_alive();
    atomic_store(&gmt_hold_state, KEPT);
}

void gmt_hold_keep_ends(void)
{
    uint32_t state = KEPT; /* or it was given up, and stays broken */
    (void)atomic_compare_exchange_strong(&gmt_hold_state, &state, HELD);
    (void)syscall(SYS_futex, &gmt_hold_state, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
    (void)pthread_sigmask(SIG_SETMASK, &signals, NULL);
}

void gmt_hold_end(void)
{
    atomic_store(&holder, NULL);
    atomic_store(&gmt_hold_state, FREE);
    (void)syscall(SYS_futex, &gmt_hold_state, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

void gmt_hold_left(void)
{
    gmt_section_forget();
    gmt_guard.waits = 0; /* it may have been held: else nobody would look for it again */
    if (atomic_load(&holder) == &gmt_guard) {
        gmt_hold_end();
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Keeping other threads out of the driver: who waits, for how long, and what breaks a hold. Threads stand for
 * threads of a program, hooks for the calls that they make. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "libtrace/record/clock.h"
#include "preload/driver/hook_ids.h"
#include "preload/guard/guard.h"
#include "preload/guard/hold.h"

enum {
    SUBMITS = GMT_HOOK_cuMemcpyHtoD_v2,
    FREES = GMT_HOOK_cuMemFree_v2,
    WAITS = GMT_HOOK_cuCtxSynchronize
};

/* No machine keeps a thread from running for so long: who waits goes on waiting. */
#define LONG_NS (400 * GMT_HOLD_NS)

/* ---- a hook, as GMT_DEFINE_FUNCTION makes one --------------------------------------------------- */

static void enter(unsigned hook)
{
    gmt_guard.frame = &gmt_guard;
    gmt_hold_pass(hook);
    gmt_guard.hook = (uint16_t)(hook + 1);
}

static void leave(void)
{
    gmt_guard.hook = 0;
    gmt_guard.frame = NULL;
}

/* A thread that stays inside of one call until it is asked to leave. */
struct visitor {
    pthread_t thread;
    unsigned hook;
    sem_t inside, may_leave;
    _Atomic bool passed;
};

static void *visit(void *data)
{
    struct visitor *visitor = data;
    gmt_hold_thread_begins(true);
    enter(visitor->hook);
    atomic_store(&visitor->passed, true);
    (void)sem_post(&visitor->inside);
    (void)sem_wait(&visitor->may_leave);
    leave();
    gmt_hold_thread_ends();
    return NULL;
}

static void send_to(struct visitor *visitor, unsigned hook, void *(*how)(void *visitor))
{
    visitor->hook = hook;
    atomic_store(&visitor->passed, false);
    (void)sem_init(&visitor->inside, 0, 0);
    (void)sem_init(&visitor->may_leave, 0, 0);
    cr_assert_eq(pthread_create(&visitor->thread, NULL, how, visitor), 0);
}

static void send(struct visitor *visitor, unsigned hook)
{
    send_to(visitor, hook, visit);
}

static void call_back(struct visitor *visitor)
{
    (void)sem_post(&visitor->may_leave);
    (void)pthread_join(visitor->thread, NULL);
}

static void setup(void)
{
    gmt_clock_init();
    gmt_hold_forked();
    gmt_guard = (struct gmt_guard){.frame = &gmt_guard};
    gmt_hold_thread_begins(true);
}

TestSuite(hold, .init = setup, .timeout = 60);

Test(hold, a_lone_thread_holds_and_keeps_for_up_to_a_second)
{
    cr_assert(gmt_hold_begin());
    cr_assert(gmt_hold_alone());
    cr_assert_not(gmt_hold_keep(UINT64_C(1000000001)));
    cr_assert(gmt_hold_keep(10 * GMT_HOLD_NS));
    gmt_hold_keep_ends();
    cr_assert(gmt_hold_keep(10 * GMT_HOLD_NS));
    gmt_hold_keep_ends();
    gmt_hold_end();
    cr_assert(gmt_hold_begin(), "once more");
    gmt_hold_end();
}

Test(hold, nobody_is_held_while_another_thread_is_in_a_call_that_submits_or_frees)
{
    for (unsigned i = 0; i < 2; i++) {
        struct visitor other;
        send(&other, i == 0 ? SUBMITS : FREES);
        (void)sem_wait(&other.inside);
        cr_expect_not(gmt_hold_begin());
        cr_expect_eq(atomic_load(&gmt_hold_state), 0u);
        call_back(&other);
        cr_expect(gmt_hold_begin(), "it has left");
        gmt_hold_end();
    }
}

Test(hold, a_call_that_only_waits_is_not_in_the_way_and_is_not_held)
{
    struct visitor early, late;
    send(&early, WAITS);
    (void)sem_wait(&early.inside);
    cr_assert(gmt_hold_begin());
    send(&late, WAITS);
    (void)sem_wait(&late.inside);
    cr_expect(atomic_load(&late.passed));
    gmt_hold_end();
    call_back(&early);
    call_back(&late);
}

/* They are of the family that waits for the device, but put something into a stream, or write memory. */
Test(hold, calls_that_make_a_stream_wait_or_write_are_held)
{
    static const unsigned hooks[] = {GMT_HOOK_cuLaunchHostFunc,
                                     GMT_HOOK_cuStreamAddCallback,
                                     GMT_HOOK_cuStreamWaitValue32_v2,
                                     GMT_HOOK_cuStreamBatchMemOp_v2,
                                     GMT_HOOK_cuWaitExternalSemaphoresAsync,
                                     GMT_HOOK_cuFlushGPUDirectRDMAWrites};
    gmt_hold_set_limit(LONG_NS);
    for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
        struct visitor early, late;
        send(&early, hooks[i]);
        (void)sem_wait(&early.inside);
        cr_expect_not(gmt_hold_begin(), "in the way: %zu", i);
        call_back(&early);
        cr_assert(gmt_hold_begin());
        send(&late, hooks[i]);
        (void)usleep(2000);
        cr_expect_not(atomic_load(&late.passed), "held: %zu", i);
        gmt_hold_end();
        call_back(&late);
    }
}

Test(hold, a_call_that_submits_waits_until_the_hold_ends)
{
    struct visitor other;
    gmt_hold_set_limit(LONG_NS);
    cr_assert(gmt_hold_begin());
    send(&other, SUBMITS);
    (void)usleep(5000);
    cr_expect_not(atomic_load(&other.passed));
    gmt_hold_end();
    (void)sem_wait(&other.inside);
    cr_expect_not(gmt_hold_begin(), "now it is in the way");
    call_back(&other);
}

/* The holder was too slow: what it has executed stands. */
Test(hold, who_has_waited_long_enough_breaks_the_hold)
{
    struct visitor other;
    cr_assert(gmt_hold_begin());
    send(&other, SUBMITS);
    (void)sem_wait(&other.inside);
    cr_expect(atomic_load(&other.passed));
    cr_expect_not(gmt_hold_keep(0));
    call_back(&other);
    gmt_hold_end();
    cr_expect(gmt_hold_begin());
    cr_expect(gmt_hold_keep(0), "a hold of its own");
    gmt_hold_keep_ends();
    gmt_hold_end();
}

Test(hold, an_undo_is_never_broken)
{
    struct visitor other;
    cr_assert(gmt_hold_begin());
    cr_assert(gmt_hold_keep(0));
    cr_assert(gmt_hold_undo());
    send(&other, SUBMITS);
    (void)usleep((useconds_t)((GMT_HOLD_TIMEOUT_NS + 10 * GMT_HOLD_NS) / 1000));
    cr_expect_not(atomic_load(&other.passed), "memory is not what the program left there");
    gmt_hold_undone();
    gmt_hold_keep_ends();
    (void)sem_wait(&other.inside); /* its time is over */
    cr_expect_not(gmt_hold_keep(0));
    call_back(&other);
    gmt_hold_end();
}

/* It may wait, inside of the driver or of CUPTI, for what the other thread has. */
Test(hold, a_holder_that_does_not_come_back_is_given_up)
{
    struct visitor other;
    cr_assert(gmt_hold_begin());
    cr_assert(gmt_hold_keep(0));
    send(&other, SUBMITS);
    (void)usleep((useconds_t)(10 * GMT_HOLD_NS / 1000));
    cr_expect_not(atomic_load(&other.passed), "CUPTI does not bear it");
    (void)sem_wait(&other.inside);
    cr_expect_not(gmt_hold_lasts());
    cr_expect_not(gmt_hold_undo(), "others use the memory");
    gmt_hold_keep_ends();
    cr_expect_not(gmt_hold_keep(0));
    call_back(&other);
    gmt_hold_end();
    cr_assert(gmt_hold_begin(), "another time");
    cr_expect(gmt_hold_keep(0));
    gmt_hold_keep_ends();
    gmt_hold_end();
}

/* Its call returns when a kernel has ended that counts its instructions. */
Test(hold, a_launch_that_is_measured_is_waited_for_longer)
{
    struct visitor other;
    gmt_hold_set_launch_limit(1000 * GMT_HOLD_TIMEOUT_NS);
    cr_assert(gmt_hold_begin());
    cr_assert(gmt_hold_keep(0));
    gmt_hold_launch_begins();
    send(&other, SUBMITS);
    (void)usleep((useconds_t)((GMT_HOLD_TIMEOUT_NS + 20 * GMT_HOLD_NS) / 1000));
    cr_expect_not(atomic_load(&other.passed));
    gmt_hold_launch_ends();
    (void)sem_wait(&other.inside); /* and no longer than else, behind it */
    cr_expect_not(gmt_hold_lasts());
    gmt_hold_keep_ends();
    call_back(&other);
    gmt_hold_end();
    gmt_hold_set_launch_limit(GMT_HOLD_TIMEOUT_NS);
}

Test(hold, a_holder_that_shows_that_it_lives_is_waited_for)
{
    struct visitor other;
    uint64_t longest_ns = 0, began_ns = gmt_clock_monotonic_ns(), last_ns = began_ns;
    cr_assert(gmt_hold_begin());
    cr_assert(gmt_hold_keep(0));
    send(&other, SUBMITS);
    while (last_ns - began_ns < GMT_HOLD_TIMEOUT_NS + 20 * GMT_HOLD_NS) {
        gmt_hold_alive();
        (void)usleep(10000);
        uint64_t now_ns = gmt_clock_monotonic_ns();
        longest_ns = now_ns - last_ns > longest_ns ? now_ns - last_ns : longest_ns;
        last_ns = now_ns;
    }
    /* A machine that stopped this thread for so long shows nothing. */
    cr_expect(!atomic_load(&other.passed) || 2 * longest_ns > GMT_HOLD_TIMEOUT_NS);
    gmt_hold_keep_ends();
    gmt_hold_end();
    (void)sem_wait(&other.inside);
    call_back(&other);
}

Test(hold, what_would_take_too_long_is_not_begun_beside_other_threads)
{
    struct visitor other;
    gmt_hold_set_limit(LONG_NS);
    send(&other, WAITS);
    (void)sem_wait(&other.inside);
    cr_assert(gmt_hold_begin());
    cr_expect_not(gmt_hold_keep(LONG_NS));
    cr_expect(gmt_hold_keep(0));
    gmt_hold_keep_ends();
    gmt_hold_end();
    call_back(&other);
}

Test(hold, with_a_larger_limit_it_is_begun)
{
    struct visitor other;
    gmt_hold_set_limit(LONG_NS);
    send(&other, WAITS);
    (void)sem_wait(&other.inside);
    cr_assert(gmt_hold_begin());
    cr_expect(gmt_hold_keep(2 * GMT_HOLD_NS));
    gmt_hold_keep_ends();
    cr_expect_not(gmt_hold_keep(LONG_NS));
    gmt_hold_end();
    call_back(&other);
    gmt_hold_set_limit(GMT_HOLD_NS);
}

/* ---- a thread that leaves a wait by longjmp ------------------------------------------------------ */

static sigjmp_buf out;

static void jump(int signal)
{
    siglongjmp(out, signal);
}

/* Says each time where it is: about to be held, out of that, inside of a call. */
static void *visit_by_jump(void *data)
{
    struct visitor *visitor = data;
    gmt_hold_thread_begins(true);
    if (sigsetjmp(out, 1) == 0) {
        (void)sem_post(&visitor->inside);
        enter(visitor->hook);
    }
    gmt_hold_left(); /* as its next call finds out */
    (void)sem_post(&visitor->inside);
    (void)sem_wait(&visitor->may_leave);
    return visit(visitor);
}

Test(hold, a_thread_that_left_its_wait_is_in_the_way_again)
{
    struct sigaction action = {.sa_handler = jump};
    struct visitor other;
    gmt_hold_set_limit(LONG_NS);
    cr_assert_eq(sigaction(SIGUSR1, &action, NULL), 0);
    cr_assert(gmt_hold_begin());
    send_to(&other, SUBMITS, visit_by_jump);
    (void)sem_wait(&other.inside);
    (void)usleep(20000);
    cr_assert_eq(pthread_kill(other.thread, SIGUSR1), 0);
    (void)sem_wait(&other.inside);
    gmt_hold_end();
    (void)sem_post(&other.may_leave);
    (void)sem_wait(&other.inside);
    cr_expect_not(gmt_hold_begin(), "it is inside of a call");
    call_back(&other);
}

/* ---- a holder that does not come back ------------------------------------------------------------ */

static _Atomic unsigned handled;

static void handle(int signal)
{
    (void)signal;
    atomic_fetch_add(&handled, 1);
}

/* A handler may leave by longjmp: not from the middle of that. */
Test(hold, no_signal_is_handled_while_a_hold_is_kept)
{
    struct sigaction action = {.sa_handler = handle};
    cr_assert_eq(sigaction(SIGUSR1, &action, NULL), 0);
    cr_assert(gmt_hold_begin());
    cr_assert(gmt_hold_keep(0));
    (void)pthread_kill(pthread_self(), SIGUSR1);
    cr_expect_eq(atomic_load(&handled), 0u);
    gmt_hold_keep_ends();
    cr_expect_eq(atomic_load(&handled), 1u);
    cr_expect_not(gmt_hold_keep(UINT64_MAX / 2), "refused");
    (void)pthread_kill(pthread_self(), SIGUSR1);
    cr_expect_eq(atomic_load(&handled), 2u, "as the program has it");
    gmt_hold_end();
}

static void *hold_and_leave(void *unused)
{
    (void)unused;
    gmt_hold_thread_begins(true);
    gmt_guard.frame = &gmt_guard;
    cr_assert(gmt_hold_begin());
    gmt_hold_left(); /* as the guard does, at the thread's next call or at its end */
    gmt_hold_thread_ends();
    return NULL;
}

Test(hold, a_holder_that_left_its_call_holds_nobody)
{
    pthread_t thread;
    leave(); /* this thread is not in the way */
    cr_assert_eq(pthread_create(&thread, NULL, hold_and_leave, NULL), 0);
    (void)pthread_join(thread, NULL);
    cr_expect_eq(atomic_load(&gmt_hold_state), 0u);
    cr_assert(gmt_hold_begin());
    cr_expect(gmt_hold_lasts());
    gmt_hold_end();
}

Test(hold, one_that_is_not_the_holder_ends_no_hold)
{
    struct visitor other;
    cr_assert(gmt_hold_begin());
    send(&other, WAITS);
    (void)sem_wait(&other.inside);
    call_back(&other);
    cr_expect(gmt_hold_lasts());
    gmt_hold_end();
}

/* ---- threads that nobody can look at ------------------------------------------------------------- */

static void *begin_unnoted(void *unused)
{
    (void)unused;
    gmt_hold_thread_begins(false);
    return NULL;
}

Test(hold, nothing_is_held_where_the_end_of_a_thread_would_not_be_seen)
{
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, begin_unnoted, NULL), 0);
    (void)pthread_join(thread, NULL);
    cr_expect_not(gmt_hold_begin());
    gmt_hold_forked();
    gmt_guard.listed = false;
    gmt_hold_thread_begins(true);
    cr_expect(gmt_hold_begin(), "a child does not have that thread");
    gmt_hold_end();
}

static void *end_twice(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < 2; i++) {
        gmt_hold_thread_begins(true);
        gmt_hold_thread_ends();
    }
    return NULL;
}

/* It used CUDA again in a destructor that came after ours: nobody can know when that is over. */
Test(hold, nothing_is_held_after_a_thread_that_ended_and_went_on)
{
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, end_twice, NULL), 0);
    (void)pthread_join(thread, NULL);
    cr_expect_not(gmt_hold_begin());
}

/* ---- all at once --------------------------------------------------------------------------------- */

enum { THREADS = 6, CALLS = 20000, HOLDS = 300 };

static _Atomic unsigned submitting, finished;

static void *submit_often(void *unused)
{
    (void)unused;
    gmt_hold_thread_begins(true);
    for (unsigned i = 0; i < CALLS; i++) {
        enter(SUBMITS);
        atomic_fetch_add_explicit(&submitting, 1, memory_order_relaxed);
        atomic_fetch_sub_explicit(&submitting, 1, memory_order_relaxed);
        leave();
        if (i % 64 == 0) {
            (void)sched_yield();
        }
    }
    gmt_hold_thread_ends();
    atomic_fetch_add(&finished, 1);
    return NULL;
}

Test(hold, no_thread_submits_while_an_undo_is_under_way)
{
    pthread_t threads[THREADS];
    unsigned held = 0, seen = 0;
    atomic_store(&submitting, 0);
    atomic_store(&finished, 0);
    for (unsigned i = 0; i < THREADS; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, submit_often, NULL), 0);
    }
    while (atomic_load(&finished) < THREADS && held < HOLDS) {
        if (gmt_hold_begin()) {
            held++;
            if (gmt_hold_keep(0)) {
                cr_assert(gmt_hold_undo());
                for (unsigned i = 0; i < 1000; i++) {
                    seen += atomic_load_explicit(&submitting, memory_order_relaxed);
                }
                gmt_hold_undone();
                gmt_hold_keep_ends();
            }
            gmt_hold_end();
        }
        (void)sched_yield();
    }
    for (unsigned i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    cr_expect_eq(seen, 0u, "%u times in %u holds", seen, held);
    cr_expect_gt(held, 0u);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A worker: its work is done once, and whoever waits sees it done. */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include <time.h>

#include "analyzer/base/worker.h"

enum { STACK_BYTES = 1 << 18, MILLISECOND = 1000000 };

struct task {
    atomic_bool may_end;
    atomic_int runs;
    int seen; /* not atomic: waiting must order it */
    struct gmt_worker *before;
};

static void work(void *data)
{
    struct task *task = data;

    if (task->before != NULL) {
        gmt_worker_wait(task->before);
    }
    while (!atomic_load(&task->may_end)) {
        (void)nanosleep(&(struct timespec){.tv_nsec = MILLISECOND}, NULL);
    }
    atomic_fetch_add(&task->runs, 1);
    task->seen = 42;
}

Test(worker, does_its_work_once_beside_its_owner)
{
    struct task task = {.seen = 0};
    struct gmt_worker worker;

    gmt_worker_begin(&worker, STACK_BYTES, work, &task);
    cr_expect_not(gmt_worker_wait_ns(&worker, MILLISECOND), "it cannot have ended");
    atomic_store(&task.may_end, true);
    gmt_worker_wait(&worker);
    cr_expect_eq(task.seen, 42);
    cr_expect(gmt_worker_wait_ns(&worker, MILLISECOND));
    gmt_worker_wait(&worker);
    gmt_worker_end(&worker);
    cr_expect_eq(atomic_load(&task.runs), 1);
}

Test(worker, waits_for_one_before_it)
{
    struct task first = {.seen = 0}, second = {.may_end = true};
    struct gmt_worker workers[2];

    gmt_worker_begin(&workers[0], STACK_BYTES, work, &first);
    second.before = &workers[0];
    gmt_worker_begin(&workers[1], STACK_BYTES, work, &second);
    cr_expect_not(gmt_worker_wait_ns(&workers[1], 20 * MILLISECOND));
    cr_expect_eq(atomic_load(&second.runs), 0);
    atomic_store(&first.may_end, true);
    gmt_worker_end(&workers[1]);
    cr_expect_eq(second.seen, 42);
    cr_expect_eq(first.seen, 42);
    gmt_worker_end(&workers[0]);
}

Test(worker, that_never_began_is_not_waited_for)
{
    struct gmt_worker worker = {.work = NULL};

    gmt_worker_wait(&worker);
    cr_expect(gmt_worker_wait_ns(&worker, MILLISECOND));
    gmt_worker_end(&worker);
    gmt_worker_end(&worker);
}

/* No thread has so large a stack: the work is done by the caller. */
Test(worker, is_the_caller_where_there_can_be_no_thread)
{
    struct task task = {.may_end = true};
    struct gmt_worker worker;

    gmt_worker_begin(&worker, (size_t)1 << 60, work, &task);
    cr_expect_eq(atomic_load(&task.runs), 1);
    cr_expect(gmt_worker_wait_ns(&worker, MILLISECOND));
    gmt_worker_end(&worker);
}

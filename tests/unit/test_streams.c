/* SPDX-License-Identifier: Apache-2.0 */
/* Is anything under way, in the streams of one context or of all, and who has captured? The driver is a fake whose streams
 * do what the test says. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#include "preload/driver/resolve.h"
#include "preload/session/session.h"
#include "preload/state/context.h"
#include "preload/state/device.h"

struct gmt_driver gmt_driver;
const struct gmt_collector_ops *gmt_collector;

void gmt_device_note(CUdevice device)
{
    (void)device;
}

void gmt_device_reset(void)
{
}

#define HANDLE(type, number) ((type)(uintptr_t)(number))
#define STREAM(number) HANDLE(CUstream, 0x100 + (number))
#define CONTEXT(number) HANDLE(CUcontext, 0x900 + (number))

static CUcontext current;
static _Atomic bool is_busy[8];         /* streams, by number */
static bool is_gone[8], refuses, fails; /* contexts; no context can be entered, or waited for */
static unsigned depth, waited_for;
static _Atomic bool in_query, may_return = true;

static CUresult get_current(CUcontext *context)
{
    *context = current;
    return CUDA_SUCCESS;
}

static CUresult get_version(CUcontext context, unsigned *version)
{
    *version = 1;
    return is_gone[(uintptr_t)context - 0x900] ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

static CUcontext stack[4];

static CUresult push(CUcontext context)
{
    cr_expect(!is_gone[(uintptr_t)context - 0x900]);
    if (refuses) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    stack[depth++] = current;
    current = context;
    return CUDA_SUCCESS;
}

static CUresult pop(CUcontext *context)
{
    *context = current;
    current = stack[--depth];
    return CUDA_SUCCESS;
}

static CUresult query(CUstream stream)
{
    in_query = true;
    while (!may_return) {
    }
    in_query = false;
    return is_busy[(uintptr_t)stream - 0x100] ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static CUresult synchronize(void)
{
    waited_for |= 1u << ((uintptr_t)current - 0x900);
    return fails ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS;
}

/* Stream 1 is of context 1, stream 2 of context 2; context 1 is current. */
static void setup(void)
{
    gmt_driver.cuCtxGetCurrent = get_current;
    gmt_driver.cuCtxGetApiVersion = get_version;
    gmt_driver.cuCtxPushCurrent_v2 = push;
    gmt_driver.cuCtxPopCurrent_v2 = pop;
    gmt_driver.cuCtxSynchronize = synchronize;
    gmt_driver.cuStreamQuery = query;
    current = CONTEXT(1);
    cr_assert_eq(gmt_context_current(NULL), 1);
    cr_assert_eq(gmt_stream_note(CONTEXT(1), 1, STREAM(1), false), 1);
}

static void use_second(void)
{
    current = CONTEXT(2);
    cr_assert_eq(gmt_context_current(NULL), 2);
    cr_assert_eq(gmt_stream_note(CONTEXT(2), 2, STREAM(2), false), 2);
    current = CONTEXT(1);
}

TestSuite(streams, .init = setup, .timeout = 60);

Test(streams, of_the_only_context_are_all_there_are)
{
    cr_expect_not(gmt_context_several());
    cr_expect(gmt_contexts_idle());
    is_busy[1] = true;
    cr_expect_not(gmt_contexts_idle());
    cr_expect(gmt_contexts_wait_for_others());
    cr_expect_eq(waited_for, 0u);
}

Test(streams, of_another_context_are_asked_there)
{
    use_second();
    cr_expect(gmt_context_several());
    cr_expect(gmt_contexts_idle());
    is_busy[2] = true;
    cr_expect_not(gmt_contexts_idle());
    cr_expect(gmt_streams_idle(1), "this one's are");
    cr_expect_eq(depth, 0u, "every context that is entered is left");
    cr_expect(gmt_contexts_wait_for_others());
    cr_expect_eq(waited_for, 1u << 2);
    cr_expect_eq(current, CONTEXT(1));
}

Test(streams, of_a_context_that_cannot_be_asked_may_be_busy)
{
    use_second();
    refuses = true;
    cr_expect_not(gmt_contexts_idle());
    cr_expect_not(gmt_contexts_wait_for_others());
    refuses = false;
    fails = true;
    cr_expect_not(gmt_contexts_wait_for_others());
    cr_expect_eq(depth, 0u);
}

Test(streams, went_with_a_context_that_no_hook_saw_go)
{
    use_second();
    is_busy[2] = is_gone[2] = true;
    cr_expect(gmt_contexts_idle());
}

Test(streams, of_one_context_can_be_asked_from_another_or_none)
{
    use_second();
    is_busy[2] = true;
    for (unsigned i = 0; i < 3; i++) {
        current = i == 0 ? NULL : CONTEXT(i);
        cr_expect(gmt_context_idle(CONTEXT(1)), "%u", i);
        cr_expect_not(gmt_context_idle(CONTEXT(2)), "%u", i);
        cr_expect_eq(depth, 0u);
    }
    cr_expect(gmt_context_idle(CONTEXT(3)), "it is not known");
    is_gone[2] = true;
    cr_expect(gmt_context_idle(CONTEXT(2)), "it has gone");
    is_gone[2] = false;
    current = CONTEXT(1);
    refuses = true;
    cr_expect(gmt_context_idle(CONTEXT(2)), "the driver has ended");
}

static void *ask(void *unused)
{
    (void)gmt_streams_idle(1);
    return unused;
}

static _Atomic bool forgotten;

static void *destroy(void *unused)
{
    (void)gmt_stream_forget(STREAM(1));
    forgotten = true;
    return unused;
}

Test(streams, are_not_destroyed_while_they_are_asked)
{
    pthread_t threads[2];
    may_return = false;
    cr_assert_eq(pthread_create(&threads[0], NULL, ask, NULL), 0);
    while (!in_query) {
    }
    cr_assert_eq(pthread_create(&threads[1], NULL, destroy, NULL), 0);
    (void)usleep(20000);
    cr_expect_not(forgotten);
    may_return = true;
    for (unsigned i = 0; i < 2; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    cr_expect(forgotten);
    is_busy[1] = true;
    cr_expect(gmt_streams_idle(1), "nobody asks it any more");
}

/* ---- captures --------------------------------------------------------------------------------- */

static _Thread_local char storage;
static const char *first_storage;

static void *capture(void *unused)
{
    first_storage = &storage;
    gmt_capture_began();
    gmt_capture_ended();
    return unused;
}

/* What it sees of captures of others; `*same`: its thread-local storage lies where that of the one before lay. */
static void *look(void *same)
{
    *(bool *)same = first_storage == &storage;
    return gmt_captures_of_others() ? &storage : NULL;
}

Test(streams, that_a_thread_captures_itself_are_not_those_of_others)
{
    gmt_capture_began();
    cr_expect_not(gmt_captures_of_others());
    gmt_capture_ended();
    cr_expect_not(gmt_captures_of_others());
}

Test(streams, that_a_thread_captured_are_others_also_for_one_with_its_storage)
{
    void *seen = NULL;
    bool same = false;
    for (unsigned tries = 0; tries < 100 && !same; tries++) {
        pthread_t thread;
        gmt_context_reset();
        cr_assert_eq(pthread_create(&thread, NULL, capture, NULL), 0);
        (void)pthread_join(thread, NULL);
        cr_expect(gmt_captures_of_others());
        cr_assert_eq(pthread_create(&thread, NULL, look, &same), 0);
        (void)pthread_join(thread, &seen);
        cr_expect_neq(seen, NULL, "%s", same ? "the same storage" : "another storage");
    }
    cr_expect(same, "no thread got the storage of the one before");
}

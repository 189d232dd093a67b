/* SPDX-License-Identifier: Apache-2.0 */
/* Work that waits for the host: whether some is under way. The driver is a fake whose streams do what the
 * test says. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdint.h>

#include "libtrace/record/clock.h"
#include "preload/driver/resolve.h"
#include "preload/session/session.h"
#include "preload/state/hook_call.h"
#include "preload/state/waits.h"

enum { EVENTS = 256 };

struct gmt_driver gmt_driver;
const struct gmt_collector_ops *gmt_collector;
_Atomic int gmt_captures;

static CUcontext current;
static CUstream recorded_in[EVENTS]; /* by event */
static bool is_over[EVENTS];
static bool is_idle[EVENTS]; /* streams, by number */
static unsigned created, recorded, asked, queried, quiesced;
static bool refuses;

#define HANDLE(type, number) ((type)(uintptr_t)(number))
#define STREAM(number) HANDLE(CUstream, 0x100 + (number))
#define CONTEXT(number) HANDLE(CUcontext, 0x900 + (number))

static void quiesce(void)
{
    quiesced++;
    cr_expect(!gmt_waits_under_way(), "the call waits itself");
}

static unsigned measured; /* questions for which another thread measures */

static bool measuring(void)
{
    bool now = measured != 0;
    measured -= now;
    return now;
}

static const struct gmt_collector_ops collector = {
    .name = "fake", .quiesce = quiesce, .measuring = measuring};

static CUresult get_context(CUcontext *context)
{
    *context = current;
    return CUDA_SUCCESS;
}

static CUresult create(CUevent *event, unsigned flags)
{
    cr_expect_eq(flags, (unsigned)CU_EVENT_DISABLE_TIMING);
    *event = HANDLE(CUevent, ++created);
    return created < EVENTS ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult record(CUevent event, CUstream stream)
{
    cr_expect_neq(stream, NULL, "a barrier between streams of the program");
    recorded++;
    recorded_in[(uintptr_t)event] = stream;
    is_over[(uintptr_t)event] = false;
    return refuses ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

static CUresult query(CUevent event)
{
    asked++;
    return is_over[(uintptr_t)event] ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

static CUresult query_stream(CUstream stream)
{
    queried++;
    size_t number = stream != NULL ? (uintptr_t)stream - 0x100 : 0;
    return number < EVENTS && is_idle[number] ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

static void setup(void)
{
    gmt_driver.cuCtxGetCurrent = get_context;
    gmt_driver.cuEventCreate = create;
    gmt_driver.cuEventRecord = record;
    gmt_driver.cuEventRecord_ptsz = record;
    gmt_driver.cuEventQuery = query;
    gmt_driver.cuStreamQuery = query_stream;
    gmt_driver.cuStreamQuery_ptsz = query_stream;
    gmt_collector = &collector;
    current = CONTEXT(1);
    gmt_waits_want(true);
}

TestSuite(waits, .init = setup, .timeout = 60);

static void put(CUstream stream, uint8_t flags)
{
    struct gmt_hook_call site = {.stream = stream, .flags = flags, .result = CUDA_SUCCESS};
    gmt_waits_begin();
    gmt_waits_end(&site);
}

Test(waits, are_none_at_first_and_cost_nothing)
{
    cr_expect(!gmt_waits_under_way());
    cr_expect_eq(created + recorded + asked + queried, 0u);
}

Test(waits, are_not_noted_where_nothing_is_measured)
{
    gmt_waits_want(false);
    put(STREAM(1), 0);
    cr_expect(!gmt_waits_under_way());
    cr_expect_eq(created + quiesced, 0u);
}

Test(waits, last_until_the_event_behind_them_has_happened)
{
    put(STREAM(1), 0);
    cr_expect_eq(recorded, 0u, "nobody has asked yet");
    cr_expect(gmt_waits_under_way());
    cr_expect_eq(recorded_in[1], STREAM(1));
    cr_expect(gmt_waits_under_way());
    cr_expect_eq(recorded, 1u);
    is_over[1] = true;
    cr_expect(!gmt_waits_under_way());
    asked = queried = 0;
    cr_expect(!gmt_waits_under_way());
    cr_expect_eq(asked + queried, 0u, "what is over is asked for no more");
}

Test(waits, of_a_stream_that_is_idle_are_over)
{
    put(STREAM(1), 0);
    is_idle[1] = true;
    cr_expect(!gmt_waits_under_way());
    cr_expect_eq(recorded, 0u);
}

/* What comes waits for the launch that is being measured, so that it does not wait for what comes. */
Test(waits, let_a_measured_launch_end_first)
{
    put(STREAM(1), 0);
    cr_expect_eq(quiesced, 0u, "none is measured");
    is_idle[1] = true;
    measured = 1;
    put(STREAM(2), 0);
    cr_expect_eq(quiesced, 1u);
}

Test(waits, do_not_let_one_that_does_not_end_keep_them)
{
    measured = 1000;
    gmt_waits_begin();
    cr_expect_eq(quiesced, 2u);
    cr_expect(gmt_waits_under_way(), "the call is made");
}

Test(waits, begin_with_the_call)
{
    gmt_waits_begin();
    cr_expect(gmt_waits_under_way());
    gmt_waits_end(&(struct gmt_hook_call){.stream = STREAM(1), .result = CUDA_ERROR_INVALID_VALUE});
    cr_expect(!gmt_waits_under_way(), "the call failed");
}

Test(waits, of_a_later_operation_are_behind_an_event_of_their_own)
{
    put(STREAM(1), 0);
    (void)gmt_waits_under_way();
    put(STREAM(1), 0);
    (void)gmt_waits_under_way();
    cr_expect_eq(recorded, 1u, "one at a time: the stream's queue is the program's");
    is_over[1] = true; /* that of the first */
    cr_expect(gmt_waits_under_way());
    cr_expect_eq(recorded, 2u);
    cr_expect_eq(created, 1u);
}

Test(waits, of_any_stream_count)
{
    put(STREAM(1), 0);
    put(STREAM(2), 0);
    (void)gmt_waits_under_way();
    is_over[1] = true;
    cr_expect(gmt_waits_under_way());
    is_over[2] = true;
    cr_expect(!gmt_waits_under_way());
}

Test(waits, go_on_when_their_stream_is_destroyed)
{
    put(STREAM(1), 0);
    gmt_waits_stream_going(STREAM(1));
    cr_expect_eq(recorded, 1u, "before it is too late");
    cr_expect(gmt_waits_under_way());
    cr_expect_eq(recorded + queried, 1u, "never in a stream that is gone");
    put(STREAM(1), 0); /* another stream of that handle */
    (void)gmt_waits_under_way();
    is_over[1] = true;
    cr_expect(gmt_waits_under_way());
    is_over[2] = true;
    cr_expect(!gmt_waits_under_way());
}

Test(waits, end_with_their_context)
{
    put(STREAM(1), 0);
    (void)gmt_waits_under_way();
    asked = queried = 0;
    gmt_waits_forget(CONTEXT(1));
    cr_expect(!gmt_waits_under_way());
    cr_expect_eq(asked + queried, 0u, "its events are gone as well");
}

/* Its handle means another stream in each context, so that only those who mean the same may ask. */
Test(waits, of_default_streams_are_asked_for_where_they_are_meant)
{
    put(NULL, 0);
    is_idle[0] = true;
    current = CONTEXT(2);
    cr_expect(gmt_waits_under_way());
    cr_expect_eq(queried, 0u);
    current = CONTEXT(1);
    cr_expect(!gmt_waits_under_way());
    cr_expect_eq(recorded + created, 0u);
}

static void *put_in_own(void *stream)
{
    put(stream, GMT_CALL_PER_THREAD);
    return NULL;
}

Test(waits, of_another_thread_s_own_stream_are_not_taken_for_one_s_own)
{
    pthread_t other;
    is_idle[0] = true; /* this thread's */
    cr_assert_eq(pthread_create(&other, NULL, put_in_own, NULL), 0);
    cr_assert_eq(pthread_join(other, NULL), 0);
    put(NULL, GMT_CALL_PER_THREAD);
    cr_expect(gmt_waits_under_way());
    cr_expect_eq(queried, 1u, "its own");
}

Test(waits, that_were_captured_begin_with_launches_of_graphs)
{
    cr_expect(!gmt_waits_any_in_graphs());
    put(STREAM(1), GMT_CALL_CAPTURING);
    cr_expect(!gmt_waits_under_way());
    cr_expect(gmt_waits_any_in_graphs());
}

Test(waits, behind_which_no_event_can_be_put_last_until_the_stream_is_idle)
{
    refuses = true;
    put(STREAM(1), 0);
    cr_expect(gmt_waits_under_way());
    cr_expect(gmt_waits_under_way());
    is_idle[1] = true;
    cr_expect(!gmt_waits_under_way());
}

/* A call that waited for the context, begun now. */
static void drained(CUcontext context)
{
    gmt_waits_drained(context, gmt_clock_ticks() + 1);
}

Test(waits, of_more_streams_than_can_be_distinguished_end_with_all_of_their_context)
{
    for (unsigned i = 0; i < 100; i++) {
        put(STREAM(i), 0);
    }
    for (unsigned i = 0; i < EVENTS; i++) {
        is_over[i] = is_idle[i] = true;
    }
    cr_expect(gmt_waits_under_way());
    drained(CONTEXT(2));
    cr_expect(gmt_waits_under_way(), "another context");
    drained(CONTEXT(1));
    cr_expect(!gmt_waits_under_way());
}

Test(waits, of_a_thread_that_is_gone_end_when_their_context_has_been_waited_for)
{
    pthread_t other;
    uint64_t before = gmt_clock_ticks();
    cr_assert_eq(pthread_create(&other, NULL, put_in_own, NULL), 0);
    cr_assert_eq(pthread_join(other, NULL), 0);
    gmt_waits_drained(CONTEXT(1), before);
    cr_expect(gmt_waits_under_way(), "they were put in after that call had begun");
    drained(CONTEXT(1));
    cr_expect(!gmt_waits_under_way());
}

/* As many streams as can be tracked, one after the other, and nobody asks: those that are over make room. */
Test(waits, that_are_over_make_room)
{
    for (unsigned i = 0; i < EVENTS; i++) {
        is_idle[i] = true;
    }
    for (unsigned i = 0; i < 200; i++) {
        put(STREAM(i), 0);
    }
    cr_expect(!gmt_waits_under_way());
}

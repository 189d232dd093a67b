/* SPDX-License-Identifier: Apache-2.0 */
/* Work that waits for the host: whether some is under way. The driver is a fake whose streams do what the
 * test says. */
#include <criterion/criterion.h>
#include <stdint.h>

#include "preload/hook.h"
#include "preload/resolve.h"
#include "preload/start.h"
#include "preload/waits.h"

enum { EVENTS = 256 };

struct gmt_driver gmt_driver;
const struct gmt_collector_ops *gmt_collector;

static const struct gmt_collector_ops collector = {.name = "fake"};
static CUcontext current;
static CUstream recorded_in[EVENTS]; /* by event */
static bool is_over[EVENTS];
static unsigned created, recorded, asked;
static bool refuses;

#define HANDLE(type, number) ((type)(uintptr_t)(number))
#define STREAM(number) HANDLE(CUstream, 0x100 + (number))
#define CONTEXT(number) HANDLE(CUcontext, 0x900 + (number))

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

static void setup(void)
{
    gmt_driver.cuCtxGetCurrent = get_context;
    gmt_driver.cuEventCreate = create;
    gmt_driver.cuEventRecord = record;
    gmt_driver.cuEventRecord_ptsz = record;
    gmt_driver.cuEventQuery = query;
    gmt_collector = &collector;
    current = CONTEXT(1);
}

TestSuite(waits, .init = setup, .timeout = 60);

static void put(CUstream stream, uint8_t flags)
{
    struct gmt_site site = {.stream = stream, .flags = flags, .result = CUDA_SUCCESS};
    gmt_waits_begin();
    gmt_waits_end(&site);
}

Test(waits, are_none_at_first_and_cost_nothing)
{
    cr_expect(!gmt_waits_under_way());
    cr_expect_eq(created + recorded + asked, 0u);
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
    asked = 0;
    cr_expect(!gmt_waits_under_way());
    cr_expect_eq(asked, 0u, "what is over is asked for no more");
}

Test(waits, begin_with_the_call)
{
    gmt_waits_begin();
    cr_expect(gmt_waits_under_way());
    gmt_waits_end(&(struct gmt_site){.stream = STREAM(1), .result = CUDA_ERROR_INVALID_VALUE});
    cr_expect(!gmt_waits_under_way(), "the call failed");
}

Test(waits, of_a_later_operation_are_behind_an_event_of_their_own)
{
    put(STREAM(1), 0);
    (void)gmt_waits_under_way();
    put(STREAM(1), 0);
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
    cr_expect_eq(recorded, 1u, "never in a stream that is gone");
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
    asked = 0;
    gmt_waits_forget(CONTEXT(1));
    cr_expect(!gmt_waits_under_way());
    cr_expect_eq(asked, 0u, "its events are gone as well");
}

/* Its handle means another stream in each context, and a thread's own cannot be named by others. */
Test(waits, of_default_streams_are_behind_the_right_ones)
{
    put(NULL, 0);
    current = CONTEXT(2);
    cr_expect(gmt_waits_under_way());
    cr_expect_eq(recorded, 0u);
    current = CONTEXT(1);
    (void)gmt_waits_under_way();
    cr_expect_eq(recorded, 1u);
    put(NULL, GMT_CALL_PER_THREAD);
    cr_expect_eq(recorded, 2u, "by the thread itself");
    is_over[1] = is_over[2] = true;
    cr_expect(!gmt_waits_under_way());
}

Test(waits, that_were_captured_begin_with_launches_of_graphs)
{
    cr_expect(!gmt_waits_any_in_graphs());
    put(STREAM(1), GMT_CALL_CAPTURING);
    cr_expect(!gmt_waits_under_way());
    cr_expect(gmt_waits_any_in_graphs());
}

Test(waits, of_which_nothing_can_be_known_never_end)
{
    refuses = true;
    put(STREAM(1), 0);
    cr_expect(gmt_waits_under_way());
    refuses = false;
    cr_expect(gmt_waits_under_way());
    for (unsigned i = 0; i <= created; i++) {
        is_over[i] = true;
    }
    cr_expect(!gmt_waits_under_way(), "an event could be recorded after all");
    for (unsigned i = 0; i < 100; i++) {
        put(STREAM(i), 0);
    }
    (void)gmt_waits_under_way();
    for (unsigned i = 0; i <= created; i++) {
        is_over[i] = true;
    }
    cr_expect(gmt_waits_under_way(), "more streams than can be told apart");
}

/* As many streams as can be told apart, one after the other: those that are over make room. */
Test(waits, that_are_over_make_room)
{
    for (unsigned i = 0; i < 1000; i++) {
        put(STREAM(i), 0);
        (void)gmt_waits_under_way();
        is_over[1] = true;
        cr_expect(!gmt_waits_under_way());
    }
    cr_expect_eq(created, 1u);
}

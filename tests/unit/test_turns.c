/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads launch kernels that lack samples at the same time: both are measured, one after the other. CUPTI is the stand-in. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <unistd.h>

#include "libtrace/cupti/base/contexts.h"
#include "libtrace/cupti/measure/measure.h"
#include "libtrace/cupti/measure/sessions.h"
#include "libtrace/record/clock.h"
#include "tests/unit/own_threads.h"

static struct gmt_cupti_api api;
static _Atomic uint64_t launches, done;
static const struct gmt_collector_config config = {.counters = true,
                                                   .overhead_share = 1,
                                                   .overhead_start_ns = UINT64_C(10000000000),
                                                   .samples_per_class = 3,
                                                   .launches = &launches,
                                                   .launches_done = &done};
static int context;
static struct gmt_collector_class kernel = {.id = 1, .kernel_name = "kernel"},
                                  other = {.id = 2, .kernel_name = "other"};

static void setup(void)
{
    cr_assert_eq(gmt_cupti_load(&api, GMT_STANDIN_CUPTI), 0);
    gmt_contexts_add(&context, 1, 0);
    unsigned threads = count_threads();
    gmt_measure_start(&api, &config);
    wait_for_threads(threads);
}

TestSuite(turns, .init = setup, .timeout = 60);

/* A launch as the hooks make it. */
struct launch {
    struct gmt_launch_call call;
    enum gmt_counter_group group;
    uint64_t began_ns, took_ns; /* of begin */
};

static void begin(struct launch *launch, struct gmt_collector_class *cls)
{
    launch->call = (struct gmt_launch_call){.context = &context,
                                            .cls = cls,
                                            .launch_seq = (uint32_t)++launches,
                                            .forbidden = GMT_MEASURABLE,
                                            .suspected = GMT_MEASURABLE};
    (void)gmt_measure_want(cls);
    launch->began_ns = gmt_clock_monotonic_ns();
    launch->group = gmt_measure_begin(&launch->call);
    launch->took_ns = gmt_clock_monotonic_ns() - launch->began_ns;
}

static void end(const struct launch *launch)
{
    gmt_measure_end(&launch->call, launch->group);
    done++;
}

static unsigned kept(const struct gmt_collector_class *cls)
{
    return gmt_sampling_count(cls, GMT_GROUP_HARDWARE);
}

/* The session runs; the watch thread has the lock now and then, which is waited for. */
static void begin_first(struct launch *launch)
{
    struct gmt_collector_class *first = &kernel;
    begin(launch, first);
    for (unsigned tries = 0; launch->group == GMT_GROUP_NONE && tries < 10000; tries++) {
        done++;
        (void)usleep(1000);
        begin(launch, first);
    }
    cr_assert_eq(launch->group, GMT_GROUP_HARDWARE);
}

static void *launch_other(void *data)
{
    begin(data, &other);
    end(data);
    return NULL;
}

/* `first` is measured; the other thread's launch comes meanwhile, and `first` ends `after_ns` later. */
static void meet(struct launch *first, struct launch *second, uint64_t after_ns)
{
    pthread_t thread;
    uint64_t before = launches;
    cr_assert_eq(pthread_create(&thread, NULL, launch_other, second), 0);
    while (launches == before) {
    }
    uint64_t came_ns = gmt_clock_monotonic_ns();
    while (gmt_clock_monotonic_ns() - came_ns < after_ns) {
    }
    end(first);
    (void)pthread_join(thread, NULL);
}

Test(turns, come_one_after_the_other)
{
    struct launch first, second;
    unsigned met = 0;
    for (unsigned i = 0; i < 50 && met == 0; i++) { /* a machine may be slow for once */
        begin_first(&first);
        meet(&first, &second, 300000);
        met = kept(&kernel) != 0 && kept(&other) != 0;
    }
    cr_expect_geq(kept(&kernel), 1u, "the other launch was not made meanwhile");
    cr_expect_geq(kept(&other), 1u);
}

Test(turns, are_given_up_soon_and_the_launch_that_goes_on_spoils_the_other)
{
    struct launch first, second;
    begin_first(&first);
    meet(&first, &second, UINT64_C(200000000));
    cr_expect_eq(second.group, GMT_GROUP_NONE);
    cr_expect_lt(second.took_ns, UINT64_C(100000000), "%llu ns",
                 (unsigned long long)second.took_ns);
    cr_expect_eq(other.why, GMT_UNMEASURED_BUSY + 1u);
    cr_expect_eq(kept(&kernel), 0u);
    cr_expect_eq(kernel.discards, 1u);
}

Test(turns, are_not_waited_for_by_a_class_that_has_samples)
{
    struct launch first, second;
    begin_first(&first);
    atomic_store(&other.measured[GMT_GROUP_HARDWARE], 1);
    atomic_store(&other.measured[GMT_GROUP_PATCHED], 1);
    meet(&first, &second, UINT64_C(200000000));
    cr_expect_eq(second.group, GMT_GROUP_NONE);
    cr_expect_lt(second.took_ns, UINT64_C(1500000));
}

Test(turns, are_not_waited_for_where_that_was_in_vain_for_long)
{
    struct launch first, second;
    gmt_sampling_held_in_vain(&gmt_measuring.sampling, UINT64_C(3600000000000));
    atomic_store(&gmt_measuring.sampling.spent_ns, 0);
    begin_first(&first);
    meet(&first, &second, UINT64_C(200000000));
    cr_expect_eq(second.group, GMT_GROUP_NONE);
    cr_expect_lt(second.took_ns, UINT64_C(1500000));
}

static void *ask(void *busy)
{
    *(bool *)busy = gmt_measure_is_busy();
    return NULL;
}

Test(turns, can_be_asked_for_by_other_threads)
{
    struct launch first;
    pthread_t thread;
    bool busy = false;
    begin_first(&first);
    cr_expect_not(gmt_measure_is_busy(), "this thread need not wait for itself");
    cr_assert_eq(pthread_create(&thread, NULL, ask, &busy), 0);
    (void)pthread_join(thread, NULL);
    cr_expect(busy);
    end(&first);
}

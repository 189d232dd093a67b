/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of a process with one thread, measured by the collector beside the stand-in of CUPTI. */
#ifndef GMT_TESTS_MEASURED_PROCESS_H
#define GMT_TESTS_MEASURED_PROCESS_H

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/cupti/base/contexts.h"
#include "libtrace/cupti/measure/measure.h"
#include "libtrace/cupti/measure/sessions.h"
#include "libtrace/record/clock.h"
#include "tests/unit/own_threads.h"

#define TRIES 10000u

static struct gmt_cupti_api api;
static _Atomic uint64_t launches;
static _Atomic int captures;
static _Atomic bool busy;
static unsigned (*ranges_ended)(void); /* of the stand-in */

static inline bool idle(void)
{
    return !busy;
}

/* Of the stand-in of the hooks: something waits for the host, however long it is asked about. */
static _Atomic bool waits;
static uint64_t asked_ns, asked_in_all_ns;

static inline bool waiting(uint64_t within_ns)
{
    asked_ns = waits ? within_ns : 0;
    asked_in_all_ns += asked_ns;
    (void)usleep((unsigned)(asked_ns / 1000));
    return waits;
}

static const struct gmt_collector_config config = {.counters = true,
                                                   .overhead_share = 1,
                                                   .overhead_start_ns = UINT64_C(10000000000),
                                                   .samples_per_class = 3,
                                                   .launches = &launches,
                                                   .captures = &captures,
                                                   .waiting = waiting,
                                                   .idle = idle};
static int context;
static struct gmt_collector_class kernel = {.id = 1, .kernel_name = "kernel"},
                                  other = {.id = 2, .kernel_name = "other"};

static inline void setup(void)
{
    cr_assert_eq(gmt_cupti_load(&api, GMT_STANDIN_CUPTI), 0);
    void *symbol = dlsym(api.handle, "standin_cupti_ranges");
    cr_assert_not_null(symbol);
    memcpy(&ranges_ended, &symbol, sizeof(ranges_ended));
    gmt_contexts_add(&context, 1, 0);
    unsigned threads = count_threads();
    gmt_measure_start(&api, &config);
    wait_for_threads(threads);
}

static inline struct gmt_launch_call site_of(struct gmt_collector_class *cls)
{
    return (struct gmt_launch_call){.context = &context,
                                    .cls = cls,
                                    .launch_seq = (uint32_t)launches,
                                    .forbidden = GMT_MEASURABLE,
                                    .suspected = GMT_MEASURABLE};
}

/* As the hooks make it. */
static inline enum gmt_counter_group begin(struct gmt_collector_class *cls)
{
    launches++;
    (void)gmt_measure_want(cls);
    struct gmt_launch_call site = site_of(cls);
    return gmt_measure_begin(&site);
}

static inline void end(struct gmt_collector_class *cls, enum gmt_counter_group group)
{
    struct gmt_launch_call site = site_of(cls);
    gmt_measure_end(&site, group);
}

/* The watch thread has the lock now and then, for which no launch waits. */
static inline void begin_measured(struct gmt_collector_class *cls)
{
    enum gmt_counter_group group = begin(cls);
    struct gmt_launch_call site = site_of(cls);
    for (unsigned tries = 0; group == GMT_GROUP_NONE && tries < TRIES; tries++) {
        (void)usleep(1000);
        group = gmt_measure_begin(&site);
    }
    cr_assert_eq(group, GMT_GROUP_HARDWARE);
}

static inline void wait_until_ended(unsigned count)
{
    for (unsigned tries = 0; ranges_ended() != count && tries < TRIES; tries++) {
        gmt_measure_waited();
        (void)usleep(1000);
    }
    cr_expect_eq(ranges_ended(), count);
}

static inline void launch_that_runs_on(void)
{
    begin_measured(&kernel);
    busy = true;
    end(&kernel, GMT_GROUP_HARDWARE);
}

static inline unsigned kept(struct gmt_collector_class *cls)
{
    return gmt_sampling_count(cls, GMT_GROUP_HARDWARE);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process whose launches are measured, with CUPTI left out: which of them are is decided by the real code, what CUPTI takes
 * for one on an H200 (docs/cupti-notes.md) is added to a clock of the test's own.
 */
#ifndef GMT_TESTS_SAMPLING_PROCESS_H
#define GMT_TESTS_SAMPLING_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/cupti/base/device_time.h"
#include "libtrace/cupti/measure/sampling.h"
#include "preload/overhead/govern.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define START_NS (1000 * MS)
#define GOVERNED_NS (250 * MS) /* a step */
enum { CLASSES = 1024 };

static uint64_t clock_ns; /* 0: the machine's */

int clock_gettime(clockid_t id, struct timespec *now)
{
    if (clock_ns == 0) {
        return (int)syscall(SYS_clock_gettime, id, now);
    }
    *now = (struct timespec){(time_t)(clock_ns / 1000000000), (long)(clock_ns % 1000000000)};
    return 0;
}

static struct gmt_sampling sampling;
static struct gmt_collector_class classes[CLASSES];
static uint64_t kernel_ns[CLASSES];
static double device_ns[CLASSES];  /* taken so far */
static unsigned recorded[CLASSES]; /* launches whose records have not come yet */
static uint64_t records_at_ns;     /* when they come */
static unsigned sessions;
static uint32_t session; /* the group of the one that runs */
static bool repeats;     /* first launches may be repeated */
static uint64_t sass_ns; /* what counting a launch takes by itself: more where modules are big */
static uint64_t
    counted_times;          /* how many times longer a kernel runs whose instructions are counted */
static uint64_t own_ns;     /* what measuring took */
static uint64_t charged_ns; /* ... without the first session, which no budget is charged for */
static struct gmt_govern govern; /* what all that gmtrace does may cost */
static double hooks; /* ... which intercepted calls have a share of; 0: there is no limit */
static _Atomic uint64_t limit_ns; /* what follows for measuring */
static uint64_t governed_at_ns, governed_beyond_ns;
static uint64_t most_over_ns; /* ... beyond what it may take, at most, when a launch had ended */

static void begin(bool repeated, uint64_t counting_ns)
{
    struct gmt_collector_config config = {.counters = true,
                                          .timestamps = true,
                                          .instructions = GMT_INSTRUCTIONS_ACCESSES,
                                          .overhead_share = 0.05,
                                          .overhead_start_ns = START_NS,
                                          .overhead_limit_ns = &limit_ns,
                                          .samples_per_class = 3};
    memset(classes, 0, sizeof classes);
    memset(device_ns, 0, sizeof device_ns);
    memset(recorded, 0, sizeof recorded);
    gmt_device_time_forget();
    clock_ns = records_at_ns = 1000 * MS;
    sessions = 0;
    session = GMT_GROUP_NONE;
    repeats = repeated;
    sass_ns = counting_ns;
    counted_times = 60;
    own_ns = charged_ns = most_over_ns = 0;
    hooks = 0;
    gmt_govern_begin(&govern, 0.03, 0);
    limit_ns = UINT64_MAX;
    governed_at_ns = clock_ns;
    governed_beyond_ns = 0;
    gmt_sampling_init(&sampling, &config, clock_ns);
}

/* Measuring takes `ns`. */
static void pass(uint64_t ns)
{
    clock_ns += ns;
    own_ns += ns;
    charged_ns += ns;
}

static void end_idle_session(void)
{
    if (session != GMT_GROUP_NONE &&
        clock_ns > atomic_load(&sampling.last_need_ns) + GMT_SAMPLING_IDLE_SESSION_NS) {
        session = GMT_GROUP_NONE;
        gmt_sampling_charge(&sampling, 20 * MS);
        pass(20 * MS);
    }
}

/* As make_ready in measure.c. */
static bool ready(struct gmt_collector_class *cls, enum gmt_counter_group group)
{
    bool runs = group == GMT_GROUP_SASS || session == group;
    uint64_t expected_ns = runs || sessions == 0 ? 0 : sampling.session_cost_ns;
    if (!gmt_sampling_may(&sampling, cls, group, expected_ns, clock_ns)) {
        return false;
    }
    if (!runs) {
        uint64_t took_ns = sessions == 0 ? 500 * MS : 90 * MS;
        pass(took_ns);
        charged_ns -= sessions == 0 ? took_ns : 0;
        gmt_sampling_charge_session(&sampling, took_ns, sessions == 0, sessions != 0);
        gmt_sampling_enter(&sampling, group, clock_ns);
        session = group;
        sessions++;
    }
    return true;
}

static void measure(unsigned number, enum gmt_counter_group group)
{
    const uint64_t times[GMT_GROUPS] = {[GMT_GROUP_HARDWARE] = 1,
                                        [GMT_GROUP_PATCHED] = 20,
                                        [GMT_GROUP_SPILL] = 1,
                                        [GMT_GROUP_SASS] = counted_times};
    uint64_t cost_ns = times[group] * kernel_ns[number] + (group == GMT_GROUP_SASS      ? sass_ns
                                                           : group == GMT_GROUP_PATCHED ? 100 * US
                                                                                        : MS);
    pass(cost_ns);
    if (group == GMT_GROUP_HARDWARE) {
        /* Ranges of one short kernel lie up to 0.4 ms apart. */
        uint64_t noise_ns = (number * UINT64_C(2654435761) >> 22 & 1023) * 400;
        gmt_sampling_timed(&sampling, &classes[number], 800 * US + kernel_ns[number] + noise_ns);
    }
    gmt_sampling_ran(&sampling, &classes[number], group, cost_ns);
    gmt_sampling_charge_launch(&sampling, &classes[number], group, cost_ns);
    gmt_sampling_measured(&sampling, &classes[number], group, clock_ns);
}

/* As preload/repeat does it. False: the launch is made once. */
static bool repeated(unsigned number)
{
    struct gmt_collector_class *cls = &classes[number];
    const uint64_t copies_ns = 2 * MS; /* H200: 2 to 5 ms where a framework has some GiB */
    enum gmt_counter_group group = gmt_sampling_first_lacked(&sampling, cls);
    if (!repeats || gmt_sampling_repeats(&sampling, cls, 0, 0, clock_ns) == 0 ||
        group == GMT_GROUP_NONE || !ready(cls, group) ||
        gmt_sampling_repeats(&sampling, cls, 0, copies_ns, clock_ns) == 0) {
        return false;
    }
    pass(copies_ns + kernel_ns[number]);
    bool in_vain = true;
    for (unsigned turn = 0; turn < 3; turn++) {
        bool more = gmt_sampling_repeats(&sampling, cls, kernel_ns[number], copies_ns, clock_ns) !=
                    0;
        group = more ? gmt_sampling_pick(&sampling, cls) : GMT_GROUP_NONE;
        if (group == GMT_GROUP_NONE || !ready(cls, group)) {
            break;
        }
        measure(number, group);
        in_vain = false;
    }
    gmt_sampling_got_ready(&sampling, copies_ns, in_vain);
    gmt_sampling_charge(&sampling, in_vain ? 0 : kernel_ns[number]);
    return true;
}

/* As CUPTI delivers them. */
static void deliver_records(void)
{
    for (unsigned i = 0; i < CLASSES && clock_ns >= records_at_ns; i++) {
        for (; recorded[i] != 0; recorded[i]--) {
            gmt_device_time_note("kernel", classes[i].grid, classes[i].block, kernel_ns[i]);
        }
    }
    records_at_ns = clock_ns >= records_at_ns ? clock_ns + 100 * MS : records_at_ns;
}

/* As overhead.c does it. */
static void govern_all(void)
{
    uint64_t elapsed_ns = clock_ns - governed_at_ns;
    uint64_t beyond_ns = charged_ns > START_NS ? charged_ns - START_NS : 0;
    if (hooks <= 0 || elapsed_ns < GOVERNED_NS) {
        return;
    }
    uint64_t cost_ns[GMT_OVERHEAD_PARTS] = {
        [GMT_OVERHEAD_HOOKS] = (uint64_t)(hooks * (double)elapsed_ns),
        [GMT_OVERHEAD_COUNTERS] = beyond_ns - governed_beyond_ns,
    };
    gmt_govern_step(&govern, elapsed_ns, cost_ns);
    double level = govern.level[GMT_OVERHEAD_COUNTERS];
    double full_ns = govern.full[GMT_OVERHEAD_COUNTERS] * GOVERNED_NS;
    limit_ns = level >= 1 ? UINT64_MAX : beyond_ns + (uint64_t)(level * full_ns);
    governed_at_ns = clock_ns;
    governed_beyond_ns = beyond_ns;
}

static void launch(unsigned number)
{
    struct gmt_collector_class *cls = &classes[number];
    cls->kernel_name = "kernel";
    cls->grid[0] = number + 1;
    uint64_t charged_before_ns = charged_ns;
    deliver_records();
    govern_all();
    device_ns[number] += (double)kernel_ns[number];
    clock_ns += 5 * US;
    end_idle_session();
    enum gmt_counter_group group = gmt_sampling_want(&sampling, cls);
    if (!repeated(number)) {
        if (group != GMT_GROUP_NONE && ready(cls, group)) {
            measure(number, group);
        } else {
            clock_ns += kernel_ns[number];
            recorded[number]++;
        }
    }
    uint64_t allowed_ns = gmt_sampling_allowance_ns(&sampling, clock_ns);
    if (charged_ns != charged_before_ns && charged_ns > allowed_ns + most_over_ns) {
        most_over_ns = charged_ns - allowed_ns;
    }
}

static void wait_ms(uint64_t ms)
{
    clock_ns += ms * MS;
}

/* Percent of the device time of classes with at least `least` of all of it that is of classes with both kinds of counters. */
static double complete_of(double least)
{
    double all = 0, of_these = 0, of_complete = 0;
    for (unsigned i = 0; i < CLASSES; i++) {
        all += device_ns[i];
    }
    for (unsigned i = 0; i < CLASSES; i++) {
        const struct gmt_collector_class *cls = &classes[i];
        bool counted = gmt_sampling_count(cls, GMT_GROUP_SASS) != 0 ||
                       gmt_sampling_count(cls, GMT_GROUP_PATCHED) != 0;
        double own = device_ns[i] >= least * all ? device_ns[i] : 0;
        of_these += own;
        of_complete += counted && gmt_sampling_count(cls, GMT_GROUP_HARDWARE) != 0 ? own : 0;
    }
    return of_these > 0 ? 100 * of_complete / of_these : 100;
}

#endif

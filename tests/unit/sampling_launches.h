/* SPDX-License-Identifier: Apache-2.0 */
/* Launches as the hooks make them, with CUPTI left out: for tests of which of them are measured. */
#ifndef GMT_TESTS_SAMPLING_LAUNCHES_H
#define GMT_TESTS_SAMPLING_LAUNCHES_H

#include <string.h>

#include "libtrace/cupti/base/device_time.h"
#include "libtrace/cupti/measure/sampling.h"
#include "libtrace/record/clock.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

static struct gmt_sampling sampling;
static struct gmt_collector_class classes[4];
static enum gmt_counter_group session; /* of the session that runs */
static uint64_t kernel_ns[4];          /* what a launch of each class takes */

static void begin_with(uint64_t start_ns, double share, enum gmt_instructions instructions)
{
    struct gmt_collector_config config = {.counters = true,
                                          .instructions = instructions,
                                          .overhead_share = share,
                                          .overhead_start_ns = start_ns,
                                          .samples_per_class = 3};
    gmt_sampling_init(&sampling, &config, gmt_clock_monotonic_ns());
    gmt_device_time_forget();
    for (uint32_t i = 0; i < 4; i++) {
        classes[i].kernel_name = "kernel";
        classes[i].grid[0] = i + 1;
    }
}

static void begin(uint64_t start_ns, double share)
{
    begin_with(start_ns, share, GMT_INSTRUCTIONS_ACCESSES);
}

/* One launch as the hooks make it, with CUPTI left out. Returns the group that was measured. */
static enum gmt_counter_group launch(struct gmt_collector_class *cls, uint64_t session_ns,
                                     uint64_t cost_ns)
{
    uint64_t now_ns = gmt_clock_monotonic_ns();
    enum gmt_counter_group group = gmt_sampling_want(&sampling, cls);
    if (group == GMT_GROUP_NONE) {
        return group;
    }
    bool runs = session == group || group == GMT_GROUP_SASS;
    if (!gmt_sampling_may(&sampling, cls, group, runs ? 0 : session_ns, now_ns)) {
        return GMT_GROUP_NONE;
    }
    if (!runs) {
        gmt_sampling_charge_session(&sampling, session_ns, false, true);
        gmt_sampling_enter(&sampling, group, now_ns);
        session = group;
    }
    if (group == GMT_GROUP_HARDWARE) {
        gmt_sampling_timed(&sampling, cls, 800 * US + kernel_ns[cls - classes]);
    }
    gmt_sampling_ran(&sampling, cls, group, cost_ns);
    gmt_sampling_charge_launch(&sampling, cls, group, cost_ns);
    gmt_sampling_measured(&sampling, cls, group, now_ns);
    return group;
}

/* The device's record of a launch comes. */
static inline void record(unsigned number)
{
    gmt_device_time_note("kernel", classes[number].grid, classes[number].block, kernel_ns[number]);
}

static inline void collect(const struct gmt_collector_class *cls, bool partly,
                           enum gmt_unmeasured why, void *data)
{
    const char **reasons = data;
    (void)partly;
    reasons[cls - classes] = gmt_unmeasured_texts[why].reason;
}

/* The reason that is reported of a class, "" where it is complete. */
static inline const char *reason_of(const struct gmt_collector_class *wanted)
{
    const char *reasons[4] = {"", "", "", ""};
    gmt_sampling_report(&sampling, collect, (void *)reasons);
    return reasons[wanted - classes];
}

#endif

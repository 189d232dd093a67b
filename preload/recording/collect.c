/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses who supplies device times and counters in this process, and starts it. */
#include "preload/recording/collect.h"

#include <errno.h>

#include "libtrace/record/spool.h"
#include "preload/driver/resolve.h"
#include "preload/guard/guard.h"
#include "preload/guard/hold.h"
#include "preload/overhead/device_records.h"
#include "preload/overhead/overhead.h"
#include "preload/session/options.h"
#include "preload/session/session.h"
#include "preload/state/allocmap.h"
#include "preload/state/context.h"
#include "preload/state/hazards.h"
#include "preload/state/waits.h"

#define START_NS \
    UINT64_C(1000000000) /* that counting may take at the start, besides its share ... */
#define SECOND_RUN_START_NS UINT64_C(10000000000) /* ... and in a run for counters only */
/* What a launch may take that is measured: some 200 times its kernel where all instructions are counted, for which CUPTI is given a minute. */
#define LAUNCH_NS UINT64_C(20000000000)
#define LAUNCH_ALL_NS UINT64_C(70000000000)

static bool idle(void)
{
    gmt_hold_alive(); /* the collector waits */
    return gmt_streams_idle(gmt_context_current(NULL));
}

static bool idle_in(void *context)
{
    gmt_hold_alive();
    return gmt_context_idle(context);
}

static uint32_t allocation_at(uint64_t address)
{
    struct gmt_allocation found;
    return gmt_allocmap_find(address, &found) ? found.id : 0;
}

/* All of them in this run: not if it is the first of two. Nobody but gmtrace makes a second one. */
static bool counts_instructions(void)
{
    bool within = gmt_options.deep == GMT_DEEP_PHASE ||
                  (gmt_options.deep == GMT_DEEP_AUTO && !gmt_options.launched);
    return gmt_options.collect == GMT_COLLECT_DEEP && (gmt_options.second_run || within);
}

/* The software device, where the driver is one, else CUPTI. */
static const struct gmt_collector_ops *choose_collector(const struct gmt_collector_config *config)
{
    const struct gmt_collector_ops *simulated = gmt_sim_collector();
    int error = simulated->start(config);
    if (error == 0) {
        return simulated;
    }
    if (error != -ENODEV) {
        return NULL;
    }
    const struct gmt_collector_ops *cupti = gmt_cupti_collector();
    return cupti->start(config) == 0 ? cupti : NULL;
}

const struct gmt_collector_ops *gmt_collect_start(bool inherited_cupti)
{
    if (gmt_options.collect == GMT_COLLECT_LIGHT) {
        gmt_spool_capability("timestamps", GMT_CAP_OFF, 0, "collect=light",
                             "GMTRACE_COLLECT=standard");
        gmt_spool_capability("counters", GMT_CAP_OFF, 0, "collect=light",
                             "GMTRACE_COLLECT=standard");
        return NULL;
    }
    if (inherited_cupti) {
        gmt_spool_capability("timestamps", GMT_CAP_MISSING, 0,
                             "this process was forked from one that used CUPTI",
                             "start it by fork and exec (spawn) to have device timestamps");
        gmt_spool_capability("counters", GMT_CAP_MISSING, 0,
                             "this process was forked from one that used CUPTI",
                             "start it by fork and exec (spawn) to have counters");
        if (gmt_options.collect == GMT_COLLECT_DEEP) {
            gmt_spool_capability("instructions", GMT_CAP_MISSING, 0,
                                 "this process was forked from one that used CUPTI",
                                 "start it by fork and exec (spawn) to have counts");
        }
        return NULL;
    }
    struct gmt_collector_config config = {
        .cupti_path = gmt_options.cupti,
        .timestamps = !gmt_options.second_run,
        .counters = !gmt_options.second_run && gmt_options.counters != GMT_COUNTERS_OFF &&
                    gmt_options.counter_budget > 0,
        .instructions = counts_instructions() ? GMT_INSTRUCTIONS_ALL : GMT_INSTRUCTIONS_ACCESSES,
        .overhead_share = gmt_options.counter_budget,
        .overhead_start_ns = gmt_options.second_run ? SECOND_RUN_START_NS : START_NS,
        .overhead_limit_ns = gmt_options.second_run ? NULL : &gmt_overhead_levels.counters_ns,
        .samples_per_class = gmt_options.counter_samples,
        .repeat = gmt_options.repeat != GMT_REPEAT_OFF,
        .repeat_always = gmt_options.repeat == GMT_REPEAT_ALWAYS,
        .libcuda = gmt_libcuda(),
        .real_symbol = gmt_real_symbol,
        .launches = &gmt_launches,
        .launches_done = &gmt_launches_done,
        .captures = &gmt_captures,
        .waiting = gmt_hazards_waiting,
        .idle = idle,
        .idle_in = idle_in,
        .enter = gmt_guard_shut,
        .leave = gmt_guard_reopen,
        .allocation_at = allocation_at,
    };
    gmt_hold_set_launch_limit(counts_instructions() ? LAUNCH_ALL_NS : LAUNCH_NS);
    const struct gmt_collector_ops *chosen = choose_collector(&config);
    gmt_waits_want(gmt_options.repeat != GMT_REPEAT_OFF ||
                   (!gmt_hazards_ignored() && (config.counters || counts_instructions())));
    if (gmt_options.collect == GMT_COLLECT_DEEP && !counts_instructions() &&
        chosen != gmt_sim_collector()) {
        gmt_spool_capability("instructions", GMT_CAP_OFF, 0,
                             "they are counted in a second run of the program, which gmtrace makes",
                             "start the program by gmtrace, or set GMTRACE_DEEP=phase");
    }
    return chosen;
}

/* What is learnt costs records, and what it saves has been seen on no GPU yet: so it is done where the user names a limit. In deep
 * recordings all is wanted, and sums over steps are of all operations. */
void gmt_collect_govern(void)
{
    bool may_rest = gmt_options.overhead_given && gmt_options.overhead > 0 &&
                    !gmt_options.aggregate && gmt_options.collect == GMT_COLLECT_STANDARD;
    gmt_device_records_start(may_rest,
                             gmt_collector != NULL ? gmt_collector->switch_records : NULL);
}

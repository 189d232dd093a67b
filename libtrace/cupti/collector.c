/* SPDX-License-Identifier: Apache-2.0 */
/* The CUPTI collector: what the hooks call (record/collector.h), handed on to its parts. */
#include "libtrace/record/collector.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

#include "libtrace/cupti/base/activity.h"
#include "libtrace/cupti/base/contexts.h"
#include "libtrace/cupti/base/copies.h"
#include "libtrace/cupti/base/loader.h"
#include "libtrace/cupti/base/managed.h"
#include "libtrace/cupti/base/refusal.h"
#include "libtrace/cupti/base/watch.h"
#include "libtrace/cupti/code/code_index.h"
#include "libtrace/cupti/handover.h"
#include "libtrace/cupti/measure/measure.h"
#include "libtrace/cupti/measure/sampling.h"
#include "libtrace/record/clock.h"
#include "libtrace/record/spool.h"

#define FLUSH_DEADLINE_NS UINT64_C(900000000)

static struct gmt_cupti_api api;
static struct gmt_collector_config config;
static _Atomic bool timestamps;
static _Atomic bool started;

static void enter(void)
{
    if (config.enter != NULL) {
        config.enter();
    }
}

static void leave(void)
{
    if (config.leave != NULL) {
        config.leave();
    }
}

static int load_cupti(void)
{
    int error = gmt_cupti_load(&api, config.cupti_path);
    if (error != 0) {
        gmt_refusal_no_cupti(&api, error, config.cupti_path);
        return error;
    }
    char detail[GMT_CUPTI_PATH_BYTES + 64];
    (void)snprintf(detail, sizeof(detail), "CUPTI %u from %s", api.version, api.path);
    gmt_spool_capability("cupti", GMT_CAP_OK, 0, detail, "");
    return 0;
}

static void start_timestamps(void)
{
    if (!config.timestamps) {
        gmt_spool_capability("timestamps", GMT_CAP_OFF, 0, "not asked for", "");
        return;
    }
    const char *function = api.missing_activity;
    CUptiResult result = CUPTI_ERROR_NOT_SUPPORTED;
    if (function == NULL && !gmt_handover_start(&api, &config, &result, &function)) {
        atomic_store(&timestamps, true);
        gmt_spool_capability("timestamps", GMT_CAP_PARTIAL, 0,
                             "the program used CUPTI itself when recording began", "");
        return;
    }
    atomic_store(&timestamps, result == CUPTI_SUCCESS);
    gmt_refusal_row("timestamps", &api, result, function);
}

/* A driver that CUPTI's activity API refuses is not asked for counters either: CUPTI has crashed in
 * later calls then. Single instructions by themselves are, where they are all that is wanted. */
static void start_counters(void)
{
    bool refused = config.timestamps && !atomic_load(&timestamps);
    if (!config.counters) {
        gmt_spool_capability("counters", GMT_CAP_OFF, 0, "not asked for", "");
    } else if (refused) {
        gmt_spool_capability("counters", GMT_CAP_MISSING, 0,
                             "CUPTI does not work with this driver (see timestamps)", "");
    } else if (api.missing_counters != NULL) {
        gmt_refusal_row("counters", &api, CUPTI_ERROR_NOT_SUPPORTED, api.missing_counters);
    }
    config.counters = config.counters && !refused && api.missing_counters == NULL;
    if (!config.counters && config.instructions == GMT_INSTRUCTIONS_ACCESSES) {
        config.instructions = GMT_INSTRUCTIONS_NONE; /* they are for the counters */
    }
    if (config.counters || config.instructions != GMT_INSTRUCTIONS_NONE) {
        gmt_measure_start(&api, &config);
    }
}

static int start(const struct gmt_collector_config *given)
{
    config = *given;
    enter();
    gmt_fetch_thread_starting();
    int error = load_cupti();
    if (error == 0) {
        gmt_copies_attach(&api);
        gmt_managed_start(&api, given);
        start_timestamps();
        if (config.timestamps && !atomic_load(&timestamps)) {
            gmt_copies_attach(NULL);
        }
        start_counters();
        atomic_store(&started, true);
    }
    gmt_fetch_thread_started();
    leave();
    return error;
}

static void context_seen(void *context, uint32_t id, uint32_t device)
{
    if (!atomic_load(&started)) {
        return;
    }
    gmt_contexts_add(context, id, device);
    if (!atomic_load(&timestamps)) {
        return;
    }
    uint32_t cupti_id = 0;
    enter();
    if (api.cuptiGetContextId(context, &cupti_id) == CUPTI_SUCCESS) {
        gmt_activity_add_context(cupti_id, id);
    }
    leave();
}

static int stream_id(void *context, void *stream, bool per_thread, uint32_t *id)
{
    if (!atomic_load(&timestamps)) {
        return -ENOTSUP;
    }
    enter();
    CUptiResult result = api.cuptiGetStreamIdEx(context, stream, per_thread ? 1 : 0, id);
    leave();
    return result == CUPTI_SUCCESS ? 0 : -ENOTSUP;
}

/* Not during captures, which calls of CUPTI may break, nor while a launch is counted, when nobody else may be in CUPTI. It stays due
 * then, and while the program has CUPTI. */
static void settle_managed(void)
{
    if (!atomic_load(&timestamps) || gmt_measure_is_busy() ||
        (config.captures != NULL && atomic_load(config.captures) != 0)) {
        return;
    }
    uint64_t began_ns = gmt_clock_monotonic_ns();
    enter();
    if (gmt_handover_try(gmt_managed_settle)) {
        gmt_measure_charge(gmt_managed_take_cost_ns());
        gmt_spool_own_time(GMT_OWN_SESSION, began_ns, 0);
    }
    leave();
}

static void managed_memory(void)
{
    if (atomic_load(&started)) {
        gmt_managed_want();
    }
    if (gmt_managed_is_due()) {
        settle_managed();
    }
}

/* Not during captures, nor while a launch is measured, for which kernels are switched. */
static bool switch_records(bool on)
{
    if (!atomic_load(&timestamps) || gmt_measure_is_busy() ||
        (config.captures != NULL && atomic_load(config.captures) != 0)) {
        return false;
    }
    enter();
    bool is_done = gmt_handover_switch(on);
    leave();
    return is_done;
}

static void waited(void)
{
    gmt_measure_waited();
    if (__builtin_expect(gmt_managed_is_due(), 0)) {
        settle_managed();
    }
}

static int code_reach(const struct gmt_collector_class *cls, void *function,
                      void (*variable)(void *data, const char *name), void *data)
{
    (void)function; /* CUPTI does not say which cubin it is of */
    return gmt_code_index_reach(cls->kernel_name, variable, data);
}

static void flush_work(void)
{
    enter();
    gmt_measure_finish();
    if (gmt_handover_finish()) {
        gmt_activity_flush(true);
    }
    gmt_managed_finish();
    leave();
}

/* In a thread of its own, because nothing promises that CUPTI's flush returns. */
static void flush(void)
{
    if (atomic_load(&started) && !gmt_watch_run(flush_work, FLUSH_DEADLINE_NS)) {
        gmt_spool_loss("device timestamps", "CUPTI did not deliver its last records in time", 1);
    }
    gmt_refusal_copies();
    /* Other threads may go on while the process exits and CUPTI takes itself down. */
    atomic_store(&started, false);
    atomic_store(&timestamps, false);
}

static void abandon(void)
{
    atomic_store(&started, false);
    atomic_store(&timestamps, false);
    gmt_measure_abandon();
    gmt_activity_abandon();
    gmt_managed_abandon();
    gmt_handover_abandon();
}

const struct gmt_collector_ops *gmt_cupti_collector(void)
{
    static const struct gmt_collector_ops ops = {
        .name = "cupti",
        .start = start,
        .context_seen = context_seen,
        .context_gone = gmt_measure_drop_context,
        .stream_id = stream_id,
        .capture_begins = gmt_measure_capture_begins,
        .quiesce = gmt_measure_quiesce,
        .measuring = gmt_measure_is_busy,
        .want = gmt_measure_want,
        .begin = gmt_measure_begin,
        .end = gmt_measure_end,
        .waited = waited,
        .managed_memory = managed_memory,
        .kernel_activity_on = gmt_activity_kernels_on,
        .switch_records = switch_records,
        .flush = flush,
        .forking = gmt_measure_forking,
        .abandon = abandon,
        .launched = gmt_measure_launched,
        .lacks = gmt_measure_lacks,
        .repeats = gmt_measure_repeats,
        .prepare = gmt_measure_prepare,
        .own_work = gmt_activity_own_work,
        .not_repeated = gmt_sampling_note,
        .charge = gmt_measure_charge,
        .got_ready = gmt_measure_got_ready,
        .code_reach = code_reach,
        .code_allocates = gmt_code_index_allocates,
    };
    return &ops;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector that counts instructions: in a run that is for nothing else, or after the launches of a
 * class have been measured by the CUPTI collector, which it goes round.
 *
 * All of a launch's instructions or none: its session is of one launch, by one thread, and what was
 * launched meanwhile by another thread is patched, too; then the counts are thrown away.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/cupti/activity.h"
#include "libtrace/cupti/cubins.h"
#include "libtrace/cupti/holds.h"
#include "libtrace/cupti/refusal.h"
#include "libtrace/cupti/sass.h"
#include "libtrace/record/clock.h"
#include "libtrace/record/collector.h"
#include "libtrace/record/spool.h"

#define CAPABILITY "instructions"
#define MAX_CONTEXTS 64u
#define LOCK_TRIES 400u /* of 1 ms */

static struct gmt_cupti_api api;
static struct gmt_collector_config config;
static const struct gmt_collector_ops *inner;
static struct gmt_sass sass;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool counting;
static uint64_t began_ns;          /* recording */
static uint64_t session_from_ns;   /* the one that runs */
static uint64_t spent_ns, last_ns; /* on all of them, on the last one */
static uint64_t launches_before;
static struct {
    void *context;
    uint32_t device;
} contexts[MAX_CONTEXTS];
static uint32_t context_count;
static _Atomic uint64_t counted, disturbed, unsafe, over_budget, taken, empty;

static void refused(CUptiResult result, const char *function)
{
    atomic_store(&counting, false);
    gmt_refusal_row(CAPABILITY, &api, result, function);
}

static void start_deep(void)
{
    const char *function = api.missing_sass != NULL ? api.missing_sass : api.missing_counters;
    CUptiResult result = CUPTI_ERROR_NOT_SUPPORTED;
    void *synchronize = config.real_symbol("cuCtxSynchronize");
    memcpy(&sass.synchronize, &synchronize, sizeof(synchronize));
    sass.api = &api;
    began_ns = gmt_clock_monotonic_ns();
    if (function == NULL && synchronize != NULL) {
        config.enter();
        result = gmt_cubins_start(&api, &config, &function);
        config.leave();
    }
    if (result == CUPTI_SUCCESS) {
        atomic_store(&counting, true);
    } else {
        refused(result, function);
    }
}

static int start(const struct gmt_collector_config *given)
{
    config = *given;
    inner = gmt_cupti_collector();
    int error = inner->start(given);
    if (error == 0) {
        error = gmt_cupti_load(&api, config.cupti_path); /* the one that is loaded already */
    }
    if (error != 0) {
        gmt_spool_capability(CAPABILITY, GMT_CAP_MISSING, error, "there is no CUPTI (see cupti)",
                             "");
        return error;
    }
    start_deep();
    return 0;
}

static void context_seen(void *context, uint32_t id, uint32_t device)
{
    inner->context_seen(context, id, device);
    pthread_mutex_lock(&lock);
    uint32_t at = context_count;
    if (at < MAX_CONTEXTS) {
        contexts[at].context = context;
        contexts[at].device = device;
        context_count++;
    }
    pthread_mutex_unlock(&lock);
}

/* A session ends with its launch, so that none can be under way in this thread. */
static void context_gone(void *context)
{
    inner->context_gone(context);
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < context_count; i++) {
        if (contexts[i].context == context) {
            contexts[i].context = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
}

static int stream_id(void *context, void *stream, bool per_thread, uint32_t *id)
{
    return inner->stream_id(context, stream, per_thread, id);
}

/* A capture is about to begin: no session is to be in the making then. */
static void quiesce(void)
{
    inner->quiesce();
    if (pthread_mutex_trylock(&lock) == 0) {
        pthread_mutex_unlock(&lock);
        return;
    }
    uint64_t from_ns = gmt_clock_monotonic_ns();
    for (unsigned i = 0; i < LOCK_TRIES; i++) {
        if (pthread_mutex_trylock(&lock) == 0) {
            pthread_mutex_unlock(&lock);
            break;
        }
        (void)usleep(1000);
    }
    gmt_spool_own_time(GMT_OWN_WAIT, from_ns, 0);
}

static uint32_t samples_of(const struct gmt_collector_class *cls)
{
    return atomic_load_explicit(&cls->measured[GMT_GROUP_SASS], memory_order_relaxed);
}

static enum gmt_counter_group want(struct gmt_collector_class *cls)
{
    enum gmt_counter_group group = config.only_deep ? GMT_GROUP_NONE : inner->want(cls);
    if (group != GMT_GROUP_NONE || cls->never ||
        !atomic_load_explicit(&counting, memory_order_relaxed)) {
        return group;
    }
    return samples_of(cls) < config.samples_per_class ? GMT_GROUP_SASS : GMT_GROUP_NONE;
}

static bool may_spend(uint64_t now_ns)
{
    double allowed = (double)config.overhead_start_ns +
                     config.overhead_share * (double)(now_ns - began_ns);
    return (double)(spent_ns + last_ns) <= allowed;
}

static bool capturing(void)
{
    return config.captures != NULL && atomic_load(config.captures) != 0;
}

/* No other launch is on its way into the driver: it would be patched as well. */
static bool alone(void)
{
    launches_before = atomic_load(config.launches);
    return config.launches_done == NULL || atomic_load(config.launches_done) + 1 >= launches_before;
}

static bool find_device(void *context, uint32_t *device)
{
    for (uint32_t i = context_count; i-- > 0;) {
        if (contexts[i].context == context) {
            *device = contexts[i].device;
            return true;
        }
    }
    return false;
}

static enum gmt_counter_group begin_locked(const struct gmt_launch_site *site)
{
    uint32_t device;
    uint64_t now_ns = gmt_clock_monotonic_ns();
    if (!find_device(site->context, &device) || capturing()) {
        return GMT_GROUP_NONE;
    }
    if (gmt_holds_any() || gmt_cubins_left()) { /* the program's own use of CUPTI comes first */
        atomic_fetch_add(&taken, 1);
        return GMT_GROUP_NONE;
    }
    if (!may_spend(now_ns)) {
        atomic_fetch_add(&over_budget, 1);
        return GMT_GROUP_NONE;
    }
    if (!alone()) {
        atomic_fetch_add(&disturbed, 1);
        return GMT_GROUP_NONE;
    }
    /* Hardware counters and this must never be on at the same time. */
    inner->context_gone(NULL);
    gmt_activity_set_kernels(false);
    CUptiResult result = gmt_sass_begin(&sass, site->context, device);
    if (result != CUPTI_SUCCESS) {
        gmt_activity_set_kernels(true);
        refused(result, sass.failed);
        return GMT_GROUP_NONE;
    }
    session_from_ns = now_ns;
    return GMT_GROUP_SASS;
}

static enum gmt_counter_group begin(const struct gmt_launch_site *site)
{
    if (!config.only_deep && inner->want(site->cls) != GMT_GROUP_NONE) {
        return inner->begin(site);
    }
    if (!atomic_load(&counting)) {
        return GMT_GROUP_NONE;
    }
    if (site->unsafe || site->capturing) {
        atomic_fetch_add(&unsafe, 1);
        return GMT_GROUP_NONE;
    }
    if (pthread_mutex_trylock(&lock) != 0) {
        atomic_fetch_add(&disturbed, 1);
        return GMT_GROUP_NONE;
    }
    config.enter();
    enum gmt_counter_group group = begin_locked(site);
    config.leave();
    if (group == GMT_GROUP_NONE) {
        pthread_mutex_unlock(&lock);
    }
    return group; /* else the lock stays held until `end` */
}

static void end(const struct gmt_launch_site *site, enum gmt_counter_group group)
{
    if (group != GMT_GROUP_SASS) {
        inner->end(site, group);
        return;
    }
    bool keep = atomic_load(config.launches) == launches_before;
    size_t instructions = 0;
    config.enter();
    CUptiResult result = gmt_sass_end(&sass, keep, site->launch_seq, site->cls->id, &instructions);
    gmt_activity_set_kernels(true);
    config.leave();
    last_ns = gmt_clock_monotonic_ns() - session_from_ns;
    spent_ns += last_ns;
    gmt_spool_own_time(GMT_OWN_INSTRUCTIONS, session_from_ns, site->launch_seq);
    if (result != CUPTI_SUCCESS) {
        refused(result, sass.failed);
    } else if (!keep) {
        atomic_fetch_add(&disturbed, 1);
    } else {
        atomic_fetch_add(&site->cls->measured[GMT_GROUP_SASS], 1);
        atomic_fetch_add(instructions != 0 ? &counted : &empty, 1);
    }
    pthread_mutex_unlock(&lock);
}

static bool kernel_activity_on(void)
{
    return inner->kernel_activity_on();
}

static void note_loss(const char *why, uint64_t number)
{
    if (number != 0) {
        gmt_spool_loss("launch without counts of instructions", why, number);
    }
}

static void flush(void)
{
    inner->flush();
    if (!atomic_exchange(&counting, false)) {
        return;
    }
    char detail[96];
    (void)snprintf(detail, sizeof(detail), "%llu launches",
                   (unsigned long long)atomic_load(&counted));
    bool any = atomic_load(&counted) != 0;
    gmt_spool_capability(CAPABILITY, any ? GMT_CAP_OK : GMT_CAP_MISSING, 0,
                         any ? detail : "no launch was counted", "");
    note_loss("another thread launched at the same time", atomic_load(&disturbed));
    note_loss("it might wait for another launch, for the host, or for a capture",
              atomic_load(&unsafe));
    note_loss("the program used CUPTI itself", atomic_load(&taken));
    note_loss("counter budget", atomic_load(&over_budget));
    note_loss("CUPTI gave no counts", atomic_load(&empty));
}

static void abandon(void)
{
    atomic_store(&counting, false);
    gmt_cubins_abandon();
    (void)pthread_mutex_init(&lock, NULL);
    inner->abandon();
}

const struct gmt_collector_ops *gmt_deep_collector(void)
{
    static const struct gmt_collector_ops ops = {
        .name = "deep",
        .start = start,
        .context_seen = context_seen,
        .context_gone = context_gone,
        .stream_id = stream_id,
        .quiesce = quiesce,
        .want = want,
        .begin = begin,
        .end = end,
        .kernel_activity_on = kernel_activity_on,
        .flush = flush,
        .abandon = abandon,
    };
    return &ops;
}

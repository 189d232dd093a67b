/* SPDX-License-Identifier: Apache-2.0 */
/* Stands back while the program uses CUPTI itself, and takes up again (handover.h). */
#define _GNU_SOURCE
#include "libtrace/cupti/handover.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/cupti/base/activity.h"
#include "libtrace/cupti/base/buffers.h"
#include "libtrace/cupti/base/contexts.h"
#include "libtrace/cupti/base/holds.h"
#include "libtrace/cupti/base/refusal.h"
#include "libtrace/cupti/base/watch.h"
#include "libtrace/cupti/code/cubins.h"
#include "libtrace/cupti/driver_calls.h"
#include "libtrace/cupti/measure/measure.h"
#include "libtrace/record/clock.h"
#include "libtrace/record/spool.h"
#include "libtrace/sections/section.h"
#include "libtrace/threads/mutex.h"

#define HAND_OVER_DEADLINE_NS UINT64_C(600000000)
#define LOCK_TRIES \
    2000u /* of 1 ms: who has it may be waiting for the loader, whose lock we may hold */

static struct gmt_mutex lock = GMT_MUTEX(HANDOVER);
static const struct gmt_cupti_api *api;
static const struct gmt_collector_config *config;
static _Atomic bool active;     /* the collector runs */
static _Atomic bool ours;       /* ... and records device times now */
static bool taken_down;         /* by the program's cuptiFinalize, and not used since */
static bool profiler_ended;     /* by its cuptiProfilerDeInitialize */
static bool ids_are_old;        /* CUPTI numbers contexts anew after a cuptiFinalize */
static _Atomic unsigned claims; /* requests that are being answered */
static unsigned subscriptions;  /* of the program */
static CUpti_TimestampCallbackFunc _Atomic program_clock;
static _Atomic uint32_t program_period_ms;

static struct gmt_device_gap gap; /* the last one: id and begin */
static bool at_rest;              /* ours, and off for a time: that gap has begun */
static char gap_client[256];
static const char *gap_function;

/* A callback of the program's, called by CUPTI while we call CUPTI, must not wait for itself. */
static _Thread_local __attribute__((tls_model("initial-exec"))) bool inside;

static void enter(void)
{
    if (config->enter != NULL) {
        config->enter();
    }
}

static void leave(void)
{
    if (config->leave != NULL) {
        config->leave();
    }
}

static bool begin(void)
{
    for (unsigned i = 0; !inside && i < LOCK_TRIES; i++) {
        if (gmt_mutex_try(&lock)) {
            inside = true;
            return true;
        }
        (void)usleep(1000);
    }
    return false;
}

static void end(void)
{
    gmt_mutex_unlock(&lock);
    inside = false;
}

/* ---- the time without device times ------------------------------------------------------------- */

static void name_client(const void *caller, const char *function)
{
    Dl_info module;
    const char *name = NULL;
    if (caller != NULL && dladdr(caller, &module) != 0 && module.dli_fname != NULL) {
        const char *slash = strrchr(module.dli_fname, '/');
        name = slash != NULL ? slash + 1 : module.dli_fname;
    }
    (void)snprintf(gap_client, sizeof(gap_client), "%s", name != NULL ? name : "");
    gap_function = function;
}

static void write_gap(uint64_t end_ns)
{
    gap.end_ns = end_ns;
    (void)gmt_spool_side(GMT_REC_DEVICE_GAP, &gap, sizeof(gap),
                         (const char *[]){gap_client, gap_function}, 2);
}

static void begin_gap(const void *caller, const char *function)
{
    gap.id++;
    gap.begin_ns = gmt_clock_monotonic_ns();
    gap.reason = GMT_GAP_CLIENT;
    gap.switch_us = 0;
    name_client(caller, function);
    write_gap(0);
}

static uint16_t microseconds(uint64_t begin_ns, uint64_t end_ns)
{
    uint64_t us = (end_ns - begin_ns) / 1000 + 1;
    return us < UINT16_MAX ? (uint16_t)us : UINT16_MAX;
}

/* The program's calls meanwhile may have a record or not: how long that was is written, too. */
static void rest(void)
{
    uint64_t began_ns = gmt_clock_monotonic_ns();
    gmt_activity_rest(true);
    at_rest = true;
    gap.id++;
    gap.begin_ns = gmt_clock_monotonic_ns();
    gap.reason = GMT_GAP_BUDGET;
    gap.switch_us = microseconds(began_ns, gap.begin_ns);
    gap_client[0] = '\0';
    gap_function = "";
    write_gap(0);
}

static void end_rest(bool goes_on)
{
    uint64_t end_ns = gmt_clock_monotonic_ns();
    if (at_rest && goes_on) {
        gmt_activity_rest(false);
        uint16_t us = microseconds(end_ns, gmt_clock_monotonic_ns());
        gap.switch_us = us > gap.switch_us ? us : gap.switch_us;
    }
    if (at_rest) {
        at_rest = false;
        gap_client[0] = '\0'; /* another may have been named meanwhile, for later */
        gap_function = "";
        write_gap(end_ns);
    }
}

/* ---- giving and taking ------------------------------------------------------------------------- */

static void hand_over(void)
{
    enter();
    if (!gmt_activity_hand_over(program_period_ms, atomic_load(&program_clock))) {
        gmt_spool_loss("device timestamps", "CUPTI kept buffers when another client took over", 1);
    }
    leave();
}

static void give(const struct gmt_handover *request)
{
    if (!active || !atomic_load(&ours)) {
        return;
    }
    uint64_t began_ns = gmt_clock_monotonic_ns(), section = gmt_section_begin(GMT_SECTION_HANDOVER);
    enter();
    (void)gmt_measure_suspend();
    end_rest(false);
    gmt_activity_disable();
    atomic_store(&ours, false);
    begin_gap(request->caller, request->function);
    /* In a thread of its own, because nothing promises that CUPTI's flush returns. */
    if (!gmt_watch_run(hand_over, HAND_OVER_DEADLINE_NS)) {
        gmt_buffers_in_charge(false);
        gmt_spool_loss("device timestamps", "CUPTI did not deliver its records in time", 1);
    }
    gmt_spool_own_time(GMT_OWN_HANDOVER, began_ns, 0);
    leave();
    gmt_section_end(section);
}

static void renew_id(void *context, uint32_t id)
{
    uint32_t cupti_id = 0;
    if (api->cuptiGetContextId(context, &cupti_id) == CUPTI_SUCCESS && cupti_id != 0) {
        gmt_activity_add_context(cupti_id, id);
    }
}

static CUptiResult take(const char **failed)
{
    uint64_t now_ns = gmt_clock_monotonic_ns();
    enter();
    CUptiResult result = gmt_activity_start(api, failed);
    if (result == CUPTI_SUCCESS) {
        atomic_store(&ours, true);
        gmt_measure_resume(profiler_ended);
        profiler_ended = false;
        if (ids_are_old) {
            gmt_contexts_each(renew_id);
            ids_are_old = false;
        }
    }
    leave();
    if (result == CUPTI_SUCCESS && gap.id != 0) {
        write_gap(now_ns);
    }
    return result;
}

/* The program has given everything back, its buffers included. */
static void take_if_free(void)
{
    const char *failed = NULL;
    if (!active || atomic_load(&ours) || claims != 0 || taken_down || gmt_holds_any() ||
        gmt_buffers_of_program() != 0) {
        return;
    }
    CUptiResult result = take(&failed);
    gmt_refusal_row("timestamps", api, result, failed);
    active = result == CUPTI_SUCCESS;
}

/* ---- requests ---------------------------------------------------------------------------------- */

static void claim(struct gmt_handover *request)
{
    request->claimed = true;
    claims++;
    give(request);
}

void gmt_handover_before(struct gmt_handover *request)
{
    request->nested = inside;
    if ((request->request & GMT_REQUEST_CLAIM) != 0 && begin()) {
        claim(request);
        end();
    }
    bool gives_back = request->held == GMT_HELD_SUBSCRIPTION &&
                      (request->request & GMT_REQUEST_RELEASE) != 0;
    if (gives_back && begin()) {
        if (subscriptions == 0) {
            (void)gmt_cubins_yield(
                gmt_measure_quiesce); /* a handle of old may be that of our subscription now */
        }
        end();
    }
}

bool gmt_handover_again(struct gmt_handover *request, CUptiResult result)
{
    if (request->nested || (request->request & GMT_REQUEST_RETRY) == 0 || request->claimed ||
        result == CUPTI_SUCCESS || result == CUPTI_ERROR_INVALID_PARAMETER || !begin()) {
        return false;
    }
    /* Who listens to modules being loaded is a subscriber; who records activities mostly is none. */
    bool listened = request->held == GMT_HELD_SUBSCRIPTION && gmt_cubins_yield(gmt_measure_quiesce);
    bool in_the_way = !listened && active && atomic_load(&ours);
    if (in_the_way) {
        claim(request);
    }
    end();
    return listened || in_the_way;
}

static void count(const struct gmt_handover *request)
{
    bool retried = (request->request & GMT_REQUEST_RETRY) != 0;
    if (request->held == GMT_HELD_SUBSCRIPTION) {
        bool more = (request->request & GMT_REQUEST_HOLD) != 0;
        subscriptions = more ? subscriptions + 1 : subscriptions - (subscriptions != 0);
    }
    if ((request->request & GMT_REQUEST_HOLD) != 0 && (!retried || request->claimed)) {
        gmt_holds_add(request->held, request->key);
        taken_down = false;
        if (active && !atomic_load(&ours)) {
            return;
        }
        name_client(request->caller, request->function); /* for a collector that starts later */
    }
    if ((request->request & GMT_REQUEST_RELEASE) != 0) {
        gmt_holds_drop(request->held, request->key);
    }
    profiler_ended |= (request->request & GMT_REQUEST_END_PROFILER) != 0;
    if ((request->request & GMT_REQUEST_END) != 0) {
        gmt_holds_clear();
        CUpti_BuffersCallbackRequestFunc no_request = NULL;
        CUpti_BuffersCallbackCompleteFunc no_complete = NULL;
        gmt_buffers_exchange(&no_request, &no_complete);
        gmt_buffers_forget_program();
        gmt_cubins_lost();
        taken_down = ids_are_old = profiler_ended = true;
        subscriptions = 0;
        atomic_store(&program_clock, NULL);
        program_period_ms = 0;
    }
}

void gmt_handover_after(struct gmt_handover *request, CUptiResult result)
{
    bool alone = !request->nested && begin();
    claims -= request->claimed;
    if (alone) {
        if (result == CUPTI_SUCCESS) {
            count(request);
        }
        take_if_free();
        if (subscriptions == 0 && !taken_down) {
            gmt_cubins_resume();
        }
        end();
    }
}

bool gmt_handover_is_ours(void)
{
    return atomic_load(&ours);
}

bool gmt_handover_try(void (*work)(void))
{
    if (inside || !gmt_mutex_try(&lock)) {
        return false;
    }
    inside = true;
    bool is_ours = active && atomic_load(&ours);
    if (is_ours) {
        work();
    }
    end();
    return is_ours;
}

bool gmt_handover_switch(bool on)
{
    if (inside || !gmt_mutex_try(&lock)) {
        return false;
    }
    inside = true;
    bool is_ours = active && atomic_load(&ours);
    if (is_ours && on) {
        end_rest(true);
    } else if (is_ours && !at_rest) {
        rest();
    }
    end();
    return is_ours;
}

void gmt_handover_set_clock(CUpti_TimestampCallbackFunc clock)
{
    atomic_store(&program_clock, clock);
}

bool gmt_handover_set_flush_period(uint32_t milliseconds)
{
    program_period_ms = milliseconds;
    return atomic_load(&ours);
}

bool gmt_handover_time(uint64_t *ns)
{
    if (!atomic_load(&ours)) {
        return false;
    }
    CUpti_TimestampCallbackFunc clock = atomic_load(&program_clock);
    *ns = clock != NULL ? clock() : gmt_activity_default_clock_ns();
    return true;
}

/* ---- the collector ----------------------------------------------------------------------------- */

static void CUPTIAPI ignore(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                            const void *what)
{
    (void)data;
    (void)domain;
    (void)id;
    (void)what;
}

/* CUPTI has one subscriber, and the profilers that start a program (Nsight Systems and Compute,
 * cuda-gdb) make it refuse any: the one sign of theirs that is documented. Activity records would be had
 * all the same, and would spoil those of that tool. */
static CUptiResult find_other_tool(const char **failed)
{
    CUpti_SubscriberHandle subscriber = NULL;
    /* It is the program's, who can have it beside us, or our own. */
    if (subscriptions != 0 || gmt_driver_calls_active()) {
        return CUPTI_SUCCESS;
    }
    CUptiResult result = api->cuptiSubscribe(&subscriber, ignore, NULL);
    if (result == CUPTI_SUCCESS) {
        (void)api->cuptiUnsubscribe(subscriber);
    }
    *failed = "cuptiSubscribe";
    return result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED ? result : CUPTI_SUCCESS;
}

bool gmt_handover_start(const struct gmt_cupti_api *cupti, const struct gmt_collector_config *given,
                        CUptiResult *result, const char **failed)
{
    if (!begin()) {
        *failed = "another thread";
        *result = CUPTI_ERROR_NOT_READY;
        return true;
    }
    api = cupti;
    config = given;
    bool free_now = claims == 0 && !gmt_holds_any() && gmt_buffers_of_program() == 0;
    *result = find_other_tool(failed);
    if (*result == CUPTI_SUCCESS && free_now) {
        *result = take(failed);
    } else if (*result == CUPTI_SUCCESS) {
        gap.id++;
        gap.begin_ns = gmt_clock_monotonic_ns();
        write_gap(0);
        (void)gmt_measure_suspend();
    }
    active = *result == CUPTI_SUCCESS;
    end();
    return free_now || !active;
}

bool gmt_handover_finish(void)
{
    bool free_now = begin();
    bool all_ours = free_now && active && atomic_load(&ours);
    if (all_ours) {
        end_rest(false);
    }
    active = false;
    atomic_store(&ours, false);
    if (free_now) {
        end();
    }
    return all_ours;
}

void gmt_handover_abandon(void)
{
    gmt_mutex_renew(&lock);
    active = false;
    atomic_store(&ours, false);
    claims = 0;
    inside = false;
    at_rest = false;
    gap.id = 0;
}

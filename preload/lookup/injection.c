/* SPDX-License-Identifier: Apache-2.0 */
/* Records the calls that CUPTI reports where there are no hooks. */
#include "preload/lookup/injection.h"

#include <cupti_driver_cbid.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>

#include "libtrace/cupti/driver_calls.h"
#include "preload/driver/resolve.h"
#include "preload/recording/start.h"
#include "preload/session/injection_report.h"
#include "preload/session/options.h"
#include "preload/session/own_stack.h"
#include "preload/session/session.h"

/* A thread's call in progress. Calls nest only where the driver itself makes one. */
struct reported {
    struct gmt_callback callback;
    const void *frame; /* where the stack was */
    uint32_t correlation;
    bool active;
};

static uint64_t asked_ticks;                           /* cuInit had begun */
static uint16_t hook_of[CUPTI_DRIVER_TRACE_CBID_SIZE]; /* gmt_hook_id + 1, 0 = none */
static pthread_key_t key;
static _Thread_local struct reported *mine;

static void forget(void *gone)
{
    (void)munmap(gone, sizeof(struct reported));
    mine = NULL;
}

static struct reported *get_mine(void)
{
    if (__builtin_expect(mine == NULL, 0)) {
        void *memory = mmap(NULL, sizeof(struct reported), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED || pthread_setspecific(key, memory) != 0) {
            return NULL;
        }
        mine = memory;
    }
    return mine;
}

/* ---- entry and exit of a call ------------------------------------------------------------------- */

static void begin(struct reported *reported, const struct gmt_driver_call *call,
                  enum gmt_hook_id id)
{
    const void *frame = __builtin_frame_address(0);
    if (reported->active && frame < reported->frame) {
        return; /* inside of another one; else that one never returned */
    }
    reported->frame = frame;
    reported->correlation = call->correlation;
    reported->active = true;
    reported->callback.call = (struct gmt_hook_call){.id = id};
    /* Recording cannot begin before the driver is initialized. */
    if (id != GMT_HOOK_cuInit) {
        reported->callback.entering = true;
        reported->active = gmt_guard_enter(GMT_GUARD_TO_RECORD, GMT_GUARD_HERE, NULL);
        if (reported->active) {
            gmt_guard_hold_cancellation();
            gmt_reported_hooks[id].callbacks->run(&reported->callback, call->parameters);
            gmt_guard_leave();
        }
    }
    reported->callback.call.begin_ticks = gmt_clock_ticks();
}

static void end(struct reported *reported, const struct gmt_driver_call *call, enum gmt_hook_id id)
{
    uint64_t now = gmt_clock_ticks();
    struct gmt_hook_call *hooked = &reported->callback.call;
    bool is_init = id == GMT_HOOK_cuInit;
    bool is_known = reported->active && reported->correlation == call->correlation;
    if (is_init && !is_known) {
        *hooked = (struct gmt_hook_call){.id = id,
                                         .begin_ticks = asked_ticks}; /* began before us */
    }
    if (!is_known && !is_init) {
        return;
    }
    reported->active = false;
    hooked->end_ticks = now;
    hooked->result = (CUresult)call->result;
    reported->callback.entering = false;
    if ((!is_init || call->result == CUDA_SUCCESS) &&
        gmt_guard_enter(GMT_GUARD_TO_RECORD, GMT_GUARD_HERE, NULL)) {
        gmt_guard_hold_cancellation();
        gmt_reported_hooks[id].callbacks->run(&reported->callback, call->parameters);
        gmt_guard_leave();
    }
}

static void on_call(const struct gmt_driver_call *call)
{
    unsigned slot = call->callback < CUPTI_DRIVER_TRACE_CBID_SIZE ? hook_of[call->callback] : 0;
    if (slot == 0 || gmt_guard_is_inside()) {
        return;
    }
    struct reported *reported = get_mine();
    if (reported == NULL) {
        return;
    }
    (call->entering ? begin : end)(reported, call, (enum gmt_hook_id)(slot - 1));
}

/* ---- loaded by the driver ---------------------------------------------------------------------- */

/* Preloaded libraries come before libc in the loader's list, those that are opened come after it. */
static bool is_preloaded(void)
{
    Dl_info unused;
    struct link_map *own = NULL, *libc = NULL;
    if (dladdr1(&gmt_started, &unused, (void **)&own, RTLD_DL_LINKMAP) == 0 ||
        dladdr1(gmt_resolve_in_libc(), &unused, (void **)&libc, RTLD_DL_LINKMAP) == 0) {
        return false;
    }
    while (own != NULL && own != libc) {
        own = own->l_next;
    }
    return own != NULL;
}

static size_t choose(uint32_t *callbacks)
{
    size_t count = 0;
    for (unsigned id = 0; id < GMT_HOOK_COUNT; id++) {
        const struct gmt_reported_hook *hook = &gmt_reported_hooks[id];
        if (hook->callbacks == NULL) {
            continue; /* it is not recorded */
        }
        if (hook->callbacks->parameter_bytes == 0 ||
            hook->callbacks->parameter_bytes == hook->parameter_bytes) {
            hook_of[hook->callback] = (uint16_t)(id + 1);
            callbacks[count++] = hook->callback;
        } else {
            gmt_injection.unreported++;
        }
    }
    return count;
}

/* On a stack of our own: CUPTI is loaded. */
static void prepare(void *unused)
{
    uint32_t callbacks[GMT_HOOK_COUNT];
    (void)unused;
    gmt_clock_init();
    gmt_options_load();
    asked_ticks = gmt_clock_ticks();
    bool ready = pthread_key_create(&key, forget) == 0;
    int error = ready ? gmt_driver_calls_start(gmt_options.cupti, callbacks, choose(callbacks),
                                               on_call, gmt_injection.reason,
                                               sizeof(gmt_injection.reason))
                      : -1;
    gmt_injection.unreported += error > 0 ? error : 0;
    gmt_injection.state = error >= 0 ? GMT_INJECTION_REPORTED : GMT_INJECTION_NOT_COVERED;
}

GMT_EXPORT int InitializeInjection(void)
{
    if (gmt_injection.state != GMT_INJECTION_NOT_ASKED) {
        return 1;
    }
    if (is_preloaded()) {
        gmt_injection.state = GMT_INJECTION_PRELOADED;
        return 1;
    }
    gmt_guard_shut();
    if (gmt_own_stack_run(prepare, NULL) != 0) {
        gmt_injection.state = GMT_INJECTION_NOT_COVERED;
    }
    if (gmt_injection.state == GMT_INJECTION_NOT_COVERED) {
        (void)gmt_start(); /* nothing else will make a trace that says so */
    }
    gmt_guard_reopen();
    return 1;
}

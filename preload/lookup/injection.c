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

/* A thread's call under way. Calls do not nest, but for those that the driver itself makes. */
struct told {
    struct gmt_callback halves;
    const void *frame; /* where the stack was */
    uint32_t correlation;
    bool active;
};

static uint64_t asked_ticks;                           /* cuInit had begun */
static uint16_t hook_of[CUPTI_DRIVER_TRACE_CBID_SIZE]; /* gmt_hook_id + 1, 0 = none */
static pthread_key_t key;
static _Thread_local struct told *mine;

static void forget(void *gone)
{
    (void)munmap(gone, sizeof(struct told));
    mine = NULL;
}

static struct told *get_mine(void)
{
    if (__builtin_expect(mine == NULL, 0)) {
        void *memory = mmap(NULL, sizeof(struct told), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED || pthread_setspecific(key, memory) != 0) {
            return NULL;
        }
        mine = memory;
    }
    return mine;
}

/* ---- both ends of a call ---------------------------------------------------------------------- */

static void begin(struct told *told, const struct gmt_driver_call *call, enum gmt_hook_id id)
{
    const void *frame = __builtin_frame_address(0);
    if (told->active && frame < told->frame) {
        return; /* inside of another one; else that one never returned */
    }
    told->frame = frame;
    told->correlation = call->correlation;
    told->active = true;
    told->halves.site = (struct gmt_site){.id = id};
    /* Recording cannot begin before the driver is initialized. */
    if (id != GMT_HOOK_cuInit) {
        told->halves.entering = true;
        told->active = gmt_guard_enter(GMT_GUARD_TO_RECORD, GMT_GUARD_HERE, NULL);
        if (told->active) {
            gmt_guard_hold_cancellation();
            gmt_told_hooks[id].halves->run(&told->halves, call->parameters);
            gmt_guard_leave();
        }
    }
    told->halves.site.begin_ticks = gmt_clock_ticks();
}

static void end(struct told *told, const struct gmt_driver_call *call, enum gmt_hook_id id)
{
    uint64_t now = gmt_clock_ticks();
    struct gmt_site *site = &told->halves.site;
    bool is_init = id == GMT_HOOK_cuInit;
    bool is_known = told->active && told->correlation == call->correlation;
    if (is_init && !is_known) {
        *site = (struct gmt_site){.id = id, .begin_ticks = asked_ticks}; /* began before us */
    }
    if (!is_known && !is_init) {
        return;
    }
    told->active = false;
    site->end_ticks = now;
    site->result = (CUresult)call->result;
    told->halves.entering = false;
    if ((!is_init || call->result == CUDA_SUCCESS) &&
        gmt_guard_enter(GMT_GUARD_TO_RECORD, GMT_GUARD_HERE, NULL)) {
        gmt_guard_hold_cancellation();
        gmt_told_hooks[id].halves->run(&told->halves, call->parameters);
        gmt_guard_leave();
    }
}

static void on_call(const struct gmt_driver_call *call)
{
    unsigned slot = call->callback < CUPTI_DRIVER_TRACE_CBID_SIZE ? hook_of[call->callback] : 0;
    if (slot == 0 || gmt_guard_is_inside()) {
        return;
    }
    struct told *told = get_mine();
    if (told == NULL) {
        return;
    }
    (call->entering ? begin : end)(told, call, (enum gmt_hook_id)(slot - 1));
}

/* ---- the door --------------------------------------------------------------------------------- */

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
        const struct gmt_told_hook *hook = &gmt_told_hooks[id];
        if (hook->halves->parameter_bytes == 0 ||
            hook->halves->parameter_bytes == hook->parameter_bytes) {
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks: CUPTI, as the program calls it. They record nothing; they let the collector stand back.
 *
 * The collector calls CUPTI by what its handle gives (libtrace/cupti/base/loader.c) and never comes through here.
 * CUPTI is linked so that its own calls do not either. That we are inside a driver hook means nothing
 * here: callbacks of the program's run there.
 */
#include "preload/hooks/cupti.h"

#include <cupti_pcsampling.h>
#include <cupti_pmsampling.h>
#include <cupti_sass_metrics.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "libtrace/cupti/base/buffers.h"
#include "libtrace/cupti/base/copies.h"
#include "libtrace/cupti/base/loader.h"
#include "libtrace/cupti/base/real_dlsym.h"
#include "libtrace/cupti/handover.h"
#include "libtrace/threads/cancellation.h"
#include "preload/driver/resolve.h"
#include "preload/hooks/hook.h"
#include "preload/recording/start.h"

enum function {
#define GMT_CUPTI_HOOK(symbol, request, held, key, parameters, arguments) CUPTI_##symbol,
#define GMT_CUPTI_HOOK_OWN(symbol, parameters) CUPTI_##symbol,
#include "preload/hooks/cupti.def"
    FUNCTIONS
};
#undef GMT_CUPTI_HOOK
#undef GMT_CUPTI_HOOK_OWN

static const struct {
    const char *name;
    void (*hook)(void);
} functions[FUNCTIONS] = {
#define GMT_CUPTI_HOOK(symbol, request, held, key, parameters, arguments) \
    {#symbol, (void (*)(void))symbol},
#define GMT_CUPTI_HOOK_OWN(symbol, parameters) {#symbol, (void (*)(void))symbol},
#include "preload/hooks/cupti.def"
};
#undef GMT_CUPTI_HOOK
#undef GMT_CUPTI_HOOK_OWN

static void *_Atomic real[FUNCTIONS];

/* A handle of the CUPTI in the process, NULL: there is none. Never loads one. */
static void *handle_in_process(void)
{
    static const char *const libraries[] = {GMT_CUPTI_LIBRARIES};
    void *handle = NULL;
    for (size_t i = 0; handle == NULL && i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        handle = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
    }
    return handle;
}

/* That of the CUPTI that the program is linked with, else of the one in the process. */
static void *find_in_process(enum function function)
{
    void *found = gmt_dlsym_past_us(RTLD_NEXT, functions[function].name);
    void *handle = found == NULL ? handle_in_process() : NULL;
    return handle != NULL ? gmt_dlsym_past_us(handle, functions[function].name) : found;
}

static void *find_real(enum function function)
{
    void *known = atomic_load_explicit(&real[function], memory_order_acquire);
    if (known == NULL) {
        known = find_in_process(function);
        atomic_store_explicit(&real[function], known, memory_order_release);
    }
    return known;
}

/* Of several copies one is served (libtrace/cupti/base/copies.h); the others keep their own functions. */
void *gmt_cupti_route(const char *name, void *found)
{
    unsigned at = 0;
    while (at < FUNCTIONS && strcmp(functions[at].name, name) != 0) {
        at++;
    }
    void *target = gmt_copies_route(name, found, at < FUNCTIONS), *none = NULL, *hook = NULL;
    if (target == NULL) {
        return NULL;
    }
    if (at < FUNCTIONS &&
        (atomic_compare_exchange_strong(&real[at], &none, target) || none == target)) {
        memcpy(&hook, &functions[at].hook, sizeof(hook));
        return hook;
    }
    return target != found ? target : NULL;
}

#define FORWARD_TO(SYMBOL, PARAMETERS) \
    CUptiResult(*forward) PARAMETERS = NULL; \
    void *found = find_real(CUPTI_##SYMBOL); \
    memcpy(&forward, &found, sizeof(forward)); \
    if (forward == NULL) { \
        return CUPTI_ERROR_NOT_INITIALIZED; \
    }

/* ---- around the program's own call: nobody is cancelled in here ----------------------------------- */

static void before(struct gmt_handover *handover)
{
    struct gmt_cancellation of_program = gmt_cancellation_hold();
    if (gmt_epoch() == GMT_EPOCH_FORKED) {
        gmt_forked();
    }
    gmt_handover_before(handover);
    gmt_cancellation_allow(of_program);
}

static bool again(struct gmt_handover *handover, CUptiResult result)
{
    struct gmt_cancellation of_program = gmt_cancellation_hold();
    bool wanted = gmt_handover_again(handover, result);
    gmt_cancellation_allow(of_program);
    return wanted;
}

static void after(struct gmt_handover *handover, CUptiResult result)
{
    struct gmt_cancellation of_program = gmt_cancellation_hold();
    gmt_handover_after(handover, result);
    gmt_cancellation_allow(of_program);
}

/* ---- those that only ask for the collector to stand back ---------------------------------------- */

#define PLAIN GMT_REQUEST_PLAIN
#define CLAIM GMT_REQUEST_CLAIM
#define HOLD GMT_REQUEST_HOLD
#define RELEASE GMT_REQUEST_RELEASE
#define RETRY GMT_REQUEST_RETRY
#define END GMT_REQUEST_END
#define END_PROFILER GMT_REQUEST_END_PROFILER
#define SWITCH(ON) (unsigned)((ON) != 0 ? HOLD : RELEASE)
#define IN_CONTEXT(CONTEXT, KIND) \
    ((((uint64_t)(uintptr_t)(CONTEXT)) << 12) ^ (uint64_t)(KIND)) /* kinds are below 4096 */

#define GMT_CUPTI_HOOK(symbol, REQUEST, HELD, KEY, PARAMETERS, ARGUMENTS) \
    GMT_EXPORT CUptiResult CUPTIAPI symbol PARAMETERS \
    { \
        FORWARD_TO(symbol, PARAMETERS) \
        struct gmt_handover handover = { \
            .request = (unsigned)(REQUEST), \
            .held = GMT_HELD_##HELD, \
            .key = (uint64_t)(KEY), \
            .function = #symbol, \
            .caller = __builtin_return_address(0), \
        }; \
        before(&handover); \
        CUptiResult result = forward ARGUMENTS; \
        if (again(&handover, result)) { \
            result = forward ARGUMENTS; \
        } \
        after(&handover, result); \
        return result; \
    }
#define GMT_CUPTI_HOOK_OWN(symbol, parameters)
#include "preload/hooks/cupti.def"

/* ---- those of which CUPTI has one ---------------------------------------------------------------- */

/* CUPTI gets our pair, which serves both sides, and judges the program's own as it would. */
GMT_EXPORT CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(
    CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete)
{
    FORWARD_TO(cuptiActivityRegisterCallbacks,
               (CUpti_BuffersCallbackRequestFunc, CUpti_BuffersCallbackCompleteFunc))
    if (request == NULL || complete == NULL) {
        return forward(request, complete);
    }
    gmt_buffers_exchange(&request, &complete);
    CUptiResult result = forward(gmt_buffers_give, gmt_buffers_take);
    if (result != CUPTI_SUCCESS) {
        gmt_buffers_exchange(&request, &complete);
    }
    return result;
}

GMT_EXPORT CUptiResult CUPTIAPI
cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock)
{
    FORWARD_TO(cuptiActivityRegisterTimestampCallback, (CUpti_TimestampCallbackFunc))
    struct gmt_handover handover = {.request = CLAIM,
                                    .function = "cuptiActivityRegisterTimestampCallback",
                                    .caller = __builtin_return_address(0)};
    before(&handover);
    CUptiResult result = forward(clock);
    if (result == CUPTI_SUCCESS) {
        gmt_handover_set_clock(clock);
    }
    after(&handover, result);
    return result;
}

/* Where only the collector has registered callbacks, the program gets the answer that there are none. */
GMT_EXPORT CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag)
{
    FORWARD_TO(cuptiActivityFlushAll, (uint32_t))
    struct gmt_handover handover = {.request = PLAIN,
                                    .function = "cuptiActivityFlushAll",
                                    .caller = __builtin_return_address(0)};
    if (gmt_handover_is_ours() && !gmt_buffers_program_registered()) {
        return CUPTI_ERROR_INVALID_OPERATION;
    }
    before(&handover);
    CUptiResult result = forward(flag);
    after(&handover, result);
    return result;
}

GMT_EXPORT CUptiResult CUPTIAPI cuptiActivityFlushPeriod(uint32_t milliseconds)
{
    FORWARD_TO(cuptiActivityFlushPeriod, (uint32_t))
    return gmt_handover_set_flush_period(milliseconds) ? CUPTI_SUCCESS : forward(milliseconds);
}

GMT_EXPORT CUptiResult CUPTIAPI cuptiGetTimestamp(uint64_t *timestamp)
{
    FORWARD_TO(cuptiGetTimestamp, (uint64_t *))
    return timestamp != NULL && gmt_handover_time(timestamp) ? CUPTI_SUCCESS : forward(timestamp);
}

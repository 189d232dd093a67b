/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions of SASS metrics around launches, and what came of them (instructions.h). */
#define _GNU_SOURCE
#include "libtrace/cupti/code/instructions.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "libtrace/cupti/base/activity.h"
#include "libtrace/cupti/base/holds.h"
#include "libtrace/cupti/base/refusal.h"
#include "libtrace/cupti/code/cubins.h"
#include "libtrace/record/spool.h"
#include "libtrace/sections/section.h"

#define CAPABILITY "instructions"

static const struct gmt_cupti_api *api;
static const struct gmt_collector_config *config;
static struct gmt_sass sass;
static _Atomic bool counting;
static uint64_t counted, empty;
static _Atomic uint64_t missed[GMT_UNMEASURED_COUNT];

static bool refused(CUptiResult result, const char *function)
{
    atomic_store(&counting, false);
    gmt_refusal_row(CAPABILITY, api, result, function);
    return false;
}

bool gmt_instructions_start(const struct gmt_cupti_api *cupti,
                            const struct gmt_collector_config *given)
{
    api = cupti;
    config = given;
    const char *function = api->missing_sass;
    CUptiResult result = CUPTI_ERROR_NOT_SUPPORTED;
    void *synchronize = config->real_symbol("cuCtxSynchronize");
    memcpy(&sass.synchronize, &synchronize, sizeof(synchronize));
    sass.api = api;
    sass.which = config->instructions;
    if (function == NULL && synchronize != NULL) {
        result = gmt_cubins_start(api, config, &function);
    }
    atomic_store(&counting, result == CUPTI_SUCCESS);
    return result == CUPTI_SUCCESS || refused(result, function);
}

bool gmt_instructions_free(void)
{
    return !gmt_cubins_left() && !gmt_holds_any();
}

/* Only while CUPTI's worker thread sleeps: the two would wait for each other. */
static enum gmt_fetch_thread begin_session(const struct gmt_launch_call *call, uint32_t device,
                                           CUptiResult *result)
{
    gmt_activity_set_kernels(false);
    enum gmt_fetch_thread thread = gmt_activity_pause_fetching();
    if (thread == GMT_FETCH_THREAD_SLEEPS) {
        *result = gmt_sass_begin(&sass, call->context, device);
        if (*result == CUPTI_SUCCESS) {
            return thread;
        }
        gmt_activity_resume_fetching();
    }
    gmt_activity_set_kernels(true);
    return thread;
}

void gmt_instructions_prepare(void)
{
    if (atomic_load(&counting)) {
        gmt_activity_find_fetching();
    }
}

bool gmt_instructions_may_begin(void)
{
    return gmt_activity_may_pause_fetching();
}

enum gmt_unmeasured gmt_instructions_begin(const struct gmt_launch_call *call, uint32_t device,
                                           bool *for_good)
{
    CUptiResult result = CUPTI_SUCCESS;
    uint64_t section = gmt_section_begin(GMT_SECTION_ENABLE);
    enum gmt_fetch_thread thread = begin_session(call, device, &result);
    gmt_section_end(section);
    *for_good = thread == GMT_FETCH_THREAD_UNKNOWN || result != CUPTI_SUCCESS;
    if (thread == GMT_FETCH_THREAD_UNKNOWN) {
        atomic_store(&counting, false);
        gmt_spool_capability(CAPABILITY, GMT_CAP_MISSING, 0,
                             "launches are counted only while CUPTI's worker thread sleeps, and it "
                             "was not found among the threads",
                             "");
    } else if (result != CUPTI_SUCCESS) {
        (void)refused(result, sass.failed);
    }
    return thread != GMT_FETCH_THREAD_SLEEPS ? GMT_UNMEASURED_FETCHING
           : result == CUPTI_SUCCESS         ? GMT_MEASURABLE
                                             : GMT_UNMEASURED_REFUSED;
}

bool gmt_instructions_end(const struct gmt_launch_call *call, bool keep,
                          struct gmt_sass_outcome *outcome)
{
    uint64_t section = gmt_section_begin(GMT_SECTION_DISABLE);
    CUptiResult result = gmt_sass_end(&sass, keep, call->launch_seq, call->cls->id, outcome);
    gmt_section_end(section);
    gmt_activity_set_kernels(true);
    gmt_activity_resume_fetching();
    if (result == CUPTI_SUCCESS && keep) {
        *(outcome->instructions != 0 ? &counted : &empty) += 1;
    }
    return result == CUPTI_SUCCESS || refused(result, sass.failed);
}

void gmt_instructions_drop_context(const void *context)
{
    if (sass.api != NULL) {
        gmt_sass_forget(&sass, context);
    }
}

void gmt_instructions_missed(enum gmt_unmeasured why)
{
    atomic_fetch_add(&missed[why], 1);
}

static void note_loss(const char *why, uint64_t number)
{
    if (number != 0) {
        gmt_spool_loss("launch without counts of instructions", why, number);
    }
}

void gmt_instructions_report(void)
{
    bool can = atomic_exchange(&counting, false); /* else a row says why */
    if (config == NULL || config->instructions != GMT_INSTRUCTIONS_ALL) {
        return;
    }
    if (can) {
        char detail[96];
        (void)snprintf(detail, sizeof(detail), "%llu launches", (unsigned long long)counted);
        gmt_spool_capability(CAPABILITY, counted != 0 ? GMT_CAP_OK : GMT_CAP_MISSING, 0,
                             counted != 0 ? detail : "no launch was counted", "");
    }
    for (size_t i = 0; i < GMT_UNMEASURED_COUNT; i++) {
        note_loss(gmt_unmeasured_texts[i].reason, atomic_load(&missed[i]));
    }
    note_loss("CUPTI gave no counts", empty);
}

void gmt_instructions_abandon(void)
{
    atomic_store(&counting, false);
    gmt_cubins_abandon();
}
